import { describe, expect, test } from "vitest";
import { delayMsOf, isSwitchedOff, type Sampling, samplingOf, TRACES_ENDPOINT } from "./variables.ts";

describe("OpenTelemetry's own variables", () => {
  test.each<[string | undefined, string | undefined, Sampling]>([
    [undefined, undefined, { sampler: "always_on", isParentBased: true, ratio: 1 }],
    ["parentbased_always_on", undefined, { sampler: "always_on", isParentBased: true, ratio: 1 }],
    ["always_on", undefined, { sampler: "always_on", isParentBased: false, ratio: 1 }],
    ["always_off", undefined, { sampler: "always_off", isParentBased: false, ratio: 1 }],
    ["parentbased_always_off", undefined, { sampler: "always_off", isParentBased: true, ratio: 1 }],
    ["traceidratio", "0.25", { sampler: "traceidratio", isParentBased: false, ratio: 0.25 }],
    ["parentbased_traceidratio", "0", { sampler: "traceidratio", isParentBased: true, ratio: 0 }],
    ["traceidratio", undefined, { sampler: "traceidratio", isParentBased: false, ratio: 1 }],
    ["traceidratio", " ", { sampler: "traceidratio", isParentBased: false, ratio: 1 }],
    ["traceidratio", "often", { sampler: "traceidratio", isParentBased: false, ratio: 1 }],
    ["traceidratio", "1.5", { sampler: "traceidratio", isParentBased: false, ratio: 1 }],
    ["jaeger_remote", "0.5", { sampler: "always_on", isParentBased: true, ratio: 1 }],
  ])("[OP26] OTEL_TRACES_SAMPLER=%s with %s is read as the specification says", (name, arg, sampling) => {
    expect(samplingOf({ OTEL_TRACES_SAMPLER: name, OTEL_TRACES_SAMPLER_ARG: arg })).toEqual(sampling);
  });

  test.each([
    [undefined, 5_000],
    ["250", 250],
    ["0", 0],
    ["-1", 5_000],
    ["soon", 5_000],
  ])("[OP26] OTEL_BSP_SCHEDULE_DELAY=%s sends spans after %i ms", (delay, ms) => {
    expect(delayMsOf({ OTEL_BSP_SCHEDULE_DELAY: delay })).toBe(ms);
  });

  test.each([
    [{}, false],
    [{ OTEL_SDK_DISABLED: "false" }, false],
    [{ OTEL_TRACES_EXPORTER: "otlp" }, false],
    [{ OTEL_SDK_DISABLED: "TRUE" }, true],
    [{ OTEL_TRACES_EXPORTER: "none" }, true],
  ])("[OP20] the variables %o switch tracing off: %s", (env, isOff) => {
    expect(isSwitchedOff(env)).toBe(isOff);
  });

  test("[OP20] the address of the collector holds no credentials, which would be logged with it", () => {
    expect(TRACES_ENDPOINT.parse("https://collector:4318/")).toBe("https://collector:4318");
    expect(() => TRACES_ENDPOINT.parse("http://robot:hush@collector:4318")).toThrow("neither a user nor a password");
    expect(() => TRACES_ENDPOINT.parse("collector:4317")).toThrow("must be an address");
  });
});

import { baseUrl, type Env, optional } from "@binnacle/process";

/** Both programs read it. The SDK's other variables are read by the SDK, and only where tracing is on. */
export const TRACES_ENDPOINT = optional(
  "OTEL_EXPORTER_OTLP_ENDPOINT",
  baseUrl,
  "OpenTelemetry collector that traces are sent to, as OTLP over HTTP, such as `http://collector:4318`; without it there are none",
);

/** OpenTelemetry's own ways to switch off what is configured. */
export const isSwitchedOff = (env: Env): boolean =>
  env["OTEL_SDK_DISABLED"]?.toLowerCase() === "true" || env["OTEL_TRACES_EXPORTER"] === "none";

const SENT_EVERY_MS = 5_000;

/** How long spans are gathered before they are sent. */
export function delayMsOf({ OTEL_BSP_SCHEDULE_DELAY: delay = "" }: Env): number {
  return /^\d{1,9}$/.test(delay) ? Number(delay) : SENT_EVERY_MS;
}

const SAMPLERS = ["always_on", "always_off", "traceidratio"] as const;

export interface Sampling {
  readonly sampler: (typeof SAMPLERS)[number];
  /** A span with a parent follows the decision of the parent. */
  readonly isParentBased: boolean;
  readonly ratio: number;
}

/** As the specification of OpenTelemetry reads them: an unknown sampler records everything, and an invalid ratio is 1. */
export function samplingOf({ OTEL_TRACES_SAMPLER: name = "", OTEL_TRACES_SAMPLER_ARG: arg = "" }: Env): Sampling {
  const isParentBased = name.startsWith("parentbased_");
  const sampler = SAMPLERS.find((known) => known === name.replace("parentbased_", ""));
  if (!sampler) return { sampler: "always_on", isParentBased: true, ratio: 1 };
  const given = Number(arg);
  return { sampler, isParentBased, ratio: arg.trim() !== "" && given >= 0 && given <= 1 ? given : 1 };
}

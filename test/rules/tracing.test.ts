import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { Ajv } from "ajv";
import addFormats from "ajv-formats";
import { expect, test } from "vitest";
import { HUB_FRAMES, OPERATOR_FRAMES } from "../../packages/contract/src/index.ts";

const run = promisify(execFile);
const at = (path: string) => fileURLToPath(new URL(`../../packages/${path}`, import.meta.url));

/** Loads all of a program and prints which modules of OpenTelemetry came with it, first with tracing off and then with it on. */
const PROGRAM = `
  import { registerHooks } from "node:module";
  const loaded = new Set();
  registerHooks({
    load(url, context, next) {
      const name = /node_modules\\/(@opentelemetry\\/[^/]+)\\//.exec(url)?.[1];
      if (name) loaded.add(name);
      return next(url, context);
    },
  });
  await import(process.argv[1]);
  const { openTracer } = await import("@binnacle/tracing");
  const traceTo = (endpoint) => openTracer({ endpoint, service: "x", version: null, log: { info() {}, warn() {} } });
  await traceTo(null);
  const whenOff = [...loaded];
  await traceTo("http://127.0.0.1:1");
  console.log(JSON.stringify({ whenOff, whenOn: [...loaded] }));
  process.exit(0);
`;

/** The library of the server's metrics loads the interface of OpenTelemetry, without anything behind it. */
test.each([
  ["server/src/control-plane.ts", ["@opentelemetry/api"]],
  ["operator/src/operator.adapter.ts", []],
])("[OP20] %s loads the SDK of OpenTelemetry where tracing is on, and only there", async (program, whenOff) => {
  const { stdout } = await run(process.execPath, ["--input-type=module", "--eval", PROGRAM, at(program)], {
    cwd: at("server"),
  });
  expect(JSON.parse(stdout)).toEqual({ whenOff, whenOn: expect.arrayContaining(["@opentelemetry/sdk-trace"]) });
});

test("[OP25] the frames that carry a trace are valid with and without it, and to a reader that does not know it", () => {
  const ajv = addFormats.default(new Ajv({ strict: true }));
  const id = "01a1e3b8-ae2f-7523-a7ff-0cc959ceda50";
  const named = { id, session: id, key: "app/shop/web", resource_id: id, generation: 1 };
  const traced = { traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01" };
  const frames = [
    [HUB_FRAMES.remove, { type: "remove", kind: "app", ...named }],
    [OPERATOR_FRAMES.status, { type: "status", report: { state: "gone" }, ...named }],
  ] as const;
  for (const [schema, frame] of frames) {
    const { traceparent: _, ...older } = schema.properties;
    for (const properties of [schema.properties, older]) {
      const isValid = ajv.compile({ ...schema, properties });
      expect([isValid(frame), isValid({ ...frame, ...traced })]).toEqual([true, true]);
    }
    expect(ajv.compile(schema)({ ...frame, traceparent: "nonsense" })).toBe(false);
  }
});

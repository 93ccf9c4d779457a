import { CLOSE, LINK_LIMITS, OPERATOR_FRAMES } from "@binnacle/contract";
import { Ajv } from "ajv";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { newId } from "../id.adapter.ts";
import { FRAME_SCHEMAS, readFrame } from "./frame-reader.ts";

const SESSION = newId();
const HASH = "a".repeat(64);
const read = (value: unknown, session: string | null = SESSION) =>
  readFrame(Buffer.from(JSON.stringify(value)), session);
const readText = (text: string, session: string | null = SESSION) => readFrame(Buffer.from(text), session);

const ack = { type: "ack", ref: newId(), session: SESSION, key: "app/shop/web", generation: 3 };
const hello = {
  type: "hello",
  id: newId(),
  versions: [1],
  operator_version: "0.1.0",
  facts: { kubernetes_version: "v1.34", node_count: 1, capacity: { cpu_cores: 1, memory_bytes: 1, pods: 1 } },
  revision: null,
  digest: HASH,
};
const status = (key: string, report: object) => ({
  type: "status",
  id: newId(),
  session: SESSION,
  key,
  resource_id: newId(),
  generation: 1,
  report,
});
const ready = (message: string | null) => status("project/shop", { state: "ready", message });
const running = (fields: object) =>
  status("app/shop/web", {
    phase: "running",
    reason: null,
    message: null,
    components: [],
    drift: { state: "in_sync", summary: null, fields: [], detected_at: null },
    ...fields,
  });

const COMPONENT = {
  name: "web",
  phase: "running",
  reason: null,
  message: null,
  desired: 1,
  ready: 1,
  updated: 1,
  restarts: 0,
  image: null,
  pods: [],
};

const refused = (closeCode: number, why: RegExp) => ({ refusal: { closeCode, why: expect.stringMatching(why) } });

test.each([...FRAME_SCHEMAS])("[HB4] the frame schema of %s is valid JSON Schema", (_, schema) => {
  const ajv = new Ajv();
  expect(ajv.validateSchema(schema), ajv.errorsText()).toBe(true);
});

describe("a frame that is refused", () => {
  test.each([
    ["", /not a JSON object/],
    ["{", /not a JSON object/],
    ["[]", /not a JSON object/],
    ["null", /not a JSON object/],
    ['"hello"', /not a JSON object/],
    ["{}", /type is unknown/],
    ['{"type":7}', /type is unknown/],
    ['{"type":"constructor"}', /type is unknown/],
    ['{"type":"welcome"}', /type is unknown/],
    ['{"type":"ack"}', /ack is malformed/],
  ])("[HB4] the frame %j is refused with 4400", (text, why) => {
    expect(readText(text)).toEqual(refused(CLOSE.protocolError, why));
  });

  test("[HB4] a frame that is too large is refused with 4400, whatever is in it", () => {
    expect(readFrame(Buffer.alloc(LINK_LIMITS.frameBytes + 1, " "), SESSION)).toEqual(
      refused(CLOSE.protocolError, /too large/),
    );
  });

  test("[HB4] a frame of another session, one before hello, and a second hello are refused with 4400", () => {
    expect(read({ ...ack, session: newId() })).toEqual(refused(CLOSE.protocolError, /another session/));
    expect(read(ack, null)).toEqual(refused(CLOSE.protocolError, /before hello/));
    expect(read({ ...hello, session: SESSION })).toEqual(refused(CLOSE.protocolError, /twice/));
  });

  test.each([
    ["a generation below zero", { ...ack, generation: -1 }],
    ["a generation in quotes", { ...ack, generation: "3" }],
    ["a key of no kind", { ...ack, key: "secret/shop/web" }],
    ["a key without end", { ...ack, key: `app/shop/${"x".repeat(300)}` }],
    ["a ref that is not an id", { ...ack, ref: "no id" }],
    ["a ref that no column takes", { ...ack, ref: `urn:uuid:${newId()}` }],
  ])("[HB4] a frame with %s is refused as malformed", (_, frame) => {
    expect(read(frame)).toEqual(refused(CLOSE.protocolError, /malformed/));
  });

  test("[HB4] the reason of a refusal does not repeat the content of the frame", () => {
    const { refusal } = read({ ...running({}), report: { "<b>secret</b>": { x: 1 } } }) as { refusal: { why: string } };
    expect(refusal.why).not.toContain("secret");
  });

  test("[HB5] a hello without the hub's version is refused with 4426, whatever its shape", () => {
    expect(read({ type: "hello", versions: [2, 3], shape: "new" }, null)).toEqual(refused(CLOSE.versionTooOld, /1/));
    expect(read({ ...hello, versions: [2, 1] }, null)).toEqual({ frame: { ...hello, versions: [2, 1] } });
    expect(read({ ...hello, versions: [] }, null)).toEqual(refused(CLOSE.protocolError, /malformed/));
  });

  const UNSAFE = "failed: <script>alert(1)</script>";
  const JWT = `token eyJ${"a".repeat(20)}.${"b".repeat(20)}.${"c".repeat(20)} refused`;
  test.each([
    [
      "nack",
      { type: "nack", ref: newId(), session: SESSION, key: "project/a", generation: 1, code: "unable", message: JWT },
    ],
    ["report", ready(UNSAFE)],
    ["component", running({ components_status: [{ ...COMPONENT, message: UNSAFE }] })],
    ["drift", running({ drift: { state: "drifted", summary: UNSAFE, fields: [], detected_at: null } })],
    [
      "response",
      { type: "response", ref: newId(), session: SESSION, answer: { error: { code: "failed", message: UNSAFE } } },
    ],
    ["stream_end", { type: "stream_end", ref: newId(), session: SESSION, error: JWT }],
    [
      "build",
      {
        type: "build",
        session: SESSION,
        namespace: "shop",
        name: "b",
        source: "kpack",
        state: "failed",
        reason: null,
        message: "postgres://admin:hunter2@db/prod",
        image: null,
        started_at: null,
        finished_at: null,
      },
    ],
  ])("[HB6] a frame whose message contains markup or a secret is refused: %s", (_, frame) => {
    expect(read(frame)).toEqual(refused(CLOSE.protocolError, /must not be shown/));
  });

  test("[HB8] a report of another kind than its key is refused with 4400", () => {
    const frame = status("app/shop/web", { state: "ready", message: null });
    expect(read(frame)).toEqual(refused(CLOSE.protocolError, /status is malformed at \/report/));
  });
});

describe("a frame that is taken", () => {
  test("[HB4] a frame with fields that the hub does not know is accepted", () => {
    expect(read({ ...ack, later: true })).toEqual({ frame: { ...ack, later: true } });
  });

  test("[HB6] a frame may contain log lines with markup", () => {
    const line = {
      component: "web",
      pod: "web-1",
      container: "web",
      time: "2026-01-31T09:30:00.000Z",
      line: "<b>eyJ</b>",
    };
    const frame = { type: "stream_data", ref: newId(), session: SESSION, lines: [line], dropped: 0 };
    expect(read(frame)).toMatchObject({ frame: { type: "stream_data" } });
  });

  test("[HB7] characters in a frame that the database cannot store are replaced", () => {
    const text = JSON.stringify(ready("a\0b \ud800 c"));
    expect(readText(text)).toMatchObject({ frame: { report: { message: "a\ufffdb \ufffd c" } } });
    const exports = status("addon_instance/shop/db", {
      phase: "ready",
      reason: null,
      message: null,
      exports: { "a\0": "b" },
    });
    expect(readText(JSON.stringify(exports))).toMatchObject({ frame: { report: { exports: { "a\ufffd": "b" } } } });
  });

  test("[RQ42] log lines keep their characters as they were sent, so that both sides count the same credit", () => {
    const line = { component: "web", pod: "p", container: "c", time: "2026-01-31T09:30:00.000Z", line: "a\0b" };
    const frame = { type: "stream_data", ref: newId(), session: SESSION, lines: [line], dropped: 0 };
    expect(readText(JSON.stringify(frame))).toEqual({ frame });
  });
});

test("[HB4] no input makes the frame reader throw, and every frame that it accepts is of the session", () => {
  const shaped = fc.record(
    {
      type: fc.constantFrom(...Object.keys(OPERATOR_FRAMES)),
      session: fc.constantFrom(SESSION, newId()),
      key: fc.constantFrom("app/shop/web", "project/shop"),
      generation: fc.integer(),
      report: fc.anything(),
      entries: fc.anything(),
      versions: fc.anything(),
    },
    { requiredKeys: ["type"] },
  );
  const input = fc.oneof(
    fc.string(),
    fc.json(),
    shaped.map((value) => JSON.stringify(value) ?? ""),
  );
  fc.assert(
    fc.property(input, fc.constantFrom(SESSION, null), (text, session) => {
      const result = readText(text, session);
      if ("frame" in result && result.frame.type !== "hello") expect(result.frame.session).toBe(SESSION);
    }),
    { numRuns: 2_000 },
  );
});

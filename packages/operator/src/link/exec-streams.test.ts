import { randomUUID } from "node:crypto";
import { EXEC_LIMITS, type ExecStream, LINK_LIMITS } from "@binnacle/contract";
import * as fc from "fast-check";
import { describe, expect, test, vi } from "vitest";
import type { ExecOutput } from "../kube/exec.ts";
import { createExecStreams } from "./exec-streams.ts";
import type { OutgoingFrame } from "./frames.ts";
import { ExecRefusal, type ExecTarget } from "./ports.ts";

const STREAM: ExecStream = {
  name: "exec",
  namespace: "shop",
  app: "store",
  component: "web",
  pod: null,
  container: null,
  command: ["sh"],
  tty: true,
  size: { cols: 80, rows: 24 },
};

/** The streams of a session whose commands do what a test says. */
function setUp(find?: () => Promise<ExecTarget>) {
  const outputs: ExecOutput[] = [];
  const taken: (() => void)[] = [];
  const process = {
    write: vi.fn((_data: Buffer, onTaken: () => void) => void taken.push(onTaken)),
    endInput: vi.fn(),
    resize: vi.fn(),
    pause: vi.fn(),
    resume: vi.fn(),
    cancel: vi.fn(),
  };
  const start = vi.fn((output: ExecOutput) => {
    outputs.push(output);
    return process;
  });
  const urgent: OutgoingFrame[] = [];
  const onFailure = vi.fn();
  const streams = createExecStreams({
    answerer: { exec: find ?? (async () => ({ pod: "web-0", container: "web", start })) },
    onDue: vi.fn(),
    onFailure,
    urgent: (frame) => void urgent.push(frame),
  });
  const sent = () => {
    const frames: OutgoingFrame[] = [];
    for (let frame = streams.next(); frame; frame = streams.next()) frames.push(frame);
    return frames;
  };
  async function open(id: string = randomUUID()) {
    streams.open({ id, stream: STREAM, credit_bytes: 0 });
    await new Promise(setImmediate);
    return id;
  }
  const input = (ref: string, fields: object) =>
    streams.input({ type: "stream_input", ref, session: randomUUID(), ...fields });
  return { streams, process, start, outputs, taken, urgent, onFailure, sent, open, input };
}

describe("a command", () => {
  test("[EX14] a command tells the hub where it will run, and starts with the first credit", async () => {
    const { streams, start, sent, open } = setUp();
    const ref = await open();
    expect(sent()).toEqual([
      { type: "stream_target", ref, pod: "web-0", container: "web", credit_bytes: LINK_LIMITS.streamCreditBytes },
    ]);
    expect(start).not.toHaveBeenCalled();
    streams.credit({ ref, credit_bytes: 10 });
    streams.credit({ ref, credit_bytes: 10 });
    expect(start).toHaveBeenCalledTimes(1);
  });

  test("[EX14] a command that is cancelled before its start does not start, and one that is cancelled later is ended", async () => {
    const before = setUp();
    const early = await before.open();
    before.streams.cancel({ ref: early });
    before.streams.credit({ ref: early, credit_bytes: 10 });
    expect([before.start.mock.calls, before.sent()]).toEqual([[], []]);
    const after = setUp();
    const ref = await after.open();
    after.streams.credit({ ref, credit_bytes: 10 });
    after.streams.cancelAll();
    expect(after.process.cancel).toHaveBeenCalledTimes(1);
    after.outputs[0]?.output("stdout", Buffer.from("late"));
    expect(after.sent()).toEqual([]);
  });

  test("[EX14] a refused command says why, and an internal error reveals no detail", async () => {
    const refused = setUp(() => Promise.reject(new ExecRefusal("not_running", "No pod runs.")));
    const ref = await refused.open();
    expect(refused.sent()).toEqual([{ type: "stream_end", ref, error: "No pod runs.", code: "not_running" }]);
    const broken = setUp(() => Promise.reject(new Error("secret detail")));
    await broken.open();
    expect(JSON.stringify(broken.sent())).not.toContain("secret");
    expect(broken.onFailure).toHaveBeenCalledTimes(1);
  });

  test("[EX10] a command beyond the cluster's limit is refused at once", async () => {
    const { open, urgent, sent } = setUp();
    for (let count = 0; count < EXEC_LIMITS.perCluster; count += 1) await open();
    sent();
    const ref = await open();
    expect(urgent).toMatchObject([{ type: "stream_end", ref, code: "too_many" }]);
  });

  test("[EX15] input beyond its credit ends a command, and credit is given when the cluster has taken the input", async () => {
    const { streams, process, taken, sent, open, input } = setUp();
    const ref = await open();
    streams.credit({ ref, credit_bytes: 1 });
    sent();
    const data = Buffer.alloc(EXEC_LIMITS.frameBytes).toString("base64");
    input(ref, { data });
    input(ref, { data });
    expect(sent()).toEqual([]);
    taken[0]?.();
    expect(sent()).toEqual([{ type: "stream_credit", ref, credit_bytes: EXEC_LIMITS.frameBytes }]);
    input(ref, { data });
    expect(process.cancel).not.toHaveBeenCalled();
    input(ref, { data });
    expect(process.cancel).toHaveBeenCalledTimes(1);
    expect(sent()).toMatchObject([{ type: "stream_end", code: "failed" }]);
  });

  test("[EX15] a command passes terminal sizes and the end of the input on", async () => {
    const { streams, process, open, input } = setUp();
    const ref = await open();
    input(ref, { size: { cols: 1, rows: 1 } });
    streams.credit({ ref, credit_bytes: 1 });
    input(ref, { size: { cols: 100, rows: 30 } });
    input(ref, { end: true });
    expect(process.resize.mock.calls).toEqual([[{ cols: 100, rows: 30 }]]);
    expect(process.endInput).toHaveBeenCalledTimes(1);
  });

  test("[EX15] several commands take turns in sending their output", async () => {
    const { streams, outputs, sent, open } = setUp();
    const refs: string[] = [await open(), await open()];
    for (const ref of refs) streams.credit({ ref, credit_bytes: 200_000 });
    sent();
    for (const output of outputs) output.output("stdout", Buffer.alloc(100_000));
    const order = sent().map((frame) => ("ref" in frame ? refs.indexOf(frame.ref) : -1));
    expect(order).toEqual([0, 1, 0, 1, 0, 1, 0, 1]);
  });

  test("[EX15] a command sends exactly what was written, never more than its credit, and then its end", async () => {
    const chunk = fc.record({
      channel: fc.constantFrom("stdout" as const, "stderr" as const),
      data: fc.uint8Array({ minLength: 1, maxLength: 5_000 }),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(chunk, { maxLength: 20 }),
        fc.array(fc.integer({ min: 1, max: 20_000 }), { minLength: 1, maxLength: 20 }),
        async (chunks, credits) => {
          const { streams, outputs, sent, open } = setUp();
          const ref = await open();
          let credit = credits[0] ?? 1;
          streams.credit({ ref, credit_bytes: credit });
          sent();
          for (const { channel, data } of chunks) outputs[0]?.output(channel, Buffer.from(data));
          outputs[0]?.ended({ exitCode: 7 });
          const got = { stdout: Buffer.alloc(0), stderr: Buffer.alloc(0) };
          const frames: OutgoingFrame[] = [];
          for (const more of [0, ...credits.slice(1), 1_000_000]) {
            if (more > 0) streams.credit({ ref, credit_bytes: more });
            credit += more > 0 ? more : 0;
            for (const frame of sent()) {
              frames.push(frame);
              if (frame.type !== "stream_output") continue;
              const bytes = Buffer.from(frame.data, "base64");
              got[frame.channel] = Buffer.concat([got[frame.channel], bytes]);
              credit -= bytes.length;
              expect(bytes.length).toBeLessThanOrEqual(EXEC_LIMITS.frameBytes);
              expect(credit).toBeGreaterThanOrEqual(0);
            }
          }
          for (const channel of ["stdout", "stderr"] as const) {
            const written = chunks.filter((one) => one.channel === channel).map(({ data }) => Buffer.from(data));
            expect(got[channel].equals(Buffer.concat(written))).toBe(true);
          }
          expect(frames.at(-1)).toEqual({ type: "stream_end", ref, error: null, exit_code: 7 });
          expect(frames.filter(({ type }) => type === "stream_end")).toHaveLength(1);
        },
      ),
      { numRuns: 50 },
    );
  });

  test("[EX15] a command pauses the container's side while its output waits", async () => {
    const { streams, process, outputs, sent, open } = setUp();
    const ref = await open();
    streams.credit({ ref, credit_bytes: 1 });
    outputs[0]?.output("stdout", Buffer.alloc(64 * 1024 + 1));
    sent();
    expect([process.pause.mock.calls.length, process.resume.mock.calls.length]).toEqual([1, 0]);
    streams.credit({ ref, credit_bytes: 1_000 });
    sent();
    expect([process.pause.mock.calls.length, process.resume.mock.calls.length]).toEqual([1, 1]);
  });
});

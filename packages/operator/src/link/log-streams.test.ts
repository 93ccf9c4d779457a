import { randomUUID } from "node:crypto";
import { creditOf, type LogLine } from "@binnacle/contract";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { realClock } from "../kube/real-clock.adapter.ts";
import type { OutgoingFrameOf } from "./frames.ts";
import { createLineBuffer } from "./line-buffer.ts";
import { openLogStream } from "./log-streams.ts";
import { AnswerError, type DroppedLines } from "./ports.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const lineOf = (text: string): LogLine => ({
  component: "web",
  pod: "web-0",
  container: "web",
  time: "2026-01-31T09:30:00.000Z",
  line: text,
});
const LONG = "x".repeat(1_000);
const LONG_BYTES = creditOf([lineOf(LONG)]);

/** A pod's output that a test writes to. */
function source() {
  const items: (LogLine | DroppedLines)[] = [];
  let isOver = false;
  let failure: Error | null = null;
  let wake = () => {};
  let signal: AbortSignal | null = null;
  return {
    write(...more: (LogLine | DroppedLines)[]) {
      items.push(...more);
      wake();
    },
    end(error: Error | null = null) {
      isOver = true;
      failure = error;
      wake();
    },
    get unread() {
      return items.length;
    },
    get isAborted() {
      return signal?.aborted ?? false;
    },
    async *lines(given: AbortSignal) {
      signal = given;
      given.addEventListener("abort", () => wake());
      while (!given.aborted) {
        const item = items.shift();
        if (item) yield item;
        else if (failure) throw failure;
        else if (isOver) return;
        else await new Promise<void>((resolve) => (wake = resolve));
      }
    },
  };
}

function opened({ creditBytes = 65_536, isFollowing = true } = {}) {
  const pod = source();
  const sent: OutgoingFrameOf<"stream_data" | "stream_end">[] = [];
  const ref = randomUUID();
  const onFailure = vi.fn();
  const stream = openLogStream({
    ref,
    creditBytes,
    isFollowing,
    lines: (signal) => pod.lines(signal),
    clock: realClock,
    onFailure,
    onDue() {
      for (let frame = stream?.next(); frame; frame = stream.next()) sent.push(frame as (typeof sent)[number]);
    },
  });
  const data = () => sent.filter((frame) => frame.type === "stream_data");
  const applySettings = (ms = 25) => vi.advanceTimersByTimeAsync(ms);
  return { pod, stream, sent, data, applySettings, ref, onFailure };
}

describe("a log stream", () => {
  test("[OL35] a log stream sends lines that come together in one frame, and ends after the last line", async () => {
    const { pod, sent, applySettings, ref } = opened();
    pod.write(lineOf("one"), lineOf("two"));
    await applySettings();
    pod.write(lineOf("three"));
    pod.end();
    await applySettings();
    expect(sent).toEqual([
      { type: "stream_data", ref, lines: [lineOf("one"), lineOf("two")], dropped: 0 },
      { type: "stream_data", ref, lines: [lineOf("three")], dropped: 0 },
      { type: "stream_end", ref, error: null },
    ]);
  });

  test("[TE1] a log stream says at once and without credit that it has begun, though no line may come", async () => {
    const { pod, sent, applySettings, ref } = opened({ creditBytes: 0 });
    pod.write({ dropped: 0 });
    await applySettings(0);
    expect(sent).toEqual([{ type: "stream_data", ref, lines: [], dropped: 0 }]);
    pod.end();
    await applySettings(0);
    expect(sent.at(-1)).toEqual({ type: "stream_end", ref, error: null });
  });

  test("[OL35] a log stream sends no more than its credit, and goes on when there is more credit", async () => {
    const { pod, stream, data, applySettings } = opened({ creditBytes: creditOf(Array(3).fill(lineOf(LONG))) });
    pod.write(...Array.from({ length: 10 }, () => lineOf(LONG)));
    await applySettings();
    expect(data().flatMap(({ lines }) => lines)).toHaveLength(3);
    stream.credit(creditOf(Array(2).fill(lineOf(LONG))));
    await applySettings();
    expect(data().flatMap(({ lines }) => lines)).toHaveLength(5);
  });

  test("[OL35] a log stream sends a line that is larger than its credit, and then waits until that is paid", async () => {
    const { pod, stream, data, applySettings } = opened({ creditBytes: 10 });
    pod.write(lineOf(LONG), lineOf("short"));
    await applySettings();
    expect(data()).toHaveLength(1);
    stream.credit(LONG_BYTES - 20);
    await applySettings();
    expect(data()).toHaveLength(1);
    stream.credit(11);
    await applySettings();
    expect(data()).toHaveLength(2);
  });

  test("[OL35] a log stream marks where lines were lost before they reached it", async () => {
    const { pod, data, applySettings } = opened();
    pod.write(lineOf("one"), { dropped: 2 }, { dropped: 3 }, lineOf("two"), { dropped: 4 });
    await applySettings();
    pod.end();
    await applySettings();
    expect(data().map(({ lines, dropped }) => [dropped, ...lines.map(({ line }) => line)])).toEqual([
      [0, "one"],
      [5, "two"],
      [4],
    ]);
  });

  test("[OL35] a log stream answers at once with an empty frame, though no line may come for long", async () => {
    const { pod, sent, applySettings, ref } = opened();
    pod.write({ dropped: 0 });
    await applySettings();
    expect(sent).toEqual([{ type: "stream_data", ref, lines: [], dropped: 0 }]);
  });

  test("[OL35] a log stream says why it ends, in words for people", async () => {
    const known = opened();
    known.pod.end(new AnswerError("not_found", "There is no component <web>."));
    await known.applySettings();
    expect(known.sent).toEqual([{ type: "stream_end", ref: known.ref, error: "There is no component ‹web>." }]);
    const unknown = opened();
    unknown.pod.end(new Error("hush"));
    await unknown.applySettings();
    expect(unknown.sent).toEqual([{ type: "stream_end", ref: unknown.ref, error: "The logs could not be read." }]);
    expect(unknown.onFailure).toHaveBeenCalledOnce();
  });

  test("[OL36] a log stream waits five seconds for a reader, then drops the oldest lines and says how many", async () => {
    const { pod, stream, data, applySettings } = opened({ creditBytes: 0 });
    pod.write(...Array.from({ length: 400 }, (_, i) => lineOf(`${i} ${LONG}`)));
    await applySettings(4_900);
    expect(pod.unread).toBeGreaterThan(0);
    await applySettings(200);
    expect(pod.unread).toBe(0);
    expect(data()).toEqual([]);
    stream.credit(10_000_000);
    await applySettings();
    const numbers = data().flatMap(({ lines }) => lines.map(({ line }) => Number.parseInt(line, 10)));
    expect(data()[0]?.dropped).toBe(numbers[0]);
    expect(numbers.length + (data()[0]?.dropped ?? 0)).toBe(400);
    expect(numbers.at(-1)).toBe(399);
  });

  test("[OL36] a log stream that does not follow loses no lines", async () => {
    const { pod, stream, data, applySettings } = opened({ creditBytes: 0, isFollowing: false });
    pod.write(...Array.from({ length: 400 }, () => lineOf(LONG)));
    pod.end();
    await applySettings(60_000);
    expect(pod.unread).toBeGreaterThan(0);
    stream.credit(10_000_000);
    await applySettings();
    expect(data().flatMap(({ lines }) => lines)).toHaveLength(400);
    expect(data().every(({ dropped }) => dropped === 0)).toBe(true);
  });

  test("[OL37] a cancelled log stream stops reading and sends nothing more", async () => {
    const { pod, stream, sent, applySettings } = opened({ creditBytes: 0 });
    pod.write(...Array.from({ length: 400 }, () => lineOf(LONG)));
    await applySettings(100);
    stream.cancel();
    stream.credit(10_000_000);
    await applySettings(10_000);
    expect(pod.isAborted).toBe(true);
    expect(sent).toEqual([]);
  });
});

test("[OL36] every line of a log stream is either sent or counted as lost, in its order", () => {
  const step = fc.oneof(
    fc.record({ do: fc.constant("add" as const), size: fc.nat(5_000) }),
    fc.record({ do: fc.constant("take" as const), credit: fc.nat(50_000) }),
    fc.record({ do: fc.constant("drop" as const), to: fc.nat(10_000) }),
    fc.record({ do: fc.constant("lost" as const), count: fc.integer({ min: 1, max: 9 }) }),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
      const buffer = createLineBuffer();
      let added = 0;
      let next = 0;
      const accept = (batch: ReturnType<typeof buffer.take>) => {
        if (!batch) return;
        next += batch.dropped;
        for (const { line } of batch.lines) expect(Number.parseInt(line, 10)).toBe(next++);
      };
      for (const taken of steps) {
        if (taken.do === "add") buffer.add(lineOf(`${added++} ${"x".repeat(taken.size)}`));
        if (taken.do === "take") accept(buffer.take(taken.credit));
        if (taken.do === "drop") buffer.dropDownTo(taken.to);
        if (taken.do === "lost") {
          buffer.add({ dropped: taken.count });
          added += taken.count;
        }
      }
      while (buffer.bytes > 0) accept(buffer.take(Number.MAX_SAFE_INTEGER));
      accept(buffer.takeRest());
      expect(next).toBe(added);
    }),
  );
});

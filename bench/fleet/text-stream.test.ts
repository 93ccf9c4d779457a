import { expect, test, vi } from "vitest";
import type { Sink } from "../../packages/sandbox/src/api/http/message.ts";
import { TextStream } from "./messages.ts";

function opened(signal: AbortSignal | null = null) {
  const stop = vi.fn();
  let sink: Sink = { write: () => undefined, end: () => undefined };
  const stream = new TextStream((given) => {
    sink = given;
    return stop;
  }, signal);
  return { stop, sink: () => sink, chunks: stream[Symbol.asyncIterator]() };
}

const textOf = (step: IteratorResult<Uint8Array>) => (step.done ? null : Buffer.from(step.value).toString());

test("[FL4] chunks that were written before and during reading are read in order, up to the end", async () => {
  const { sink, stop, chunks } = opened();
  sink().write("a");
  sink().write("b");
  expect(textOf(await chunks.next())).toBe("ab");
  const waiting = chunks.next();
  sink().write("c");
  expect(textOf(await waiting)).toBe("c");
  sink().write("d");
  sink().end();
  expect(textOf(await chunks.next())).toBe("d");
  expect(textOf(await chunks.next())).toBeNull();
  expect(stop).toHaveBeenCalled();
});

test("[FL4] a reader of a stream who leaves stops its writer", async () => {
  const { sink, stop, chunks } = opened();
  sink().write("a");
  await chunks.next();
  await chunks.return(undefined);
  expect(stop).toHaveBeenCalled();
});

test("[FL4] a signal breaks off a waiting reader of a stream, and stops the writer though nobody reads", async () => {
  const ending = new AbortController();
  const { stop, chunks } = opened(ending.signal);
  const waiting = chunks.next();
  ending.abort(new Error("enough"));
  await expect(waiting).rejects.toThrow("enough");
  expect(stop).toHaveBeenCalled();
  const unread = new AbortController();
  const other = opened(unread.signal);
  unread.abort();
  expect(other.stop).toHaveBeenCalled();
});

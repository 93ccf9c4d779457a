import { abortable, type Clock, linked, sleep } from "./clock.ts";
import { BinnacleError, RateLimited, ServerFault, TimedOut, UnexpectedAnswer, Unreachable } from "./errors.ts";
import type { Event, Operations } from "./generated/types.ts";
import { LogCursor, type LogLine } from "./log-cursor.ts";
import type { Described, Input, StreamName } from "./operation.ts";
import { backoff } from "./retry.ts";
import { FrameReader } from "./sse.ts";
import { parsed } from "./transport.ts";

type LogStreamName = "streamAppLogs" | "streamComponentLogs" | "streamRunLogs";

/** The data of a stream's events. */
export type StreamData<N extends StreamName> = N extends LogStreamName
  ? LogLine
  : N extends "streamEvents"
    ? Event
    : Operations[N]["item"];

export type StreamItem<N extends StreamName> =
  /** The stream is open: from here on it misses nothing. The moment to read what there is already. */
  | { readonly type: "open" }
  /** Something may have been missed: read again what you show. The stream is open and goes on. */
  | { readonly type: "gap"; readonly reason: "reconnected" | "dropped"; readonly count: number | null }
  | { readonly type: "event"; readonly event: string; readonly data: StreamData<N> };

export interface FollowOptions {
  readonly signal?: AbortSignal | undefined;
  /** How long to try to open it again once it has broken off; without end unless given. */
  readonly reconnectForMs?: number | undefined;
  /** Called when the stream has broken off, before it is opened again. */
  readonly onDisconnect?: (() => void) | undefined;
  /** Called when it is open again, also where it has missed nothing and nothing comes for a while. */
  readonly onReconnect?: (() => void) | undefined;
}

export interface FollowPorts {
  readonly clock: Clock;
  /** Sends the request; further attempts belong to whoever follows, except for the first time. */
  open(input: object, headers: Record<string, string>, signal: AbortSignal, isFirst: boolean): Promise<Response>;
}

type Connection = ReturnType<typeof linked>;

const FIRST_DELAY_MS = 500;
const MOST_DELAY_MS = 30_000;
/** The server sends a comment every 15 seconds. A connection without one is dead, and nothing is missed if it was not. */
const SILENCE_MS = 25_000;
const LOG_STREAMS: ReadonlySet<string> = new Set<LogStreamName>([
  "streamAppLogs",
  "streamComponentLogs",
  "streamRunLogs",
]);

/** How a connection ended: with the API's word that there is no more, or without it. `isFinal`: there never will be more. */
type End = { readonly isComplete: boolean; readonly isFinal: boolean; readonly error: BinnacleError };

/**
 * Follows a stream for as long as its reader wants. It reads from the connection only when the reader asks for more: who is
 * slow makes the server wait, and at last be cut off by it, but does not gather anything here.
 */
export async function* follow<N extends StreamName>(
  ports: FollowPorts,
  operation: Described,
  input: Input<N>,
  options: FollowOptions,
): AsyncGenerator<StreamItem<N>, void, undefined> {
  const { clock } = ports;
  const { controller, unlink } = linked(options.signal);
  const { signal } = controller;
  const isLog = operation.path.includes("/logs");
  const isFollowed = !isLog || (input as { follow?: boolean }).follow !== false;
  const isEvents = operation.name === "streamEvents";
  const cursor = LOG_STREAMS.has(operation.name) ? new LogCursor(clock.now()) : null;
  const asked = isEvents ? { resumable: true, ...input } : input;
  let lastId: string | null = null;
  let failures = 0;
  let downSince = clock.now();
  let wasComplete = false;

  try {
    for (let isFirst = true; ; isFirst = false) {
      const resumed = isFirst || !cursor ? asked : { ...asked, ...cursor.resume(clock.now()) };
      const connection = linked(signal);
      let response: Response;
      try {
        const headers: Record<string, string> = lastId ? { "last-event-id": lastId } : {};
        response = await ports.open(resumed, headers, connection.controller.signal, isFirst);
      } catch (error) {
        connection.unlink();
        const limit = options.reconnectForMs ?? Number.POSITIVE_INFINITY;
        if (isFirst || !passes(error) || clock.now() - downSince >= limit) throw error;
        await sleep(clock, reconnectDelay(++failures, error, clock.random()), signal);
        continue;
      }
      if (isFirst) yield { type: "open" };
      else options.onReconnect?.();
      // A stream that gives ids brings what was missed after the last of them by itself.
      let owesGap = !isFirst && lastId === null;
      // Output that has ended is asked for once more, since a token that expires ends it in the same way.
      if (owesGap && !wasComplete) {
        yield { type: "gap", reason: "reconnected", count: null };
        owesGap = false;
      }
      const openedAt = clock.now();
      let items = 0;
      let end: End = { isComplete: false, isFinal: false, error: brokeOff(operation) };
      const frames = new FrameReader();
      for await (const { event, data: text } of framesOf(operation, response, connection, clock, frames)) {
        const data = parsed(text);
        if (isEvents && event === "reset") {
          yield { type: "gap", reason: "reconnected", count: null };
          continue;
        }
        if (isLog && event === "end") {
          end = endOf(operation, data);
          break;
        }
        if (isLog && event === "dropped") {
          const { count } = (data ?? {}) as { count?: unknown };
          yield { type: "gap", reason: "dropped", count: typeof count === "number" ? count : null };
          continue;
        }
        if (data === undefined || (cursor && !cursor.take(data as LogLine, clock.now()))) continue;
        items++;
        failures = 0;
        if (owesGap) yield { type: "gap", reason: "reconnected", count: null };
        owesGap = false;
        yield { type: "event", event, data: data as StreamData<N> };
      }
      // Also of frames without data, which move a quiet stream on.
      lastId = frames.lastEventId ?? lastId;
      if (end.isFinal) return;
      if (end.isComplete && (!isFollowed || (wasComplete && items === 0))) return;
      if (!isFollowed) throw end.error;
      wasComplete = end.isComplete;
      downSince = clock.now();
      options.onDisconnect?.();
      // A server that takes connections and drops them at once is asked less and less often.
      if (downSince - openedAt >= SILENCE_MS) failures = 0;
      await sleep(clock, reconnectDelay(++failures, null, clock.random()), signal);
    }
  } catch (error) {
    // Whoever has ended it knows that, and what has come is whole.
    if (!options.signal?.aborted) throw error;
  } finally {
    unlink();
    controller.abort();
  }
}

async function* framesOf(
  operation: Described,
  response: Response,
  connection: Connection,
  clock: Clock,
  frames: FrameReader,
) {
  const { controller, unlink } = connection;
  const reader = response.body?.getReader();
  const decoder = new TextDecoder();
  try {
    while (reader) {
      const step = await inTime(reader.read(), clock, controller.signal);
      if (!step || step.done) return;
      yield* frames.push(decoder.decode(step.value, { stream: true }));
    }
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new UnexpectedAnswer(error.message, { operation: operation.name });
  } finally {
    // On a dead connection the cancellation may never finish, so nobody waits for it.
    reader?.cancel().catch(() => undefined);
    controller.abort();
    unlink();
  }
}

/** The next bytes; null where the connection broke off or has been silent for too long. */
async function inTime<T>(reading: Promise<T>, clock: Clock, signal: AbortSignal): Promise<T | null> {
  const silence = new AbortController();
  const cancel = clock.after(SILENCE_MS, () => silence.abort());
  try {
    return await abortable(abortable(reading, silence.signal), signal);
  } catch {
    signal.throwIfAborted();
    return null;
  } finally {
    cancel();
  }
}

function endOf(operation: Described, data: unknown): End {
  const { error, status } = (data ?? {}) as { error?: unknown; status?: unknown };
  // Only the log of a job ends with a status, and never because of its reader.
  if (typeof error !== "string") return { isComplete: true, isFinal: status !== undefined, error: brokeOff(operation) };
  return { isComplete: false, isFinal: false, error: new ServerFault(error, { operation: operation.name }) };
}

const brokeOff = ({ name }: Described) => new Unreachable("The stream broke off before its end.", { operation: name });

/** Whether a stream that was open once may be opened again later. */
function passes(error: unknown): boolean {
  if (error instanceof ServerFault) return error.status !== 500;
  if (error instanceof UnexpectedAnswer) return false;
  return error instanceof Unreachable || error instanceof TimedOut || error instanceof RateLimited;
}

function reconnectDelay(failures: number, error: unknown, random: number): number {
  const asked = error instanceof BinnacleError ? (error.retryAfterSeconds ?? 0) * 1000 : 0;
  return Math.max(asked, backoff(failures, FIRST_DELAY_MS, MOST_DELAY_MS, random));
}

import { EXEC_LIMITS, type TerminalSize } from "@binnacle/contract";
import type { WebSocket } from "ws";
import type { ExecEnd, ExecListener, ExecProcess } from "../hub/operator-requests.ts";
import { closingOf, type ExecReason, readClientFrame, serverFrame } from "./exec.ts";

export type ExecTimes = Pick<typeof EXEC_LIMITS, "idleMs" | "longestMs" | "pingMs">;

type OutputChannel = Parameters<ExecListener["output"]>[0];

/** So many pieces of output wait before they are joined: joining each of them would copy the same bytes over and over. */
const MOST_PIECES = 64;

export interface ExecOutcome {
  readonly reason: ExecReason;
  readonly exitCode: number | null;
  readonly bytesIn: number;
  readonly bytesOut: number;
  readonly durationMs: number;
}

export interface ExecSession {
  end(reason: ExecReason): void;
  readonly done: Promise<ExecOutcome>;
}

/**
 * Starts the command and carries bytes between it and the client. Each side is read only as fast as the other one takes: output is
 * credited once the network has it, and the client is not read while its input waits.
 */
export function startExecSession(
  socket: WebSocket,
  process: ExecProcess,
  times: Readonly<Record<keyof ExecTimes, number>> = EXEC_LIMITS,
): ExecSession {
  const startedAtMs = performance.now();
  const done = Promise.withResolvers<ExecOutcome>();
  const waiting: Buffer[] = [];
  let room = process.inputBytes;
  let [bytesIn, bytesOut] = [0, 0];
  let isEnded = false;
  let isInputEnded = false;
  let isEndPassedOn = false;
  let isAlive = true;
  let size: TerminalSize | null = null;
  let isScheduled = false;
  const unsent = new Map<OutputChannel, Buffer[]>();
  let isSending = false;

  function end(reason: ExecReason, exitCode: number | null = null, message?: string): void {
    if (isEnded) return;
    isEnded = true;
    clearTimeout(idle);
    clearTimeout(longest);
    clearInterval(pinging);
    process.cancel();
    waiting.length = 0;
    unsent.clear();
    // Without this the answer to the close frame would never be read.
    socket.resume();
    const closing = closingOf(reason, message);
    if (closing) socket.close(...closing);
    else socket.terminate();
    done.resolve({ reason, exitCode, bytesIn, bytesOut, durationMs: performance.now() - startedAtMs });
  }

  function finish(ended: ExecEnd): void {
    if (isEnded) return;
    while (unsent.size > 0) socket.send(nextOutput());
    const result = "exitCode" in ended ? { exit_code: ended.exitCode } : { error: ended.message };
    socket.send(serverFrame("exit", Buffer.from(JSON.stringify(result))));
    if ("exitCode" in ended) end("exited", ended.exitCode);
    else if (ended.failed === "lost") end("operator_lost");
    else end("failed", null, ended.message);
  }

  function receive(data: Buffer, isBinary: boolean): void {
    if (isEnded) return;
    isAlive = true;
    const frame = readClientFrame(data, isBinary);
    if ("problem" in frame) {
      end("protocol_error", null, frame.problem);
      return;
    }
    idle.refresh();
    if ("size" in frame) size = frame.size;
    else if ("end" in frame) isInputEnded = true;
    else if (!isInputEnded) waiting.push(frame.input);
    schedule();
  }

  /** Frames that arrive together are passed on together, so that many small ones do not become as many messages to the operator. */
  function schedule(): void {
    if (isScheduled) return;
    isScheduled = true;
    setImmediate(() => {
      isScheduled = false;
      if (!isEnded) passOn();
    });
  }

  function passOn(): void {
    if (size) process.resize(size);
    size = null;
    let next = Buffer.concat(waiting.splice(0));
    while (next.length > 0 && room > 0) {
      const part = next.subarray(0, Math.min(room, EXEC_LIMITS.frameBytes));
      process.write(part);
      room -= part.length;
      bytesIn += part.length;
      next = next.subarray(part.length);
    }
    if (next.length > 0) {
      waiting.push(next);
      socket.pause();
    } else {
      socket.resume();
      if (isInputEnded && !isEndPassedOn) {
        isEndPassedOn = true;
        process.endInput();
      }
    }
  }

  /** Pieces that wait for a slow client are joined, so that they take no more memory than they have bytes. */
  function output(channel: OutputChannel, data: Buffer): void {
    if (isEnded) return;
    bytesOut += data.length;
    const pieces = unsent.get(channel) ?? [];
    pieces.push(data);
    unsent.set(channel, pieces.length < MOST_PIECES ? pieces : [Buffer.concat(pieces)]);
    sendOutput();
  }

  function sendOutput(): void {
    if (isSending || unsent.size === 0) return;
    isSending = true;
    const frame = nextOutput();
    socket.send(frame, (error) => {
      isSending = false;
      if (error || isEnded) return;
      idle.refresh();
      process.credit(frame.length - 1);
      sendOutput();
    });
  }

  /** Of the channel whose output waits longest, as much as a frame holds. */
  function nextOutput(): Buffer {
    const [[channel, pieces] = ["stdout", []] as const] = unsent;
    const data = Buffer.concat(pieces);
    unsent.delete(channel);
    if (data.length > EXEC_LIMITS.frameBytes) unsent.set(channel, [data.subarray(EXEC_LIMITS.frameBytes)]);
    return serverFrame(channel, data.subarray(0, EXEC_LIMITS.frameBytes));
  }

  function ping(): void {
    // The answer of a client whose input waits cannot be read.
    if (isAlive || socket.isPaused) {
      isAlive = false;
      socket.ping();
    } else end("client_lost");
  }

  const idle = setTimeout(() => end("idle"), times.idleMs);
  const longest = setTimeout(() => end("too_long"), times.longestMs);
  const pinging = setInterval(ping, times.pingMs);

  socket.on("message", (data: Buffer, isBinary: boolean) => receive(data, isBinary));
  socket.on("pong", () => {
    isAlive = true;
  });
  // The library has sent the close frame.
  socket.on("error", () => end("protocol_error"));
  socket.on("close", () => end("client_closed"));

  process.start({
    output,
    taken(bytes) {
      if (isEnded) return;
      room += bytes;
      passOn();
    },
    ended: finish,
  });
  return { end: (reason) => end(reason), done: done.promise };
}

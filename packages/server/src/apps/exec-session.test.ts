import { EventEmitter } from "node:events";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { WebSocket } from "ws";
import type { ExecListener, ExecProcess } from "../hub/operator-requests.ts";
import { startExecSession } from "./exec-session.runner.ts";

const TIMES = { idleMs: 1_000, longestMs: 10_000, pingMs: 100 };

class FakeSocket extends EventEmitter {
  isPaused = false;
  answers = true;
  closed: unknown = null;
  readonly sent: Buffer[] = [];
  /** Called when the network has taken what was sent. */
  readonly flushed: (() => void)[] = [];
  send(data: Buffer, onSent?: () => void): void {
    this.sent.push(data);
    if (onSent) this.flushed.push(onSent);
  }
  ping(): void {
    if (this.answers) this.emit("pong");
  }
  pause(): void {
    this.isPaused = true;
  }
  resume(): void {
    this.isPaused = false;
  }
  close(...closing: unknown[]): void {
    this.closed = closing;
  }
  terminate(): void {
    this.closed = "terminated";
  }
  input(text: string): void {
    this.emit("message", Buffer.from(`\0${text}`), true);
  }
}

function setUp(inputBytes = 10) {
  const socket = new FakeSocket();
  let listener: ExecListener | null = null;
  const process = {
    pod: "web-0",
    container: "web",
    inputBytes,
    start: (given: ExecListener) => {
      listener = given;
    },
    write: vi.fn(),
    endInput: vi.fn(),
    resize: vi.fn(),
    credit: vi.fn(),
    cancel: vi.fn(),
  } satisfies ExecProcess;
  const session = startExecSession(socket as unknown as WebSocket, process, TIMES);
  return { socket, process, session, command: listener as unknown as ExecListener };
}

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test("[EX7] the output of a command is credited when the network has taken it", () => {
  const { socket, process, command } = setUp();
  command.output("stdout", Buffer.from("hello"));
  expect(process.credit).not.toHaveBeenCalled();
  socket.flushed[0]?.();
  expect(process.credit.mock.calls).toEqual([[5]]);
});

test("[EX42] output in many small pieces waits for a slow client in frames of at most 32 KiB, and precedes the end", () => {
  const { socket, process, command } = setUp();
  for (let count = 0; count < 40_000; count += 1) command.output("stdout", Buffer.of(count));
  command.output("stderr", Buffer.from("oops"));
  expect(socket.sent).toHaveLength(1);
  socket.flushed[0]?.();
  expect(socket.sent.map(({ length }) => length)).toEqual([2, 32_769]);
  socket.flushed[1]?.();
  expect(process.credit.mock.calls).toEqual([[1], [32_768]]);
  command.ended({ exitCode: 0 });
  expect(socket.sent.map((frame) => [frame[0], frame.length])).toEqual([
    [1, 2],
    [1, 32_769],
    [2, 5],
    [1, 40_000 - 1 - 32_768 + 1],
    [3, '\u0003{"exit_code":0}'.length],
  ]);
  const stdout = Buffer.concat(socket.sent.filter(([channel]) => channel === 1).map((frame) => frame.subarray(1)));
  expect(stdout.equals(Buffer.from(Array.from({ length: 40_000 }, (_, at) => at % 256)))).toBe(true);
});

test("[EX7] an exec client is not read while its input waits, and the end of its input comes last", () => {
  const { socket, process, command } = setUp(3);
  socket.input("hello");
  socket.emit("message", Buffer.of(0), true);
  vi.advanceTimersByTime(0);
  expect([socket.isPaused, String(process.write.mock.lastCall?.[0])]).toEqual([true, "hel"]);
  expect(process.endInput).not.toHaveBeenCalled();
  command.taken(2);
  expect([socket.isPaused, String(process.write.mock.lastCall?.[0])]).toEqual([false, "lo"]);
  expect(process.endInput).toHaveBeenCalledTimes(1);
  socket.input("more");
  vi.advanceTimersByTime(0);
  expect(process.write).toHaveBeenCalledTimes(2);
});

test("[EX20] small frames that arrive together are passed on in messages of at most 32 KiB, with only the last size", () => {
  const { socket, process } = setUp(100_000);
  for (let at = 1; at <= 1_000; at += 1) {
    socket.input("x".repeat(40));
    socket.emit("message", Buffer.from(`\u0004{"cols":${at},"rows":24}`), true);
  }
  vi.advanceTimersByTime(0);
  expect(process.write.mock.calls.map(([data]) => data.length)).toEqual([32_768, 7_232]);
  expect(process.resize.mock.calls).toEqual([[{ cols: 1_000, rows: 24 }]]);
});

test("[EX10] an exec session ends after a time without input and output", async () => {
  const { socket, command, session } = setUp();
  vi.advanceTimersByTime(900);
  socket.input("x");
  vi.advanceTimersByTime(900);
  command.output("stdout", Buffer.from("y"));
  socket.flushed[0]?.();
  vi.advanceTimersByTime(900);
  expect(socket.closed).toBeNull();
  // What is not taken by the network is not output.
  command.output("stdout", Buffer.from("z"));
  vi.advanceTimersByTime(100);
  expect(socket.closed).toEqual([4408, "Neither input nor output for 15 minutes."]);
  expect(await session.done).toMatchObject({ reason: "idle", exitCode: null });
});

test("[EX10] an exec session ends after the longest time, whatever happens in it", async () => {
  const { socket, session } = setUp();
  for (let at = 0; at < 20; at += 1) {
    socket.input("");
    socket.emit("message", Buffer.from('\u0004{"cols":80,"rows":24}'), true);
    vi.advanceTimersByTime(500);
  }
  expect(await session.done).toMatchObject({ reason: "too_long" });
});

test("[EX10] an exec session ends when its client answers no ping, unless the client's input waits", async () => {
  const { socket, session, command } = setUp(1);
  socket.answers = false;
  socket.input("ab");
  vi.advanceTimersByTime(500);
  expect(socket.closed).toBeNull();
  command.taken(1);
  vi.advanceTimersByTime(200);
  expect(socket.closed).toBe("terminated");
  expect(await session.done).toMatchObject({ reason: "client_lost" });
});

test("[EX8] an exec session ends once, and nothing is sent afterwards", async () => {
  const { socket, process, session, command } = setUp();
  session.end("access_lost");
  session.end("idle");
  socket.input("late");
  command.output("stdout", Buffer.from("late"));
  command.ended({ exitCode: 0 });
  socket.emit("close");
  expect([socket.sent, socket.closed]).toEqual([[], [4403, "You may no longer do this."]]);
  expect([process.write.mock.calls, process.cancel.mock.calls.length]).toEqual([[], 1]);
  expect(await session.done).toMatchObject({ reason: "access_lost", bytesIn: 0, bytesOut: 0 });
});

test.each([
  [{ exitCode: 3 }, "exited", { exit_code: 3 }, 1000],
  [{ failed: "failed", message: "no such file" }, "failed", { error: "no such file" }, 4502],
  [{ failed: "lost", message: "It is gone." }, "operator_lost", { error: "It is gone." }, 4503],
] as const)("[EX4] the end %j of a command is sent in the last frame", async (end, reason, told, code) => {
  const { socket, session, command } = setUp();
  command.ended(end);
  expect(socket.sent.map((frame) => [frame[0], JSON.parse(frame.subarray(1).toString())])).toEqual([[3, told]]);
  expect(socket.closed).toEqual([code, expect.any(String)]);
  expect(await session.done).toMatchObject({ reason });
});

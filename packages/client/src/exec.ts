import { abortable, type Clock, sleep } from "./clock.ts";
import { type BinnacleError, errorOf, fieldOf, ServerFault, Unreachable } from "./errors.ts";
import { parsed } from "./transport.ts";

const SUBPROTOCOL = "binnacle.exec.v1";
const BEARER = "binnacle.bearer.";
const CHANNEL = { stdin: 0, stdout: 1, stderr: 2, exit: 3, resize: 4 } as const;
const LARGEST_FRAME_BYTES = 32 * 1024;
/** A writer waits while this much is on its way. */
const MOST_BUFFERED_BYTES = 256 * 1024;
const ROOM_CHECKED_EVERY_MS = 10;

export interface ExecOptions {
  readonly signal?: AbortSignal | undefined;
  /** Called with every piece of output; with a terminal all of it is `stdout`. */
  readonly onOutput: (channel: "stdout" | "stderr", data: Uint8Array) => void;
}

/** A command that runs in a container. */
export interface ExecSession {
  /** Sends input. Resolves once there is room for more. */
  write(data: Uint8Array | string): Promise<void>;
  /** Ends the input. */
  end(): void;
  resize(size: { readonly cols: number; readonly rows: number }): void;
  /** Leaves it; the command ends with its terminal or its input. */
  close(): void;
  /** The exit code. Fails with a `BinnacleError` where the session ends otherwise, and with the reason of the signal. */
  readonly exited: Promise<number>;
}

/** The part of a WebSocket that is used, as browsers and Node.js have it. */
export interface Socket {
  binaryType: string;
  readonly readyState: number;
  readonly bufferedAmount: number;
  send(data: Uint8Array): void;
  close(): void;
  addEventListener(type: string, listener: (event: never) => void): void;
}
export type SocketConstructor = new (url: string, protocols: string[]) => Socket;

export interface ExecPorts {
  readonly clock: Clock;
  readonly WebSocket: SocketConstructor;
  readonly url: string;
  readonly token: string;
}

const OPEN = 1;

/** Node.js 20 has no `Promise.withResolvers`. */
function deferred<T>() {
  let resolve: (value: T) => void = () => undefined;
  let reject: (reason: unknown) => void = () => undefined;
  const promise = new Promise<T>((onResolve, onReject) => {
    resolve = onResolve;
    reject = onReject;
  });
  return { promise, resolve, reject };
}
const OPERATION = "execComponent";

/** Opens the WebSocket. The token is a subprotocol, because browsers set no headers. */
export async function openExec(ports: ExecPorts, { onOutput, signal }: ExecOptions): Promise<ExecSession> {
  const { clock } = ports;
  signal?.throwIfAborted();
  const socket = new ports.WebSocket(ports.url.replace(/^http/, "ws"), [SUBPROTOCOL, BEARER + ports.token]);
  socket.binaryType = "arraybuffer";
  const opened = deferred<void>();
  const exited = deferred<number>();
  // A caller that only writes gets a failure once and not twice.
  exited.promise.catch(() => undefined);
  let status: unknown;

  socket.addEventListener("open", () => opened.resolve());
  socket.addEventListener("message", ({ data }: { data: unknown }) => {
    if (!(data instanceof ArrayBuffer) || data.byteLength === 0) return;
    const bytes = new Uint8Array(data);
    const content = bytes.subarray(1);
    if (bytes[0] === CHANNEL.stdout) onOutput("stdout", content);
    else if (bytes[0] === CHANNEL.stderr) onOutput("stderr", content);
    else if (bytes[0] === CHANNEL.exit) status = parsed(new TextDecoder().decode(content));
  });
  socket.addEventListener("close", ({ code, reason }: { code: number; reason: string }) => {
    opened.reject(
      new Unreachable("The WebSocket could not be opened. Does a proxy on the way allow it?", { operation: OPERATION }),
    );
    const exitCode = fieldOf(status, "exit_code");
    if (typeof exitCode === "number") exited.resolve(exitCode);
    else exited.reject(failureOf(code, reason, fieldOf(status, "error")));
  });
  const leave = () => {
    exited.reject(signal?.reason);
    socket.close();
  };
  signal?.addEventListener("abort", leave, { once: true });
  exited.promise.finally(() => signal?.removeEventListener("abort", leave)).catch(() => undefined);
  await (signal ? abortable(opened.promise, signal) : opened.promise);

  const send = (channel: number, content: Uint8Array) => {
    if (socket.readyState !== OPEN) return;
    const frame = new Uint8Array(content.length + 1);
    frame[0] = channel;
    frame.set(content, 1);
    socket.send(frame);
  };
  const text = new TextEncoder();
  return {
    async write(data) {
      const bytes = typeof data === "string" ? text.encode(data) : data;
      for (let at = 0; at < bytes.length; at += LARGEST_FRAME_BYTES) {
        send(CHANNEL.stdin, bytes.subarray(at, at + LARGEST_FRAME_BYTES));
      }
      while (socket.readyState === OPEN && socket.bufferedAmount > MOST_BUFFERED_BYTES) {
        await sleep(clock, ROOM_CHECKED_EVERY_MS, signal ?? new AbortController().signal);
      }
    },
    end: () => send(CHANNEL.stdin, new Uint8Array()),
    resize: ({ cols, rows }) => send(CHANNEL.resize, text.encode(JSON.stringify({ cols, rows }))),
    close: () => socket.close(),
    exited: exited.promise,
  };
}

/** The codes of the server are statuses of HTTP and 4000. */
function failureOf(code: number, reason: string, error: unknown): BinnacleError {
  const detail = typeof error === "string" ? error : reason || "The connection broke off.";
  if (code >= 4400 && code < 4600) return errorOf(code - 4000, { detail }, { operation: OPERATION });
  if (code === 1001) return new ServerFault(detail, { operation: OPERATION, status: 503 });
  return new Unreachable(detail, { operation: OPERATION });
}

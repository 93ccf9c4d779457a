import type { FastifyInstance, FastifyReply } from "fastify";
import { Fault } from "../fault.ts";

/** A stream of server-sent events to one client. */
export interface SseStream {
  /** The unread bytes. The writer decides whether a slow client loses events or the connection. */
  readonly waitingBytes: number;
  write(bytes: Uint8Array | string): void;
  /** Resolves when the client has received what was written, or is gone. */
  drained(): Promise<void>;
  /** Ends the stream after the client has read everything. */
  end(): void;
  /** Closes the connection at once, for a client that does not read. */
  cut(): void;
  /** The listener is called once, even if the client has disconnected already. */
  onClose(listener: () => void): void;
}

const HEARTBEAT_MS = 15_000;
const HEARTBEAT = ":\n\n";

/** Clients of a server that stops come back spread over two seconds, by when another one has their connections. */
export const retryHint = (random = Math.random): string =>
  `: connect again\nretry: ${1_000 + Math.floor(2_000 * random())}\n\n`;

/** A stopping server must end the streams itself, otherwise it waits for them until its timeout. */
export function registerStreams(app: FastifyInstance): void {
  const streams = { open: new Set<SseStream>(), isClosed: false };
  app.decorate("streams", streams);
  app.addHook("preClose", async () => {
    streams.isClosed = true;
    for (const stream of streams.open) {
      if (stream.waitingBytes > 0) stream.cut();
      else {
        stream.write(retryHint());
        stream.end();
      }
    }
  });
}

/**
 * Takes over the reply and begins the stream. The stream ends with the connection and not with a last chunk, so all
 * clients can share the buffer of an event.
 */
export function openStream(reply: FastifyReply, { heartbeatMs = HEARTBEAT_MS } = {}): SseStream {
  const { request, raw: response, server } = reply;
  const { streams } = server;
  if (streams.isClosed)
    throw new Fault("unavailable", "The server is stopping. Try again in a moment.", { retryAfterSeconds: 1 });

  const listeners: (() => void)[] = [];
  let isClosed = response.closed;
  let sentBytesBefore = 0;

  const stream: SseStream = {
    get waitingBytes() {
      return response.writableLength;
    },
    write(bytes) {
      if (!isClosed && !response.writableEnded) response.write(bytes);
    },
    drained() {
      if (isClosed || !response.writableNeedDrain) return Promise.resolve();
      return new Promise((resolve) => {
        const done = () => {
          response.off("drain", done).off("close", done);
          resolve();
        };
        response.once("drain", done).once("close", done);
      });
    },
    end() {
      response.end();
    },
    cut() {
      response.destroy();
    },
    onClose(listener) {
      if (isClosed) listener();
      else listeners.push(listener);
    },
  };

  /** Also detects a connected client that has stopped reading, even if there are no events. */
  const heartbeat = setInterval(() => {
    const sentBytes = (response.socket?.bytesWritten ?? 0) - response.writableLength;
    if (response.writableLength === 0) stream.write(HEARTBEAT);
    else if (sentBytes === sentBytesBefore) stream.cut();
    sentBytesBefore = sentBytes;
  }, heartbeatMs);
  heartbeat.unref();

  const close = () => {
    isClosed = true;
    clearInterval(heartbeat);
    streams.open.delete(stream);
    // The log line of the request waits for the response to finish or to fail. A closed connection causes neither by
    // itself.
    if (response.listenerCount("error") > 0) response.emit("error", new Error("The stream was cut off."));
    for (const listener of listeners) listener();
  };
  streams.open.add(stream);
  reply.hijack();
  // The client may have disconnected while its access was read.
  if (isClosed) close();
  else response.once("close", close);
  response.removeHeader("transfer-encoding");
  response.writeHead(200, {
    ...(reply.getHeaders() as Record<string, string>),
    "content-type": "text/event-stream; charset=utf-8",
    // A proxy that compresses or buffers would delay events.
    "cache-control": "no-store, no-transform",
    "x-accel-buffering": "no",
    connection: "close",
  });
  if (request.method === "HEAD") stream.end();
  else stream.write(HEARTBEAT);
  return stream;
}

declare module "fastify" {
  interface FastifyInstance {
    readonly streams: { readonly open: Set<SseStream>; isClosed: boolean };
  }
}

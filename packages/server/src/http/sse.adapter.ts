import type { FastifyInstance, FastifyReply } from "fastify";
import { Fault } from "../fault.ts";

/** A stream of server-sent events to one client. */
export interface SseStream {
  /** What the client has not taken yet. Whoever writes decides what a slow client loses: its events or its line. */
  readonly waitingBytes: number;
  write(bytes: Uint8Array | string): void;
  /** Ends once the client has taken what was written. */
  end(): void;
  /** Hangs up at once: for a client that takes nothing. */
  cut(): void;
  /** Called once, also when the client has gone already. */
  onClose(listener: () => void): void;
}

const HEARTBEAT_MS = 15_000;
const HEARTBEAT = ":\n\n";
const NAME = /^[\w-]+$/;

/** One frame. JSON escapes every line break, so nothing in the data can end its line and begin another field. */
export function encodeFrame(name: string, data: object): string {
  if (!NAME.test(name)) throw new TypeError("The name of an event must be a word.");
  return `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
}

/** Streams never end by themselves: a server that stops ends them, or it would wait for them until it loses patience. */
export function registerStreams(app: FastifyInstance): void {
  const streams = { open: new Set<SseStream>(), isClosed: false };
  app.decorate("streams", streams);
  app.addHook("preClose", async () => {
    streams.isClosed = true;
    for (const stream of streams.open) {
      if (stream.waitingBytes > 0) stream.cut();
      else stream.end();
    }
  });
}

/**
 * Takes the reply over and begins the stream. Its end is the end of the connection and not a last chunk: so the bytes of
 * one event can be the very same buffer for every client, with nothing to wrap around it.
 */
export function openStream(reply: FastifyReply, { heartbeatMs = HEARTBEAT_MS } = {}): SseStream {
  const { request, raw: response, server } = reply;
  const { streams } = server;
  if (streams.isClosed) throw new Fault("unavailable", "The server is stopping. Try again in a moment.");

  const listeners: (() => void)[] = [];
  let isClosed = response.closed;
  let takenBefore = 0;

  const stream: SseStream = {
    get waitingBytes() {
      return response.writableLength;
    },
    write(bytes) {
      if (!isClosed && !response.writableEnded) response.write(bytes);
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

  /** Also finds the client that is still connected and has stopped reading, however little there is to tell it. */
  const heartbeat = setInterval(() => {
    const taken = (response.socket?.bytesWritten ?? 0) - response.writableLength;
    if (response.writableLength === 0) stream.write(HEARTBEAT);
    else if (taken === takenBefore) stream.cut();
    takenBefore = taken;
  }, heartbeatMs);
  heartbeat.unref();

  const close = () => {
    isClosed = true;
    clearInterval(heartbeat);
    streams.open.delete(stream);
    // The request's line in the log waits for the response to finish or to fail; cut off, it does neither by itself.
    if (response.listenerCount("error") > 0) response.emit("error", new Error("The stream was cut off."));
    for (const listener of listeners) listener();
  };
  streams.open.add(stream);
  reply.hijack();
  // The client may have left while it was being decided what it may see.
  if (isClosed) close();
  else response.once("close", close);
  response.removeHeader("transfer-encoding");
  response.writeHead(200, {
    ...(reply.getHeaders() as Record<string, string>),
    "content-type": "text/event-stream; charset=utf-8",
    // A proxy that compresses or gathers what it passes on would hold events back.
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

import { once } from "node:events";
import { parseFrame } from "@binnacle/world";
import fc from "fast-check";
import { afterEach, describe, expect, test, vi } from "vitest";
import { type Edge, everything, startEdge } from "./edge.fixture.ts";
import { openStream, type SseStream } from "./sse.adapter.ts";
import { encodeFrame } from "./sse-frame.ts";

let edge: Edge;
afterEach(async () => {
  vi.useRealTimers();
  await edge?.app.close();
});

/** An edge with one stream, and the stream's server side once a client has opened it and its head is on its way. */
async function startStreaming() {
  const opened = Promise.withResolvers<SseStream>();
  edge = await startEdge((app) => {
    app.get("/stream", async (_request, reply) => {
      opened.resolve(openStream(reply));
      return reply;
    });
  });
  const begun = opened.promise.then(async (stream) => {
    while (stream.waitingBytes > 0) await turn();
    return stream;
  });
  return { edge, opened: begun };
}

/** Node hands what is written to the network when the current turn is over. */
const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

async function fillUp(stream: SseStream): Promise<void> {
  while (stream.waitingBytes === 0) {
    stream.write(Buffer.alloc(1024 * 1024, "x"));
    await turn();
  }
}

const REQUEST = "GET /stream HTTP/1.1\r\nhost: x\r\n\r\n";

describe("a frame", () => {
  test("[EV3] a frame is read back as it was written, whatever is in it", () => {
    const name = fc.stringMatching(/^[\w-]{1,20}$/);
    fc.assert(
      fc.property(
        name,
        fc.dictionary(fc.string({ unit: "binary" }), fc.jsonValue({ stringUnit: "binary" })),
        (event, data) => {
          const written = encodeFrame(event, data);
          expect(written.split(/\r\n|\n|\r/)).toHaveLength(4);
          expect(written.endsWith("\n\n")).toBe(true);
          expect(parseFrame(written.slice(0, -2))).toEqual({ event, data: JSON.parse(JSON.stringify(data)) });
        },
      ),
    );
  });

  test.each(["", "a\nb", "a\rdata: x", "a b", "a:"])("[EV3] a frame cannot have the name %j", (name) => {
    expect(() => encodeFrame(name, {})).toThrow(TypeError);
  });
});

describe("a stream", () => {
  test("[EV1] a stream is not cached, compressed or buffered on its way, and has the headers of every answer", async () => {
    const { opened } = await startStreaming();
    const answer = await fetch(`${edge.url}/stream`, { headers: { "accept-encoding": "gzip, br" } });
    expect(answer.status).toBe(200);
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      "content-type": "text/event-stream; charset=utf-8",
      "cache-control": "no-store, no-transform",
      "x-accel-buffering": "no",
      "x-request-id": expect.any(String),
      "x-content-type-options": "nosniff",
    });
    expect(answer.headers.has("content-encoding")).toBe(false);
    const stream = await opened;
    stream.write(encodeFrame("app", { name: "shop" }));
    stream.end();
    expect(await answer.text()).toBe(':\n\nevent: app\ndata: {"name":"shop"}\n\n');
  });

  test("[EV1] a stream is open to HTTP/1.0 too, and HEAD gets its headers alone", async () => {
    const { opened } = await startStreaming();
    const socket = edge.dial();
    socket.write("GET /stream HTTP/1.0\r\n\r\n");
    (await opened).end();
    expect(await everything(socket)).toMatch(/\r\n\r\n:\n\n$/);
    expect(await edge.exchange("HEAD /stream HTTP/1.1\r\nhost: x\r\n\r\n")).toMatch(/text\/event-stream.*\r\n\r\n$/s);
  });

  test("[EV6] a stream carries a comment every 15 seconds", async () => {
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
    const { opened } = await startStreaming();
    const socket = edge.dial();
    socket.write(REQUEST);
    const stream = await opened;
    vi.advanceTimersByTime(14_999);
    stream.write("event: x\n\n");
    await turn();
    vi.advanceTimersByTime(1);
    await turn();
    vi.advanceTimersByTime(15_000);
    stream.end();
    expect((await everything(socket)).split("\r\n\r\n")[1]).toBe(":\n\nevent: x\n\n:\n\n:\n\n");
  });

  test("[EV22] a stream to a client that reads nothing between two comments is cut", async () => {
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
    const { opened } = await startStreaming();
    const socket = edge.dial();
    socket.pause();
    socket.write(REQUEST);
    const stream = await opened;
    const closed = new Promise<void>((resolve) => stream.onClose(resolve));
    await fillUp(stream);
    vi.advanceTimersByTime(15_000);
    expect(edge.app.streams.open.size).toBe(1);
    vi.advanceTimersByTime(15_000);
    await closed;
    expect(edge.app.streams.open.size).toBe(0);
    await edge.line({ msg: "request", route: "/stream" });
    socket.destroy();
  });

  test("[EV24] a stream leaves one log line and one measurement when it ends, also when the client leaves", async () => {
    const { opened } = await startStreaming();
    const leaving = new AbortController();
    const answer = await fetch(`${edge.url}/stream`, { signal: leaving.signal });
    const closed = new Promise<void>((resolve) => void opened.then((stream) => stream.onClose(resolve)));
    await opened;
    expect(edge.logged.filter(({ msg }) => msg === "request")).toEqual([]);
    leaving.abort();
    await closed;
    expect(await edge.lineOf(answer)).toMatchObject({ method: "GET", route: "/stream", status: 200 });
    expect(await edge.metrics.exposition.metrics()).toContain(
      'binnacle_http_requests_total{method="GET",route="/stream",status="200"} 1',
    );
    expect(edge.logged.filter(({ msg }) => msg === "request")).toHaveLength(1);
  });

  test("[EV24] a stream to a client that left before it began is closed from the start", async () => {
    const [arrived, left] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const opened = Promise.withResolvers<SseStream>();
    edge = await startEdge((app) => {
      app.get("/stream", async (_request, reply) => {
        reply.raw.once("close", left.resolve);
        arrived.resolve();
        await left.promise;
        opened.resolve(openStream(reply));
        return reply;
      });
    });
    const socket = edge.dial();
    socket.write(REQUEST);
    await arrived.promise;
    socket.destroy();
    const stream = await opened.promise;
    await new Promise<void>((resolve) => stream.onClose(resolve));
    expect(edge.app.streams.open.size).toBe(0);
    await edge.line({ msg: "request", route: "/stream" });
  });

  test("[EV23] a stream ends when the server stops, whether its client reads or not", async () => {
    const { opened } = await startStreaming();
    const reader = edge.dial();
    reader.write(REQUEST);
    const stream = await opened;
    await edge.app.close();
    expect(await everything(reader)).toContain(":\n\n");
    let isEnded = false;
    stream.onClose(() => {
      isEnded = true;
    });
    expect(isEnded).toBe(true);
  });

  test("[EV1560] a stream ends with a hint when to connect again, when the server stops", async () => {
    const { opened } = await startStreaming();
    const answer = await fetch(`${edge.url}/stream`);
    await opened;
    await edge.app.close();
    const [, milliseconds] = /^retry: (\d+)\n\n$/m.exec(await answer.text()) ?? [];
    expect(Number(milliseconds)).toBeGreaterThanOrEqual(1_000);
    expect(Number(milliseconds)).toBeLessThan(3_000);
  });

  test("[EV23] a stream to a stalled client does not hold up the stop", async () => {
    const { opened } = await startStreaming();
    const stalled = edge.dial();
    stalled.pause();
    stalled.write(REQUEST);
    const stream = await opened;
    await fillUp(stream);
    await edge.app.close();
    stalled.on("error", () => undefined);
    stalled.resume();
    if (!stalled.destroyed) await once(stalled, "close");
  });

  test("[PV24] a stream has drained when its client has read, or is gone", async () => {
    const { opened } = await startStreaming();
    const stalled = edge.dial();
    stalled.pause();
    stalled.write(REQUEST);
    const stream = await opened;
    await stream.drained();
    await fillUp(stream);
    let isDrained = false;
    const drained = stream.drained().then(() => {
      isDrained = true;
    });
    await turn();
    expect(isDrained).toBe(false);
    stalled.resume();
    await drained;
    stalled.pause();
    await fillUp(stream);
    const gone = stream.drained();
    stalled.destroy();
    await gone;
  });

  test("[EV23] a stream is not begun by a server that is stopping", async () => {
    const arrived = Promise.withResolvers<void>();
    const released = Promise.withResolvers<void>();
    edge = await startEdge((app) => {
      app.get("/stream", async (_request, reply) => {
        arrived.resolve();
        await released.promise;
        openStream(reply);
        return reply;
      });
    });
    const answer = edge.exchange(REQUEST.replace("\r\n\r\n", "\r\nconnection: close\r\n\r\n"));
    await arrived.promise;
    const stopped = edge.app.close();
    await expect.poll(() => edge.app.server.listening, { interval: 1 }).toBe(false);
    released.resolve();
    expect(await answer).toMatch(/^HTTP\/1\.1 503 /);
    await stopped;
  });
});

import { once } from "node:events";
import { expect, test } from "vitest";
import { everything, startEdge } from "./edge.fixture.ts";

/** An edge with a route that answers only when it is told to. */
async function startSlowEdge() {
  const arrived = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  const edge = await startEdge((app) => {
    app.get("/slow", async () => {
      arrived.resolve();
      await released.promise;
      return { done: true };
    });
    app.get("/quick", async () => ({ done: true }));
  });
  return { edge, arrived: arrived.promise, release: released.resolve };
}

test("[OP8] [OP3472] a stop answers what is in flight, refuses what comes after it, which clients may repeat, and ends", async () => {
  const { edge, arrived, release } = await startSlowEdge();
  const socket = edge.dial();
  socket.write("GET /slow HTTP/1.1\r\nhost: x\r\n\r\n");
  await arrived;

  const stopped = edge.app.close();
  await expect.poll(() => edge.app.server.listening, { interval: 1 }).toBe(false);
  await expect(fetch(`${edge.url}/quick`)).rejects.toThrow();
  socket.write("GET /quick HTTP/1.1\r\nhost: x\r\n\r\n");
  await edge.line({ msg: "request failed: temporarily unavailable" });
  release();

  const answers = await everything(socket);
  expect(answers.match(/HTTP\/1\.1 \d+/g)).toEqual(["HTTP/1.1 200", "HTTP/1.1 503"]);
  expect(answers).toContain('{"done":true}');
  expect(answers).toContain('{"detail":"The server is stopping. Try again in a moment."}');
  expect(answers.match(/x-request-id: /g)).toHaveLength(2);
  expect(answers).toContain("retry-after: 1");
  await stopped;
});

test("[OP8] a stop does not wait for connections on which nothing is under way", async () => {
  const { edge } = await startSlowEdge();
  const socket = edge.dial();
  socket.write("GET /quick HTTP/1.1\r\nhost: x\r\n\r\n");
  await once(socket, "data");
  await edge.app.close();
  await once(socket, "close");
});

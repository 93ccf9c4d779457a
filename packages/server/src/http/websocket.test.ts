import { once } from "node:events";
import { type AddressInfo, connect, type Socket } from "node:net";
import fastify, { type FastifyInstance } from "fastify";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { WebSocket } from "ws";
import { acceptWebSocket, routeWebSockets } from "./websocket.adapter.ts";

const SUBPROTOCOL = "test.v1";
const ANSWERED = { timeout: 10_000 };

let app: FastifyInstance;
let port: number;
let accepted: WebSocket | null;
let connection: Socket;
let left: Socket | WebSocket | null;

beforeEach(async () => {
  accepted = null;
  left = null;
  app = fastify();
  app.server.on("connection", (socket) => {
    connection = socket;
  });
  routeWebSockets(app, [/^\/(open|refused)$/]);
  app.get("/open", async (_request, reply) => {
    accepted = acceptWebSocket(reply, SUBPROTOCOL, 1_000)?.socket ?? null;
  });
  app.get("/refused", (_request, reply) => reply.code(403).send({ detail: "no" }));
  await app.listen({ port: 0, host: "127.0.0.1" });
  port = (app.server.address() as AddressInfo).port;
});
afterEach(async () => {
  if (left instanceof WebSocket) left.terminate();
  else left?.destroy();
  await app.close();
});

test("[EX19] the connection of a refused handshake is closed with the answer, also if the client leaves its side open", async () => {
  const client = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
  left = client;
  client.on("error", () => undefined);
  let answer = "";
  client.on("data", (data) => {
    answer += data.toString();
  });
  client.write("GET /refused HTTP/1.1\r\nHost: test\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n");
  await once(client, "end");
  expect([answer.slice(0, 12), answer.split("\r\n\r\n")[1]]).toEqual(["HTTP/1.1 403", '{"detail":"no"}']);
  await vi.waitUntil(() => connection.destroyed, ANSWERED);
});

test("[EX19] pings of a client that does not read are answered only while little waits for it", async () => {
  const client = new WebSocket(`ws://127.0.0.1:${port}/open`, SUBPROTOCOL);
  left = client;
  let answered = "";
  client.on("pong", (data) => {
    answered = data.toString();
  });
  await once(client, "open");
  const peer = await vi.waitUntil(() => accepted, ANSWERED);
  const received = once(peer, "message");
  // Nothing leaves the server from here on, as for a client that does not read.
  connection.cork();
  for (let sent = 0; sent < 5_000; sent += 1) client.ping(Buffer.alloc(125));
  client.send("after the pings");
  await received;
  expect(peer.bufferedAmount).toBeGreaterThan(100 * 1024);
  expect(peer.bufferedAmount).toBeLessThan(129 * 1024);
  connection.uncork();
  await vi.waitUntil(() => peer.bufferedAmount === 0, ANSWERED);
  client.ping("again");
  await vi.waitUntil(() => answered === "again", ANSWERED);
});

test("[EX21] a client that does not answer the close frame does not hold up the stop of the server", async () => {
  const client = new WebSocket(`ws://127.0.0.1:${port}/open`, SUBPROTOCOL);
  left = client;
  await once(client, "open");
  client.pause();
  await app.close();
  expect(connection.destroyed).toBe(true);
}, 15_000);

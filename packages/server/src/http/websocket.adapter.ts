import { once } from "node:events";
import { type IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { EXEC_BEARER_PREFIX, EXEC_CLOSE } from "@binnacle/contract";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { type WebSocket, WebSocketServer } from "ws";
import { Fault } from "../fault.ts";
import { pathOf, takeUpgrades } from "../upgrades.adapter.ts";

const pendingHandshakes = new WeakMap<IncomingMessage, { readonly socket: Duplex; readonly head: Buffer }>();

/**
 * Passes handshakes on these paths to the routes like any other request, so that they are authorized, validated, refused and
 * logged alike. A route that accepts one calls `acceptWebSocket`.
 */
export function routeWebSockets(app: FastifyInstance, paths: readonly RegExp[]): void {
  const open = new Map<WebSocket, OnStop>();
  app.decorate("webSockets", open);
  takeUpgrades(
    app.server,
    (request) => paths.some((path) => path.test(pathOf(request))),
    (request, socket, head) => {
      socket.on("error", () => undefined);
      const response = new ServerResponse(request);
      response.shouldKeepAlive = false;
      response.assignSocket(socket as Parameters<ServerResponse["assignSocket"]>[0]);
      // Only a refusal is written to the response. A client that does not close its side would keep a socket that is merely ended.
      response.once("finish", () => (socket as Socket).destroySoon());
      pendingHandshakes.set(request, { socket, head });
      app.routing(request, response);
    },
  );
  app.addHook("preClose", async () => {
    await Promise.all([...open.values()].map((onStop) => onStop()));
    const deadline = AbortSignal.timeout(CLOSE_AT_EXIT_MS);
    await Promise.allSettled([...open.keys()].map((peer) => once(peer, "close", { signal: deadline })));
    // The stop waits for every connection, and the library cuts off a silent peer only after 30 seconds.
    for (const peer of open.keys()) peer.terminate();
  });
}

type OnStop = () => Promise<void>;

/** Pings are answered up to here. It is more than the output that may wait for a client. */
const UNREAD_BYTES = 128 * 1024;

/** For peers to answer the close frame, when the server stops. */
const CLOSE_AT_EXIT_MS = 500;

const KEY = /^[+/0-9A-Za-z]{22}==$/;

const offeredBy = ({ headers }: Pick<IncomingMessage, "headers">): string[] =>
  (headers["sec-websocket-protocol"] ?? "").split(",").map((protocol) => protocol.trim());

/** Whether the request is a handshake with the subprotocol that `acceptWebSocket` would complete. */
export function isHandshake({ raw }: Pick<FastifyRequest, "raw">, subprotocol: string): boolean {
  const { "sec-websocket-key": key = "", "sec-websocket-version": version } = raw.headers;
  return (
    pendingHandshakes.has(raw) &&
    raw.method === "GET" &&
    KEY.test(key) &&
    version === "13" &&
    offeredBy(raw).includes(subprotocol)
  );
}

/** The token that a browser offers as a subprotocol, as the value of an `Authorization` header. */
export function offeredBearer(request: Pick<IncomingMessage, "headers">): string | undefined {
  const offered = offeredBy(request).find((protocol) => protocol.startsWith(EXEC_BEARER_PREFIX));
  return offered && `Bearer ${offered.slice(EXEC_BEARER_PREFIX.length)}`;
}

export interface AcceptedSocket {
  readonly socket: WebSocket;
  /** The function ends the conversation when the server stops, which waits for it. */
  onStop(stop: OnStop): void;
}

/** Completes a handshake that `isHandshake` has accepted. Null where the client is gone. */
export function acceptWebSocket(reply: FastifyReply, subprotocol: string, maxPayload: number): AcceptedSocket | null {
  const { request, raw: response, server } = reply;
  const pending = pendingHandshakes.get(request.raw);
  if (!pending) throw new Fault("upgrade_required", "This is not a WebSocket handshake.");
  const { socket, head } = pending;
  reply.hijack();
  pendingHandshakes.delete(request.raw);
  response.detachSocket(socket as Parameters<ServerResponse["detachSocket"]>[0]);
  response.statusCode = 101;
  const sockets = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload,
    autoPong: false,
    // The token that is offered beside it is not repeated in the answer.
    handleProtocols: () => subprotocol,
  });
  sockets.once("headers", (headers: string[]) => void headers.push(`X-Request-Id: ${request.id}`));
  let accepted: WebSocket | null = null;
  // Called at once where the handshake is complete.
  sockets.handleUpgrade(request.raw, socket, head, (peer) => {
    accepted = peer;
  });
  const peer = accepted as WebSocket | null;
  const recordAnswer = () => response.emit("finish");
  if (peer === null) {
    recordAnswer();
    return null;
  }
  server.webSockets.set(peer, async () => peer.close(EXEC_CLOSE.stopping));
  peer.on("error", () => undefined);
  // A client that sends pings and does not read would fill the memory with answers.
  peer.on("ping", (data) => {
    if (peer.bufferedAmount < UNREAD_BYTES) peer.pong(data);
  });
  peer.once("close", () => {
    server.webSockets.delete(peer);
    recordAnswer();
  });
  return { socket: peer, onStop: (stop) => void (server.webSockets.has(peer) && server.webSockets.set(peer, stop)) };
}

declare module "fastify" {
  interface FastifyInstance {
    readonly webSockets: Map<WebSocket, () => Promise<void>>;
  }
}

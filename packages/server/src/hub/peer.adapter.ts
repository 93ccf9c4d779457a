import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import type { IncomingMessage, Server } from "node:http";
import type { Duplex } from "node:stream";
import { WebSocket, WebSocketServer } from "ws";
import { type PeerTrust, trustingOptions } from "../certificate-trust.adapter.ts";
import type { Clock } from "../clock.ts";
import type { Log } from "../outage.ts";
import { pathOf, takeUpgrades } from "../upgrades.adapter.ts";
import type { HubAddress } from "./session.store.ts";

/** The way of other processes of this control plane to a hub, on the port on which its operators connect. */
export const PEER_PATH = "/peer/v1";
const DIAL_WITHIN_MS = 5_000;
/** An answer of an operator has two megabytes at most, and JSON within JSON takes more. */
const LARGEST_MESSAGE_BYTES = 8 * 1024 * 1024;
/** Streams are limited by their credit. Whoever leaves more than this unread does not run any more. */
const MOST_UNREAD_BYTES = 64 * 1024 * 1024;
const CLOSE_AT_EXIT_MS = 500;
/** The clocks of two machines may differ by minutes. */
const VALID_FOR_MS = 30 * 60_000;

export interface KeepAlive {
  /** How often each side asks whether the other one is there. */
  readonly everyMs: number;
  /** After how long a silence the other side is taken for gone. */
  readonly deadAfterMs: number;
}
const KEEP_ALIVE: KeepAlive = { everyMs: 5_000, deadAfterMs: 15_000 };

/** A connection between two processes. Messages arrive in their order and whole, or the connection ends. */
export interface Peer {
  send(message: object): void;
  close(): void;
}

export interface PeerHandler {
  onMessage(message: unknown): void;
  /** Called once, whichever side has ended the connection. */
  onClose(): void;
}

export interface PeerKey {
  sign(hubId: string): string;
  isValid(hubId: string, credential: string): boolean;
}

/** Only processes with the signing key reach a hub. A credential is for one hub, so that it is of no use anywhere else. */
export function createPeerKey(signingKey: string, clock: Clock): PeerKey {
  const key = createHash("sha256").update(`binnacle peers\0${signingKey}`).digest();
  const digest = (hubId: string, atMs: number) => createHmac("sha256", key).update(`${atMs} ${hubId}`).digest();
  return {
    sign(hubId) {
      const atMs = clock().getTime();
      return `${atMs}.${digest(hubId, atMs).toString("base64url")}`;
    },
    isValid(hubId, credential) {
      const [time = "", given = ""] = credential.split(".");
      const [atMs, expected] = [Number(time), digest(hubId, Number(time))];
      const bytes = Buffer.from(given, "base64url");
      if (bytes.length !== expected.length || !timingSafeEqual(bytes, expected)) return false;
      return Math.abs(clock().getTime() - atMs) <= VALID_FOR_MS;
    },
  };
}

interface Conversation {
  readonly log: Log;
  readonly keepAlive?: KeepAlive;
}

/** Resolves once the hub has accepted the connection. */
export function dialPeer(
  hub: HubAddress,
  handler: PeerHandler,
  { key, trust, ...options }: Conversation & { readonly key: PeerKey; readonly trust: PeerTrust },
): Promise<Peer> {
  const isTls = hub.url.startsWith("https:");
  const socket = new WebSocket(`${hub.url.replace(/^http/, "ws")}${PEER_PATH}`, {
    headers: { authorization: `Bearer ${key.sign(hub.id)}` },
    handshakeTimeout: DIAL_WITHIN_MS,
    maxPayload: LARGEST_MESSAGE_BYTES,
    perMessageDeflate: false,
    followRedirects: false,
    ...(isTls ? trustingOptions(trust) : {}),
  });
  return new Promise((resolve, reject) => {
    socket.once("error", reject);
    socket.once("open", () => resolve(converse(socket, () => handler, options)));
  });
}

export interface PeerServer {
  /** Ends all connections and accepts no more. */
  close(): void;
}

interface Accepting extends Conversation {
  readonly hubId: string;
  readonly key: PeerKey;
  onPeer(peer: Peer): PeerHandler;
}

/** Accepts the connections of other processes on the HTTP server of a hub. */
export function acceptPeers(server: Server, { hubId, key, onPeer, ...options }: Accepting): PeerServer {
  const sockets = new WebSocketServer({ noServer: true, perMessageDeflate: false, maxPayload: LARGEST_MESSAGE_BYTES });
  const onUpgrade = (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    const [, credential = ""] = /^Bearer (\S{1,200})$/.exec(request.headers.authorization ?? "") ?? [];
    if (!key.isValid(hubId, credential)) {
      options.log.warn("another process was refused: its credential is not valid for this hub");
      socket.end("HTTP/1.1 401 Unauthorized\r\nConnection: close\r\nContent-Length: 0\r\n\r\n");
      return;
    }
    sockets.handleUpgrade(request, socket, head, (peer) => void converse(peer, onPeer, options));
  };
  const stopTaking = takeUpgrades(server, (request) => pathOf(request) === PEER_PATH, onUpgrade);
  return {
    close() {
      stopTaking();
      for (const peer of sockets.clients) peer.close();
      // The stop of the HTTP server waits for every connection.
      const terminate = () => {
        for (const peer of sockets.clients) peer.terminate();
      };
      setTimeout(terminate, CLOSE_AT_EXIT_MS).unref();
      sockets.close();
    },
  };
}

function converse(
  socket: WebSocket,
  handlerOf: (peer: Peer) => PeerHandler,
  { log, keepAlive = KEEP_ALIVE }: Conversation,
): Peer {
  const peer: Peer = {
    send(message) {
      if (socket.readyState !== WebSocket.OPEN) return;
      if (socket.bufferedAmount > MOST_UNREAD_BYTES) socket.terminate();
      else socket.send(JSON.stringify(message));
    },
    close: () => socket.close(),
  };
  const handler = handlerOf(peer);
  let seenAtMs = performance.now();
  const seen = () => {
    seenAtMs = performance.now();
  };
  const timer = setInterval(() => {
    if (performance.now() - seenAtMs > keepAlive.deadAfterMs) socket.terminate();
    else socket.ping();
  }, keepAlive.everyMs);
  socket.on("error", () => socket.terminate());
  socket.on("ping", seen);
  socket.on("pong", seen);
  socket.on("message", (data: Buffer) => {
    seen();
    try {
      handler.onMessage(JSON.parse(data.toString()));
    } catch (error) {
      log.error({ err: error }, "a message of another process could not be handled; the connection ends");
      socket.terminate();
    }
  });
  socket.once("close", () => {
    clearInterval(timer);
    handler.onClose();
  });
  return peer;
}

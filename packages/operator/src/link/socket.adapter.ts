import type { createConnection } from "node:net";
import { CLOSE, LINK_LIMITS, LINK_SUBPROTOCOL } from "@binnacle/contract";
import { WebSocket } from "ws";
import type { Wire } from "./outgoing.ts";
import { throughProxy } from "./proxy.adapter.ts";

export interface SocketEvents {
  onOpen(): void;
  onText(text: string): void;
  /** Anything at all came, be it a pong or a part of a message. */
  onHeard(): void;
  /** Once, however it ended. The code is null where the connection failed or was lost. */
  onEnd(code: number | null, reason: string): void;
}

interface SocketOptions {
  readonly url: string;
  readonly token: string;
  readonly handshakeMs: number;
  readonly protocol?: string;
  /** The HTTP proxy between; null for none. */
  readonly proxy?: string | null;
}

export interface LinkSocket extends Wire {
  ping(): void;
  close(code: number, reason: string): void;
  /** Without the other side, which may not be there any more. */
  terminate(): void;
}

/** The meaning of a refused upgrade. A proxy may refuse as well as the hub. */
const CODES_BY_STATUS: Readonly<Record<number, number>> = {
  401: CLOSE.unauthenticated,
  403: CLOSE.revoked,
  410: CLOSE.clusterDeleted,
  426: CLOSE.versionTooOld,
  429: CLOSE.busy,
  503: CLOSE.draining,
};

/** Codes that WebSocket implementations give by themselves where no side has closed. */
const LOST = new Set([1005, 1006]);

/** The types of `ws` know no connection that is there only later; Node.js takes one. */
const tunnel = (proxy: string, url: string) =>
  throughProxy(proxy, url.startsWith("wss:")) as unknown as typeof createConnection;

export function openSocket(
  { url, token, handshakeMs, protocol = LINK_SUBPROTOCOL, proxy = null }: SocketOptions,
  events: SocketEvents,
): LinkSocket {
  const socket = new WebSocket(url, protocol, {
    headers: { authorization: `Bearer ${token}` },
    perMessageDeflate: false,
    maxPayload: LINK_LIMITS.frameBytes,
    handshakeTimeout: handshakeMs,
    ...(proxy === null ? {} : { createConnection: tunnel(proxy, url) }),
  });
  let failure = "";
  let isOver = false;

  function end(code: number | null, reason: string): void {
    if (isOver) return;
    isOver = true;
    events.onEnd(code, reason);
  }

  socket.on("open", () => {
    if (!isOver) events.onOpen();
  });
  socket.on("message", (data: Buffer, isBinary) => {
    if (isOver) return;
    // No frame of the protocol is binary; as text it is not JSON either.
    events.onText(isBinary ? "" : data.toString("utf8"));
  });
  // A large message takes longer over a slow line than a dead one is waited for. A listener from before the opening would
  // take a frame that came together with the answer to the upgrade from the WebSocket's own.
  socket.on("upgrade", ({ socket: raw }) => socket.once("open", () => raw.on("data", () => events.onHeard())));
  socket.on("unexpected-response", (request, { statusCode = 0, headers }) => {
    request.destroy();
    end(CODES_BY_STATUS[statusCode] ?? null, headers["retry-after"] ?? `the upgrade was answered with ${statusCode}`);
  });
  socket.on("error", ({ message }) => {
    failure = message;
  });
  socket.on("close", (code, reason) => (LOST.has(code) ? end(null, failure) : end(code, reason.toString())));

  return {
    get bufferedBytes() {
      return socket.bufferedAmount;
    },
    write(text, onTaken) {
      if (socket.readyState !== WebSocket.OPEN) return;
      socket.send(text, (error) => {
        if (!error) onTaken?.();
      });
    },
    ping() {
      if (socket.readyState === WebSocket.OPEN) socket.ping();
    },
    close: (code, reason) => socket.close(code, reason),
    terminate() {
      socket.terminate();
      end(null, "the connection was silent");
    },
  };
}

import { CLOSE, LINK_LIMITS, LINK_SUBPROTOCOL } from "@binnacle/contract";
import { WebSocket } from "ws";
import type { Wire } from "./outgoing.ts";

export interface SocketEvents {
  onOpen(): void;
  onText(text: string): void;
  /** Anything at all came, be it a pong. */
  onHeard(): void;
  /** Once, however it ended. The code is null where the connection failed or was lost. */
  onEnd(code: number | null, reason: string): void;
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

export function openSocket(
  { url, token, handshakeMs }: { readonly url: string; readonly token: string; readonly handshakeMs: number },
  events: SocketEvents,
): LinkSocket {
  const socket = new WebSocket(url, LINK_SUBPROTOCOL, {
    headers: { authorization: `Bearer ${token}` },
    perMessageDeflate: false,
    maxPayload: LINK_LIMITS.frameBytes,
    handshakeTimeout: handshakeMs,
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
    events.onHeard();
    // No frame of the protocol is binary; as text it is no JSON either.
    events.onText(isBinary ? "" : data.toString("utf8"));
  });
  for (const sign of ["ping", "pong"] as const) socket.on(sign, () => events.onHeard());
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

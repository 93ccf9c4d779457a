import { once } from "node:events";
import type { IncomingMessage, Server } from "node:http";
import type { Duplex } from "node:stream";
import { CLOSE, HUB_PATH, LINK_LIMITS, LINK_SUBPROTOCOL, LINK_TRIAL_SUBPROTOCOL } from "@binnacle/contract";
import { type WebSocket, WebSocketServer } from "ws";
import type { Log } from "../outage.ts";
import { pathOf, takeUpgrades } from "../upgrades.adapter.ts";
import type { AgentClaims, HubClusters } from "./ports.ts";
import type { Wire } from "./session.ts";

const SUBPROTOCOLS: readonly string[] = [LINK_SUBPROTOCOL, LINK_TRIAL_SUBPROTOCOL];
/** How long a peer may take to answer a close frame. */
const CLOSE_WITHIN_MS = 5_000;
/** The same limit when the process is about to end. */
const CLOSE_AT_EXIT_MS = 500;

interface Options {
  readonly clusters: Pick<HubClusters, "readToken">;
  readonly log: Log;
  readonly isDraining: () => boolean;
  /** Called with an operator whose token has a valid signature. Whether it is revoked is not known yet. */
  readonly onOperator: (socket: WebSocket, claims: AgentClaims, isTrial: boolean) => void;
}

export interface Sockets {
  /** Accepts no more connections, and cuts off peers that do not answer a close frame. */
  close(): Promise<void>;
}

/**
 * Accepts connections of operators on the HTTP server. A refusal is the close code of an open connection, because an HTTP
 * status does not reach every WebSocket client.
 */
export function acceptOperators(server: Server, { clusters, log, isDraining, onOperator }: Options): Sockets {
  const sockets = new WebSocketServer({
    noServer: true,
    // With compression a connection takes 229 KiB of memory, without it 10.
    perMessageDeflate: false,
    // The library cuts off larger frames with its own code. Frames between the two limits are refused with ours.
    maxPayload: 2 * LINK_LIMITS.frameBytes,
    handleProtocols: (offered) => SUBPROTOCOLS.find((name) => offered.has(name)) ?? false,
    closeTimeout: CLOSE_WITHIN_MS,
  } as ConstructorParameters<typeof WebSocketServer>[0]);

  async function upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    socket.on("error", ignore);
    const claims = await clusters.readToken(bearerToken(request));
    socket.off("error", ignore);
    sockets.handleUpgrade(request, socket, head, (peer) => {
      peer.on("error", (error) => log.debug({ err: error }, "the connection of an operator broke"));
      const refusal = refusalOf(peer, claims);
      if (claims === null || refusal !== null) return peer.close(...(refusal ?? UNAUTHENTICATED));
      onOperator(peer, claims, peer.protocol === LINK_TRIAL_SUBPROTOCOL);
    });
  }

  function refusalOf({ protocol }: WebSocket, claims: AgentClaims | null): readonly [number, string] | null {
    if (isDraining()) return [CLOSE.draining, "the hub is stopping"];
    if (claims === null) return UNAUTHENTICATED;
    return SUBPROTOCOLS.includes(protocol) ? null : [CLOSE.versionTooOld, `this hub speaks ${LINK_SUBPROTOCOL}`];
  }

  const onUpgrade = (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    upgrade(request, socket, head).catch((error: unknown) => {
      log.error({ err: error }, "the connection of an operator could not be accepted");
      socket.destroy();
    });
  };
  const stopTaking = takeUpgrades(server, (request) => pathOf(request) === HUB_PATH, onUpgrade);
  return {
    async close() {
      const deadline = AbortSignal.timeout(CLOSE_AT_EXIT_MS);
      const gone = [...sockets.clients].map((peer) => once(peer, "close", { signal: deadline }));
      await Promise.allSettled(gone);
      // Not before: without this handler an operator that connects meanwhile would get another answer than the close code.
      stopTaking();
      for (const peer of sockets.clients) peer.terminate();
      sockets.close();
    },
  };
}

const UNAUTHENTICATED = [CLOSE.unauthenticated, "the token is not valid"] as const;
const ignore = () => undefined;

function bearerToken({ headers }: IncomingMessage): string {
  return /^Bearer ([^\s]+)$/i.exec(headers.authorization ?? "")?.[1] ?? "";
}

/** The socket as a session uses it. */
export const socketWire = (socket: WebSocket): Wire => ({
  get bufferedAmount() {
    return socket.bufferedAmount;
  },
  send: (text) => socket.send(text),
  close: (code, reason) => socket.close(code, reason),
  cut: () => socket.terminate(),
});

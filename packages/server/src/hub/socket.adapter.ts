import { once } from "node:events";
import type { IncomingMessage, Server } from "node:http";
import type { Duplex } from "node:stream";
import { CLOSE, HUB_PATH, LINK_LIMITS, LINK_SUBPROTOCOL } from "@binnacle/contract";
import { type WebSocket, WebSocketServer } from "ws";
import type { AgentClaims, AgentTokens } from "../clusters/agent-token.ts";
import type { Log } from "../outage.ts";

/** How long a peer may take to agree to the end of a connection. */
const CLOSE_WITHIN_MS = 5_000;
/** The same when the process is about to end. */
const GOODBYE_MS = 500;

interface Options {
  readonly tokens: AgentTokens;
  readonly log: Log;
  readonly isDraining: () => boolean;
  /** An operator whose token is genuine; whether it still counts is not known yet. */
  readonly onOperator: (socket: WebSocket, claims: AgentClaims) => void;
}

export interface Sockets {
  /** Nobody is let in any more; whoever takes no notice of a goodbye is cut off. */
  close(): Promise<void>;
}

/**
 * Takes connections of operators on the HTTP server. Whoever is refused is told by the code with which the connection is closed, since
 * an HTTP status does not reach every WebSocket client.
 */
export function acceptOperators(server: Server, { tokens, log, isDraining, onOperator }: Options): Sockets {
  const sockets = new WebSocketServer({
    noServer: true,
    // 229 KiB a connection with it, 10 without.
    perMessageDeflate: false,
    // Larger ones are cut off by the library with its own code; those in between are refused with ours.
    maxPayload: 2 * LINK_LIMITS.frameBytes,
    handleProtocols: (offered) => offered.has(LINK_SUBPROTOCOL) && LINK_SUBPROTOCOL,
    closeTimeout: CLOSE_WITHIN_MS,
  } as ConstructorParameters<typeof WebSocketServer>[0]);

  async function upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    socket.on("error", ignore);
    const claims = await tokens.read(bearerToken(request));
    socket.off("error", ignore);
    sockets.handleUpgrade(request, socket, head, (peer) => {
      peer.on("error", (error) => log.debug({ err: error }, "the connection of an operator broke"));
      const refusal = refusalOf(peer, claims);
      if (claims === null || refusal !== null) return peer.close(...(refusal ?? UNAUTHENTICATED));
      onOperator(peer, claims);
    });
  }

  function refusalOf({ protocol }: WebSocket, claims: AgentClaims | null): readonly [number, string] | null {
    if (isDraining()) return [CLOSE.draining, "the hub is stopping"];
    if (claims === null) return UNAUTHENTICATED;
    return protocol === LINK_SUBPROTOCOL ? null : [CLOSE.versionTooOld, `this hub speaks ${LINK_SUBPROTOCOL}`];
  }

  const onUpgrade = (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    upgrade(request, socket, head).catch((error: unknown) => {
      log.error({ err: error }, "the connection of an operator could not be taken");
      socket.destroy();
    });
  };
  server.on("upgrade", onUpgrade);
  // Any other request that offers an upgrade, as curl's for HTTP/2 does, is answered like one that does not.
  Object.assign(server, { shouldUpgradeCallback: isForHub });
  return {
    async close() {
      server.off("upgrade", onUpgrade);
      const patience = AbortSignal.timeout(GOODBYE_MS);
      const gone = [...sockets.clients].map((peer) => once(peer, "close", { signal: patience }));
      await Promise.allSettled(gone);
      for (const peer of sockets.clients) peer.terminate();
      sockets.close();
    },
  };
}

const UNAUTHENTICATED = [CLOSE.unauthenticated, "the token is not valid"] as const;
const ignore = () => undefined;

function isForHub({ url = "", headers }: IncomingMessage): boolean {
  return url.split("?")[0] === HUB_PATH && headers.upgrade?.toLowerCase() === "websocket";
}

/** An empty one is no token. */
function bearerToken({ headers }: IncomingMessage): string {
  return /^Bearer ([^\s]+)$/i.exec(headers.authorization ?? "")?.[1] ?? "";
}

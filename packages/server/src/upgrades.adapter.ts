import type { IncomingMessage, Server } from "node:http";
import type { Duplex } from "node:stream";

type OnUpgrade = (request: IncomingMessage, socket: Duplex, head: Buffer) => void;
type IsMine = (request: IncomingMessage) => boolean;

/**
 * Takes over the WebSocket handshakes that `isMine` selects. Any other request that offers an upgrade, as curl does for HTTP/2, is
 * answered like one without the offer. Returns the function that stops it.
 */
export function takeUpgrades(server: Server, isMine: IsMine, onUpgrade: OnUpgrade): () => void {
  const isWanted: IsMine = (request) => request.headers.upgrade?.toLowerCase() === "websocket" && isMine(request);
  const wanted = (wantedOf.get(server) ?? new Set()).add(isWanted);
  wantedOf.set(server, wanted);
  Object.assign(server, { shouldUpgradeCallback: (request: IncomingMessage) => [...wanted].some((is) => is(request)) });
  const listen: OnUpgrade = (request, socket, head) => {
    if (isWanted(request)) onUpgrade(request, socket, head);
  };
  server.on("upgrade", listen);
  return () => {
    wanted.delete(isWanted);
    server.off("upgrade", listen);
  };
}

const wantedOf = new WeakMap<Server, Set<IsMine>>();

export const pathOf = ({ url = "" }: Pick<IncomingMessage, "url">): string => url.split("?")[0] ?? "";

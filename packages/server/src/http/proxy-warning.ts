import type { FastifyRequest } from "fastify";
import type { Logger } from "pino";

/**
 * Behind a proxy that is not trusted every client has the proxy's address: one of them who guesses passwords shuts out all,
 * and the audit log does not tell them apart. Said once, because it holds for every request.
 */
export function proxyWarning(log: Logger, trustedProxies: readonly string[]): (request: FastifyRequest) => void {
  let isSaid = trustedProxies.length > 0;
  return ({ headers, raw }) => {
    if (isSaid || (headers["x-forwarded-for"] === undefined && headers["forwarded"] === undefined)) return;
    isSaid = true;
    log.warn(
      { proxy: raw.socket.remoteAddress },
      "requests come through a proxy, but BINNACLE_TRUSTED_PROXIES is not set: all clients count as one in throttles, limits and " +
        "the audit log. Set BINNACLE_TRUSTED_PROXIES to the address of the proxy, or to the range it is from",
    );
  };
}

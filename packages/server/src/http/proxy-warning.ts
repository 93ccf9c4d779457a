import type { FastifyRequest } from "fastify";
import type { Logger } from "pino";

/**
 * Behind an untrusted proxy every client has the proxy's address: one client that guesses passwords blocks all, and the
 * audit log cannot distinguish them. It is logged once, because it applies to every request.
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

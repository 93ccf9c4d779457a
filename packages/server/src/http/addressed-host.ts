import { isIP } from "node:net";
import type { FastifyRequest } from "fastify";
import { type Config, isLoopback } from "../config.ts";
import { Fault } from "../fault.ts";

/**
 * A web page can give its own name the address of a developer's machine (DNS rebinding), and then speaks to a local server as one
 * of its own origin. The password of a local server is public, so it answers only to names that nobody else can give an address.
 * Where it listens on all addresses of its machine, any address is accepted: the name of a page is an address only where that address
 * serves the page.
 *
 * Operators connect to the hub without this check, under whatever name their cluster knows: they send a token that no browser adds
 * by itself.
 */
export function acceptedHosts({
  environment,
  host,
  publicUrl,
}: Pick<Config, "environment" | "host" | "publicUrl">): (header: string) => boolean {
  if (environment !== "local") return () => true;
  const isAnywhere = WILDCARDS.includes(host);
  const known = [host, ...(publicUrl === null ? [] : [new URL(publicUrl).hostname])].map(hostName);
  return (header) => {
    const name = hostName(header.replace(/:\d*$/, ""));
    return isLoopbackName(name) || known.includes(name) || (isAnywhere && isIP(name) !== 0);
  };
}

const WILDCARDS = ["0.0.0.0", "::"];

/** Names are compared in lower case, without the root's dot; IPv6 addresses without brackets. */
const hostName = (host: string) =>
  host
    .toLowerCase()
    .replace(/\.$/, "")
    .replace(/^\[(.*)\]$/, "$1");

/** Browsers resolve all names under localhost by themselves. */
export const isLoopbackName = (name: string) => isLoopback(name) || name.endsWith(".localhost");

export function hostProblem(
  { raw, headers, routeOptions }: Pick<FastifyRequest, "raw" | "headers" | "routeOptions">,
  accepts: (header: string) => boolean,
): Fault | null {
  const { host } = headers;
  if (host === undefined) {
    // HTTP/1.1 demands it; checked here so that the answer has the common form.
    return raw.httpVersion === "1.1" ? new Fault("bad_request", "The request has no Host header.") : null;
  }
  // Node takes the first of several, and a proxy may have decided by the last.
  if (raw.rawHeaders.filter((text, index) => index % 2 === 0 && text.toLowerCase() === "host").length > 1) {
    return new Fault("bad_request", "The request has more than one Host header.");
  }
  if (routeOptions.config.isForAnyHost || accepts(host)) return null;
  return new Fault(
    "misdirected",
    "Where BINNACLE_ENVIRONMENT is local, Binnacle answers only to localhost, to the address that it listens on and to the host of " +
      "BINNACLE_PUBLIC_URL. To reach it by another name, set BINNACLE_PUBLIC_URL to the address that you use.",
  );
}

declare module "fastify" {
  interface FastifyContextConfig {
    /**
     * For what is public and holds nothing of the installation. Probes and clusters reach it by names of their own, such as
     * host.docker.internal.
     */
    readonly isForAnyHost?: true;
    /** Answered also while the server starts or stops. */
    readonly isProbe?: true;
  }
}

export const FOR_ANY_HOST = { config: { isForAnyHost: true } } as const;
export const PROBE = { config: { isForAnyHost: true, isProbe: true } } as const;

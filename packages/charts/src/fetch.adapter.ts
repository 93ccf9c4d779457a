import { lookup } from "node:dns/promises";
import http, { type IncomingMessage } from "node:http";
import https from "node:https";
import { isIP, type LookupFunction } from "node:net";
import { isAllowedHost, isPublicAddress } from "./address.ts";
import { addressProblem, hostnameOf } from "./repository-url.ts";

/** The address is one that nobody may send us to. The message is for the user to read. */
export class AddressRefused extends Error {
  override readonly name = "AddressRefused";
}

/** The other side was not reached, or did not answer as it should. The message is for our own log. */
export class Unreachable extends Error {
  override readonly name = "Unreachable";
}

export interface Fetched {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
  /** Where the answer came from, after redirects. */
  readonly url: string;
}

export interface FetchOptions {
  readonly maxBytes: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Breaks the request off. */
  readonly signal?: AbortSignal;
}

/** GET, for addresses that users write. Throws AddressRefused and Unreachable. */
export type Fetch = (url: string, options: FetchOptions) => Promise<Fetched>;

interface Address {
  readonly address: string;
  readonly family: number;
}

export interface FetchSettings {
  /** Hosts that may have any address. */
  readonly allowedHosts: readonly string[];
  readonly timeoutMs?: number;
  readonly resolve?: (hostname: string) => Promise<readonly Address[]>;
}

const TIMEOUT_MS = 20_000;
const MOST_REDIRECTS = 5;
const REDIRECTS = new Set([301, 302, 303, 307, 308]);

export function createFetch(settings: FetchSettings): Fetch {
  const { allowedHosts, timeoutMs = TIMEOUT_MS } = settings;
  const resolve = settings.resolve ?? ((hostname) => lookup(hostname, { all: true }));

  /** Every address that the name has; one that is refused refuses the name, whichever would have been connected to. */
  async function addressesOf(url: URL): Promise<readonly Address[]> {
    const problem = addressProblem(url, allowedHosts);
    if (problem) throw new AddressRefused(problem);
    const hostname = hostnameOf(url);
    const family = isIP(hostname);
    const addresses = family ? [{ address: hostname, family }] : await resolved(hostname);
    if (!isAllowedHost(allowedHosts, url) && !addresses.every(({ address }) => isPublicAddress(address))) {
      throw new AddressRefused("The address is not a public one");
    }
    return addresses;
  }

  async function resolved(hostname: string): Promise<readonly Address[]> {
    const addresses = await resolve(hostname).catch(() => []);
    if (addresses.length === 0) throw new Unreachable("its name cannot be resolved");
    return addresses;
  }

  return async (text, { maxBytes, headers = {}, signal: broken }) => {
    const timeout = AbortSignal.timeout(timeoutMs);
    const signal = broken ? AbortSignal.any([timeout, broken]) : timeout;
    let url = webAddress(text);
    let sent = headers;
    for (let redirects = 0; redirects <= MOST_REDIRECTS; redirects++) {
      const addresses = await within(signal, addressesOf(url));
      const response = await request(url, addresses, sent, signal);
      const { statusCode: status = 0, headers: received } = response;
      if (!REDIRECTS.has(status) || received.location === undefined) {
        return { status, headers: received, body: await bodyOf(response, maxBytes), url: url.href };
      }
      response.destroy();
      const next = redirected(url, received.location);
      // What a user's credential or ours is meant for is the host it was given to.
      if (next.origin !== url.origin) sent = withoutAuthorization(sent);
      url = next;
    }
    throw new Unreachable("it redirects too often");
  };
}

function webAddress(text: string): URL {
  const url = URL.parse(text);
  if (!url || !/^https?:$/.test(url.protocol))
    throw new AddressRefused("The address must begin with https:// or http://");
  if (url.username || url.password) throw new AddressRefused("The address must not hold a user name or a password");
  return url;
}

function redirected(from: URL, location: string): URL {
  const next = URL.parse(location, from.href);
  if (!next) throw new Unreachable("it redirects to nowhere");
  if (from.protocol === "https:" && next.protocol === "http:") throw new Unreachable("it redirects to plain HTTP");
  return webAddress(next.href);
}

function withoutAuthorization(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => name.toLowerCase() !== "authorization"));
}

/**
 * Connects to the addresses that were checked and looks nothing up again: a name may have another address the next time
 * it is asked for.
 */
function request(
  url: URL,
  addresses: readonly Address[],
  headers: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const checked: LookupFunction = (_hostname, options, done) => {
    const [first] = addresses;
    if (options.all) done(null, [...addresses]);
    else if (first) done(null, first.address, first.family);
  };
  return new Promise((resolve, reject) => {
    const fail = (error: Error) => reject(unreachable(signal, error));
    const { get } = url.protocol === "https:" ? https : http;
    const options = {
      signal,
      lookup: checked,
      agent: false,
      headers: { "user-agent": "binnacle", "accept-encoding": "identity", ...headers },
    };
    get(url, options, resolve).on("error", fail);
  });
}

async function bodyOf(response: IncomingMessage, maxBytes: number): Promise<Buffer> {
  const encoding = response.headers["content-encoding"] ?? "identity";
  const refuse = (message: string) => {
    response.destroy();
    return new Unreachable(message);
  };
  // Unpacking is where a few bytes become many; nobody was asked for packed ones.
  if (encoding !== "identity") throw refuse("its answer is compressed");
  if (Number(response.headers["content-length"] ?? 0) > maxBytes) throw refuse("its answer is too large");
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > maxBytes) throw refuse("its answer is too large");
      chunks.push(chunk);
    }
  } catch (error) {
    throw error instanceof Unreachable ? error : new Unreachable("its answer broke off");
  }
  return Buffer.concat(chunks);
}

function unreachable(signal: AbortSignal, error: NodeJS.ErrnoException): Unreachable {
  if (signal.aborted) return new Unreachable("it did not answer in time");
  return new Unreachable(error.code ? `the connection failed (${error.code})` : "the connection failed");
}

/** A resolver cannot be interrupted; it is left behind. */
async function within<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  if (signal.aborted) throw new Unreachable("it did not answer in time");
  let onAbort = () => {};
  const late = new Promise<never>((_, reject) => {
    onAbort = () => reject(new Unreachable("it did not answer in time"));
    signal.addEventListener("abort", onAbort);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}

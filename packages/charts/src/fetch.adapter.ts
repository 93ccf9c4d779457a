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
  /** GET if it is absent. Redirects of other requests are answers: a change is not made at another address. */
  readonly method?: "DELETE" | "PATCH" | "POST" | "PUT";
  readonly body?: string;
  /** A redirect is the answer, also to GET. */
  readonly staysAtAddress?: boolean;
  readonly headers?: Readonly<Record<string, string>>;
  /** Breaks the request off. */
  readonly signal?: AbortSignal;
}

/** For addresses that users write. Throws AddressRefused and Unreachable. */
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

/** Returns the addresses of a host. Throws AddressRefused and Unreachable. */
export type CheckedAddresses = (url: URL, signal?: AbortSignal) => Promise<readonly Address[]>;

export function createAddressCheck(settings: Pick<FetchSettings, "allowedHosts" | "resolve">): CheckedAddresses {
  const { allowedHosts } = settings;
  const resolve = settings.resolve ?? ((hostname) => lookup(hostname, { all: true }));

  async function resolved(hostname: string): Promise<readonly Address[]> {
    const addresses = await resolve(hostname).catch(() => []);
    if (addresses.length === 0) throw new Unreachable("its name cannot be resolved");
    return addresses;
  }

  // Every address that the name has; one that is refused refuses the name, whichever would have been connected to.
  return async (url, signal) => {
    const problem = addressProblem(url, allowedHosts);
    if (problem) throw new AddressRefused(problem);
    const hostname = hostnameOf(url);
    const family = isIP(hostname);
    const found = family ? Promise.resolve([{ address: hostname, family }]) : resolved(hostname);
    const addresses = await (signal ? within(signal, found) : found);
    if (!isAllowedHost(allowedHosts, url) && !addresses.every(({ address }) => isPublicAddress(address))) {
      throw new AddressRefused("The address is not a public one");
    }
    return addresses;
  };
}

export function createFetch(settings: FetchSettings): Fetch {
  const { timeoutMs = TIMEOUT_MS } = settings;
  const addressesOf = createAddressCheck(settings);

  return async (text, { maxBytes, method, body, headers = {}, signal: broken, staysAtAddress = false }) => {
    const timeout = AbortSignal.timeout(timeoutMs);
    const signal = broken ? AbortSignal.any([timeout, broken]) : timeout;
    let url = webAddress(text);
    let sent = headers;
    for (let redirects = 0; redirects <= MOST_REDIRECTS; redirects++) {
      const addresses = await addressesOf(url, signal);
      const response = await request(url, addresses, { headers: sent, method, body }, signal);
      const { statusCode: status = 0, headers: received } = response;
      const isAnswer = staysAtAddress || method !== undefined || !REDIRECTS.has(status);
      if (isAnswer || received.location === undefined) {
        return { status, headers: received, body: await bodyOf(response, maxBytes), url: url.href };
      }
      response.destroy();
      const next = redirected(url, received.location);
      // A credential is sent only to the host that it was stored for, and any header may be one.
      if (next.origin !== url.origin) sent = withoutCredentials(sent);
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

function withoutCredentials(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => name.toLowerCase() === "accept"));
}

type Sent = { readonly [Key in "body" | "headers" | "method"]: FetchOptions[Key] | undefined };

/**
 * Connects to the addresses that were checked and looks nothing up again: a name may have another address the next time
 * it is asked for.
 */
function request(
  url: URL,
  addresses: readonly Address[],
  { headers = {}, method, body = "" }: Sent,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const checked: LookupFunction = (_hostname, options, done) => {
    const [first] = addresses;
    if (options.all) done(null, [...addresses]);
    else if (first) done(null, first.address, first.family);
  };
  return new Promise((resolve, reject) => {
    const fail = (error: Error) => reject(unreachable(signal, error));
    const { request: send } = url.protocol === "https:" ? https : http;
    const options = {
      method: method ?? "GET",
      signal,
      lookup: checked,
      agent: false,
      headers: { "user-agent": "binnacle", "accept-encoding": "identity", ...headers },
    };
    send(url, options, resolve).on("error", fail).end(body);
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

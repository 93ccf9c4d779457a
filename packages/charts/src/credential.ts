import type { Fetch } from "./fetch.adapter.ts";
import { isOci, webAddressOf } from "./repository-url.ts";

/** What an organization has stored for everything below one address. */
export interface RepositoryCredential {
  readonly url: string;
  readonly username: string;
  readonly password: string;
}

interface Place {
  readonly origin: string;
  /** Without slashes at its end. */
  readonly path: string;
}

/** A server may read an escaped slash as one, and so go out of the folder that the address seems to be in. */
const ESCAPED_SLASH = /%2f|%5c/i;

function placeOf(address: string): Place | null {
  const url = webAddressOf(address);
  if (!url || ESCAPED_SLASH.test(url.pathname)) return null;
  return { origin: `${isOci(address) ? "oci " : ""}${url.origin}`, path: url.pathname.replace(/\/+$/, "") };
}

/** As it is stored, so that an address has one spelling; null for what cannot be the address of a repository. */
export function canonicalRepositoryUrl(address: string): string | null {
  const [url, place] = [webAddressOf(address), placeOf(address)];
  if (!url || !place || url.username || url.password || url.search || url.hash) return null;
  return `${isOci(address) ? "oci:" : url.protocol}//${url.host}${place.path}`;
}

/**
 * The credential for an address: the one with the longest path that the address is below, by whole steps, on the same
 * scheme, host and port.
 */
export function credentialFor<C extends { readonly url: string }>(
  credentials: readonly C[],
  address: string,
): C | null {
  const asked = placeOf(address);
  const fitting = credentials.flatMap((credential) => {
    const place = placeOf(credential.url);
    return asked && place && isBelow(asked, place) ? [{ credential, length: place.path.length }] : [];
  });
  return fitting.toSorted((one, other) => other.length - one.length)[0]?.credential ?? null;
}

const isBelow = (asked: Place, place: Place): boolean =>
  asked.origin === place.origin && `${asked.path}/`.startsWith(`${place.path}/`);

export const basicAuthorization = ({ username, password }: Omit<RepositoryCredential, "url">): string =>
  `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}`;

/** Presents at each address what is stored for it, and nothing elsewhere. The fetch drops it where a redirect leaves the host. */
export const authorizing =
  (fetch: Fetch, credentials: readonly RepositoryCredential[]): Fetch =>
  (url, options) => {
    const credential = credentialFor(credentials, url);
    if (!credential) return fetch(url, options);
    const authorization = basicAuthorization(credential);
    return fetch(url, { ...options, headers: { ...options.headers, authorization } });
  };

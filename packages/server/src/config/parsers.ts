import { isIP } from "node:net";
import { list, type Parser } from "@binnacle/process";

export function flag(text: string): boolean {
  if (text !== "true" && text !== "false") throw new Error("must be true or false");
  return text === "true";
}

export function nonEmptyList<T>(item: Parser<T>): Parser<readonly T[]> {
  return (text) => {
    const items = list(item)(text);
    if (items.length === 0) throw new Error("must name at least one");
    return items;
  };
}

export function origin(text: string): string {
  const address = URL.parse(text);
  if (!address || !/^https?:$/.test(address.protocol) || address.origin !== text.replace(/\/$/, "")) {
    throw new Error("must list origins such as https://console.example.com");
  }
  return address.origin;
}

const PREFIX_BITS: Record<number, number> = { 4: 32, 6: 128 };

export function addressRange(text: string): string {
  const [address = "", prefix = "0", ...more] = text.split("/");
  const bits = PREFIX_BITS[isIP(address)];
  if (bits === undefined || more.length > 0 || !/^\d{1,3}$/.test(prefix) || Number(prefix) > bits) {
    throw new Error("must list IP addresses or CIDR ranges");
  }
  return text;
}

/** Clouds take no single address as a range. */
export function cidrRange(text: string): string {
  if (!text.includes("/")) throw new Error("must list CIDR ranges such as 203.0.113.0/24");
  return addressRange(text);
}

/** A registry is a host with an optional port and path, because image references have no scheme. */
export function imageRegistry(text: string): string {
  if (!/^[a-z0-9.-]+(?::\d{1,5})?(?:\/[a-z0-9]+(?:[._-]+[a-z0-9]+)*)*$/.test(text))
    throw new Error("must be a registry such as registry.example.com/mirror, without https://");
  return text;
}

export function email(text: string): string {
  if (!/^[^\s@]+@[^\s@]+$/.test(text)) throw new Error("must be an email address");
  return text.toLowerCase();
}

export function longSecret(text: string): string {
  if (text.length < 32) throw new Error("must have at least 32 characters");
  return text;
}

export function password(text: string): string {
  if (text.length < 8 || text.length > 128) throw new Error("must have 8 to 128 characters");
  return text;
}

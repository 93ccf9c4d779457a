import { HUB_PATH } from "@binnacle/contract";

/** From a variable's text to its value. The error of one that does not fit continues a sentence: "BINNACLE_HELM must …". */
export type Parser<T> = (text: string) => T;

export function filled(text: string): string {
  if (!text.trim()) throw new Error("must not be blank");
  return text;
}

export function oneOf<const T extends string>(choices: readonly T[]): Parser<T> {
  return (text) => {
    const choice = choices.find((candidate) => candidate === text);
    if (!choice) throw new Error(`must be one of ${choices.join(", ")}`);
    return choice;
  };
}

export function integer(minimum: number, maximum: number): Parser<number> {
  return (text) => {
    const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
    if (!(value >= minimum && value <= maximum)) {
      throw new Error(`must be a whole number from ${minimum} to ${maximum}`);
    }
    return value;
  };
}

function address(text: string, ...protocols: readonly string[]): URL {
  const url = URL.parse(text);
  if (!url || !protocols.includes(url.protocol)) {
    throw new Error(`must be an address that begins with ${protocols.map((name) => `${name}//`).join(" or ")}`);
  }
  if (url.username || url.password) throw new Error("must have neither a user nor a password");
  if (url.search || url.hash) throw new Error("must have neither a query nor a fragment");
  return url;
}

/** The control plane's address alone stands for its hub. */
export function hubUrl(text: string): string {
  const url = address(text, "ws:", "wss:");
  return url.pathname === "/" ? `${url.origin}${HUB_PATH}` : url.href;
}

/** An address that paths are appended to. */
export const webUrl: Parser<string> = (text) => address(text, "http:", "https:").href.replace(/\/+$/, "");

export function clusterId(text: string): string {
  if (!/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text)) throw new Error("must be a UUID");
  return text.toLowerCase();
}

export function kubernetesName(text: string): string {
  if (text.length > 63 || !/^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/.test(text)) {
    throw new Error("must be a Kubernetes name: at most 63 lower-case letters, digits and hyphens");
  }
  return text;
}

/** It travels in a header, where blanks and line ends have no place; a file it was copied from often ends with one. */
export function token(text: string): string {
  const trimmed = text.trim();
  if (!/^[\x21-\x7e]+$/.test(trimmed)) throw new Error("must be a token: printable characters without blanks");
  return trimmed;
}

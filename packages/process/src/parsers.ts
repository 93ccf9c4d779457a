/**
 * Converts the text of a variable to its value. The message of a thrown error continues a sentence: "BINNACLE_PORT must
 * …".
 */
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

/** Accepts a URL and returns it as it was written. */
export function url(...protocols: readonly string[]): Parser<string> {
  return (text) => {
    if (!protocols.includes(URL.parse(text)?.protocol ?? "")) {
      throw new Error(`must be an address that begins with ${protocols.map((name) => `${name}//`).join(" or ")}`);
    }
    return text;
  };
}

/** Accepts a URL without credentials, query and fragment. */
export function plainUrl(...protocols: readonly string[]): Parser<URL> {
  return (text) => {
    const address = new URL(url(...protocols)(text));
    if (address.username || address.password) throw new Error("must have neither a user nor a password");
    if (address.search || address.hash) throw new Error("must have neither a query nor a fragment");
    return address;
  };
}

/** Accepts a URL that paths are appended to, and removes the trailing slash. */
export const baseUrl: Parser<string> = (text) => plainUrl("http:", "https:")(text).href.replace(/\/+$/, "");

/** Accepts a comma-separated list; an empty text is the empty list. */
export function list<T>(item: Parser<T>): Parser<readonly T[]> {
  return (text) =>
    text
      .split(",")
      .map((part) => part.trim())
      .filter(Boolean)
      .map(item);
}

/** `charts.internal` or `10.0.0.7:5000`. */
export function hostWithPort(text: string): string {
  const address = URL.parse(`http://${text}`);
  const isBare = address && (address.host === text.toLowerCase() || `${address.host}:80` === text.toLowerCase());
  if (!isBare) throw new Error("must list hosts such as charts.internal or 10.0.0.7:5000");
  return text.toLowerCase();
}

const OFFSET = 0x811c9dc5;
const PRIME = 0x01000193;
/** Letters that make no words and are not taken for one another. */
const SAFE = "bcdfghjklmnpqrstvwxz2456789";

/** A number that is always the same for a text and looks random. */
export function numberOf(text: string): number {
  let hash = OFFSET;
  for (let index = 0; index < text.length; index++) {
    hash ^= text.charCodeAt(index);
    hash = Math.imul(hash, PRIME);
  }
  // FNV alone leaves texts that differ in their last letter close to each other.
  hash ^= hash >>> 16;
  hash = Math.imul(hash, 0x7feb352d);
  hash ^= hash >>> 15;
  return hash >>> 0;
}

/** From 0 up to but not including 1. */
export const fractionOf = (text: string): number => numberOf(text) / 2 ** 32;

const encoded = (number: number): string => String(number).replace(/\d/g, (digit) => SAFE[Number(digit)] ?? "");

/** The hash in the name of a ReplicaSet or a revision. */
export const shortHash = (value: unknown): string => encoded(numberOf(canonical(value)));

/** The five letters behind the name of a pod: the first of a row that is not taken. */
export function freeSuffix(seed: string, isTaken: (suffix: string) => boolean): string {
  for (let attempt = 0; ; attempt++) {
    let rest = numberOf(`${seed}/${attempt}`);
    let suffix = "";
    for (let index = 0; index < 5; index++) {
      suffix += SAFE[rest % SAFE.length] ?? "";
      rest = Math.floor(rest / SAFE.length);
    }
    if (!isTaken(suffix)) return suffix;
  }
}

/** The same text for the same value, in whatever order its fields stand. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null";
  const fields = Object.entries(value)
    .filter(([, field]) => field !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${fields.map(([name, field]) => `${JSON.stringify(name)}:${canonical(field)}`).join(",")}}`;
}

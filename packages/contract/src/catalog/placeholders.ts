/**
 * `${name}` stands for a value, `$${` for the two characters `${`. The one grammar of placeholders, for stack templates and
 * for the exports of addons.
 */

export interface Placeholder {
  readonly name: string;
}
type Part = string | Placeholder;

const TOKEN = /\$\$\{|\$\{([^}]*)\}/g;

/** The text in pieces: what stands for itself, and what is to be filled in. */
export function scanPlaceholders(text: string): Part[] {
  const parts: Part[] = [];
  let end = 0;
  for (const match of text.matchAll(TOKEN)) {
    if (match.index > end) parts.push(text.slice(end, match.index));
    parts.push(match[1] === undefined ? "${" : { name: match[1] });
    end = match.index + match[0].length;
  }
  if (end < text.length) parts.push(text.slice(end));
  return parts;
}

/** The names of all placeholders anywhere in a value; keys of objects are not looked at. */
export function placeholdersIn(value: unknown): Set<string> {
  const texts = typeof value === "string" ? scanPlaceholders(value) : [];
  const own = texts.flatMap((part) => (typeof part === "string" ? [] : [part.name]));
  const inner = typeof value === "object" && value !== null ? Object.values(value) : [];
  return new Set([...own, ...inner.flatMap((item) => [...placeholdersIn(item)])]);
}

/** A string that is exactly one placeholder becomes the value itself, of whatever type; elsewhere its text is written in. */
export function fillPlaceholders(value: unknown, meaning: (name: string) => unknown): unknown {
  if (typeof value === "string") return filledText(value, meaning);
  if (Array.isArray(value)) return value.map((item) => fillPlaceholders(item, meaning));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, fillPlaceholders(item, meaning)]));
}

function filledText(text: string, meaning: (name: string) => unknown): unknown {
  const parts = scanPlaceholders(text);
  const [first] = parts;
  if (parts.length === 1 && typeof first === "object") return meaning(first.name);
  return parts.map((part) => (typeof part === "string" ? part : String(meaning(part.name)))).join("");
}

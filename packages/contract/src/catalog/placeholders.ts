/**
 * `${name}` stands for a value, `$${` for the two characters `${`. The one grammar of placeholders, for stack templates and
 * for the exports of addons.
 */

export interface Placeholder {
  readonly name: string;
}
type Part = string | Placeholder;

/**
 * The text in pieces: what stands for itself, and what is to be filled in. It goes forward only. A regular expression
 * would search for the end of each placeholder anew, and a text of nothing but beginnings would take the square of its
 * length.
 */
export function scanPlaceholders(text: string): Part[] {
  const parts: Part[] = [];
  const lastEnd = text.lastIndexOf("}");
  let at = 0;
  for (let start = text.indexOf("${"); start !== -1; start = text.indexOf("${", Math.max(at, start + 1))) {
    const isEscaped = start > at && text[start - 1] === "$";
    // A placeholder that never ends stands for itself.
    if (!isEscaped && start > lastEnd) continue;
    const plain = text.slice(at, isEscaped ? start - 1 : start);
    if (plain) parts.push(plain);
    const end = isEscaped ? start + 1 : text.indexOf("}", start);
    parts.push(isEscaped ? "${" : { name: text.slice(start + 2, end) });
    at = end + 1;
  }
  if (at < text.length) parts.push(text.slice(at));
  return parts;
}

/** The names of all placeholders anywhere in a value; keys of objects are not looked at. */
export function placeholdersIn(value: unknown): Set<string> {
  const names = new Set<string>();
  collectPlaceholders(value, names);
  return names;
}

function collectPlaceholders(value: unknown, names: Set<string>): void {
  if (typeof value === "string") {
    for (const part of scanPlaceholders(value)) if (typeof part === "object") names.add(part.name);
  } else if (typeof value === "object" && value !== null) {
    for (const item of Object.values(value)) collectPlaceholders(item, names);
  }
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

import { parse } from "yaml";

/** One version of a chart, as the index of a repository lists it. */
export interface IndexEntry {
  readonly version: string;
  readonly urls: readonly string[];
  readonly digest: string | null;
}

export class IndexProblem extends Error {
  override readonly name = "IndexProblem";
}

const LARGEST_ENTRY_CHARACTERS = 64 * 1024;
const MOST_ENTRIES = 10_000;

/**
 * The texts of the entries of one chart. Indexes of tens of megabytes are common, and to parse one takes many seconds in
 * which nobody else is served; so the lines of the one chart are cut out first. That is sound: in block style, nothing of
 * a chart stands at or left of the column of its name but the dashes of its list.
 */
export function entriesOf(index: string, chart: string): string[] {
  if (index.trimStart().startsWith("{")) return entriesOfJson(index, chart);
  const lines = new Lines(index);
  for (let line = lines.next(); line !== null; line = lines.next()) {
    if (/^entries:\s*(#.*)?$/.test(line)) return cutOut(lines, chart);
  }
  throw new IndexProblem("it has no entries");
}

/** One line at a time: splitting everything would take several times the memory. */
class Lines {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  next(): string | null {
    if (this.#at >= this.#text.length) return null;
    const end = this.#text.indexOf("\n", this.#at);
    const line = this.#text.slice(this.#at, end === -1 ? undefined : end);
    this.#at = end === -1 ? this.#text.length : end + 1;
    return line.endsWith("\r") ? line.slice(0, -1) : line;
  }
}

const indentOf = (line: string) => line.length - line.trimStart().length;
const isBlank = (line: string) => /^\s*(#.*)?$/.test(line);

function cutOut(lines: Lines, chart: string): string[] {
  const names = new Set([`${chart}:`, `"${chart}":`, `'${chart}':`]);
  const entries: string[] = [];
  let column: number | null = null;
  let current: string[] | null = null;
  let isWanted = false;
  const finish = () => {
    if (current) entries.push(asValue(current));
    current = null;
  };
  for (let line = lines.next(); line !== null; line = lines.next()) {
    if (isBlank(line)) {
      current?.push(line);
      continue;
    }
    const indent = indentOf(line);
    if (indent === 0 && !line.startsWith("-")) break;
    column ??= indent;
    const isItem = line.startsWith("-", indent);
    if (indent === column && !isItem) {
      finish();
      if (isWanted) break;
      isWanted = names.has(line.trim());
    } else if (isWanted && isItem && (current === null || indent <= indentOf(current[0] ?? ""))) {
      finish();
      if (entries.length >= MOST_ENTRIES) throw new IndexProblem("it lists too many versions");
      current = [line];
    } else current?.push(line);
  }
  finish();
  return entries;
}

/** The lines of a list's item, with the dash as one more space. */
const asValue = ([first = "", ...rest]: readonly string[]) => [first.replace("-", " "), ...rest].join("\n");

function entriesOfJson(index: string, chart: string): string[] {
  let value: unknown;
  try {
    value = JSON.parse(index);
  } catch {
    throw new IndexProblem("it is no JSON");
  }
  const entries = (value as { entries?: unknown }).entries;
  if (typeof entries !== "object" || entries === null) throw new IndexProblem("it has no entries");
  const versions: unknown = Object.hasOwn(entries, chart) ? (entries as Record<string, unknown>)[chart] : [];
  return Array.isArray(versions) ? versions.slice(0, MOST_ENTRIES).map((entry) => JSON.stringify(entry)) : [];
}

/** Null for an entry that is of no use: without a version, without an address, or not to be read. */
export function parseEntry(text: string): IndexEntry | null {
  if (text.length > LARGEST_ENTRY_CHARACTERS) return null;
  let entry: Record<string, unknown>;
  try {
    entry = parse(text, { maxAliasCount: 0, uniqueKeys: false, logLevel: "error" });
  } catch {
    return null;
  }
  if (typeof entry !== "object" || entry === null) return null;
  const { version, urls, digest } = entry;
  const addresses = Array.isArray(urls) ? urls.filter((url) => typeof url === "string") : [];
  if ((typeof version !== "string" && typeof version !== "number") || addresses.length === 0) return null;
  return { version: String(version), urls: addresses, digest: typeof digest === "string" ? digest : null };
}

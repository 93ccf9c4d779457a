import { ReadingProblem } from "./problems.ts";
import { yamlDocuments } from "./yaml.ts";

/** One version of a chart, as the index of a repository lists it. */
export interface IndexEntry {
  readonly version: string;
  readonly urls: readonly string[];
  readonly digest: string | null;
}

const LARGEST_ENTRY_CHARACTERS = 64 * 1024;
const LARGEST_JSON_BYTES = 8 * 1024 * 1024;
const LONGEST_LINE_BYTES = 1024 * 1024;
const LONGEST_VERSION = 128;
const LONGEST_URL = 2000;
const LONGEST_DIGEST = 200;
const MOST_URLS = 10;
const MOST_ENTRIES = 10_000;
const LIMITS = { depth: 64, nodes: 10_000, aliases: 0, repeatedKeys: "last wins" } as const;

/**
 * The texts of the entries of one chart. Indexes of tens of megabytes are common, and to parse one takes many seconds; so
 * the lines of the one chart are cut out first. That is sound: in block style, nothing of a chart stands at or left of the
 * column of its name but the dashes of its list.
 */
export function* entriesOf(index: Buffer, chart: string): Generator<string> {
  if (index.toString("latin1", 0, 1024).trimStart().startsWith("{")) {
    yield* entriesOfJson(index, chart);
    return;
  }
  const lines = linesOf(index);
  for (const line of lines) {
    if (/^entries:\s*(#.*)?$/.test(line)) {
      yield* cutOut(lines, chart);
      return;
    }
  }
  throw new ReadingProblem("it has no entries");
}

/** One line at a time: splitting everything would take several times the memory. */
function* linesOf(text: Buffer): Generator<string> {
  for (let at = 0; at < text.length; ) {
    const found = text.indexOf("\n", at);
    const end = found === -1 ? text.length : found;
    if (end - at > LONGEST_LINE_BYTES) throw new ReadingProblem("it has a line that is too long");
    const line = text.toString("utf8", at, end);
    at = end + 1;
    yield line.endsWith("\r") ? line.slice(0, -1) : line;
  }
}

const indentOf = (line: string) => line.length - line.trimStart().length;
const isBlank = (line: string) => /^\s*(#.*)?$/.test(line);

/** The lines of an item of a list, as far as an entry may be large. */
class Item {
  readonly indent: number;
  readonly #lines: string[];
  #room = LARGEST_ENTRY_CHARACTERS;

  constructor(first: string) {
    this.indent = indentOf(first);
    // With the dash as one more space.
    this.#lines = [first.replace("-", " ")];
  }

  add(line: string): void {
    this.#room -= line.length + 1;
    if (this.#room >= 0) this.#lines.push(line);
  }

  /** Empty where it is too large to be of use. */
  get text(): string {
    return this.#room >= 0 ? this.#lines.join("\n") : "";
  }
}

function* cutOut(lines: Iterable<string>, chart: string): Generator<string> {
  const names = new Set([`${chart}:`, `"${chart}":`, `'${chart}':`]);
  let column: number | null = null;
  let current: Item | null = null;
  let isWanted = false;
  let count = 0;
  for (const line of lines) {
    if (isBlank(line)) {
      current?.add(line);
      continue;
    }
    const indent = indentOf(line);
    if (indent === 0 && !line.startsWith("-")) break;
    column ??= indent;
    const isItem = line.startsWith("-", indent);
    if (indent === column && !isItem) {
      if (current) yield current.text;
      current = null;
      if (isWanted) break;
      isWanted = names.has(line.trim());
    } else if (isWanted && isItem && (current === null || indent <= current.indent)) {
      if (current) yield current.text;
      if (++count > MOST_ENTRIES) throw new ReadingProblem("it lists too many versions");
      current = new Item(line);
    } else current?.add(line);
  }
  if (current) yield current.text;
}

function* entriesOfJson(index: Buffer, chart: string): Generator<string> {
  if (index.length > LARGEST_JSON_BYTES) throw new ReadingProblem("it is too large for JSON");
  let value: unknown;
  try {
    value = JSON.parse(index.toString("utf8"));
  } catch {
    throw new ReadingProblem("it is not JSON");
  }
  const entries = (value as { entries?: unknown }).entries;
  if (typeof entries !== "object" || entries === null) throw new ReadingProblem("it has no entries");
  const versions: unknown = Object.hasOwn(entries, chart) ? (entries as Record<string, unknown>)[chart] : [];
  if (Array.isArray(versions)) yield* versions.slice(0, MOST_ENTRIES).map((entry) => JSON.stringify(entry));
}

/** Null for an entry that is of no use: without a version, without an address, or not to be read. */
export function parseEntry(text: string): IndexEntry | null {
  if (text === "" || text.length > LARGEST_ENTRY_CHARACTERS) return null;
  let entry: unknown;
  try {
    [entry] = yamlDocuments(text, LIMITS);
  } catch {
    return null;
  }
  if (typeof entry !== "object" || entry === null) return null;
  const { version, urls, digest } = entry as Readonly<Record<string, unknown>>;
  const addresses = (Array.isArray(urls) ? urls.slice(0, MOST_URLS) : []).filter(isAddress);
  if ((typeof version !== "string" && typeof version !== "number") || addresses.length === 0) return null;
  const stated = typeof digest === "string" ? digest : null;
  if (String(version).length > LONGEST_VERSION || (stated?.length ?? 0) > LONGEST_DIGEST) return null;
  return { version: String(version), urls: addresses, digest: stated };
}

const isAddress = (url: unknown): url is string => typeof url === "string" && url.length <= LONGEST_URL;

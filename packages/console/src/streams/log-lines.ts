import type { LogLine } from "@binnacle/client";
import { INVISIBLE } from "../components/visible-text.ts";
import type { StreamState } from "./follow.runner.ts";

export type Level = "error" | "warning" | "info" | "debug";

export interface Line extends LogLine {
  /** Counts all lines of the stream, so that a line keeps its number while older ones are dropped. */
  readonly number: number;
  /** The text without terminal escapes. */
  readonly text: string;
  readonly level: Level | null;
}

/** A place in the stream where lines are missing. */
export interface Gap {
  readonly number: number;
  /** Null where nobody knows how many. */
  readonly dropped: number | null;
}

export type Entry = Line | Gap;
export const isGap = (entry: Entry): entry is Gap => "dropped" in entry;

// biome-ignore lint/suspicious/noControlCharactersInRegex: terminal escapes begin with a control character.
const ESCAPES = /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[@-Z\\-_])/g;

/** Colours and cursor movements of a terminal are removed, and what would hide or reorder text is shown as a box. */
export const plainText = (line: string): string => line.replace(ESCAPES, "").replace(INVISIBLE, "␦");

/** Only the opening of a line is searched for a level: a long line is data, and reading all of it would cost time. */
const HEAD = 200;
const LEVELS: readonly (readonly [Level, RegExp])[] = [
  ["error", /\b(?:error|err|fatal|panic|critical|crit)\b/i],
  ["warning", /\b(?:warn|warning)\b/i],
  ["debug", /\b(?:debug|trace)\b/i],
  ["info", /\b(?:info|notice)\b/i],
];
const NAMED = /(?:level|severity|lvl)"?\s*[=:]\s*"?(\w+)/i;

/** The level that a line names itself: by a field `level`, or by a word near its beginning. */
export function levelOf(text: string): Level | null {
  const head = text.slice(0, HEAD);
  const named = NAMED.exec(head)?.[1];
  return LEVELS.find(([, pattern]) => pattern.test(named ?? head))?.[0] ?? null;
}

export interface Filter {
  readonly text: string;
  readonly isPattern: boolean;
  readonly pod: string | null;
  readonly container: string | null;
  readonly level: Level | null;
}

export const NO_FILTER: Filter = { text: "", isPattern: false, pod: null, container: null, level: null };

/** Makes a test of a pattern, or says why it is invalid. */
export type CompilePattern = (pattern: string) => ((text: string) => boolean) | Error;

/** A test of lines, or the reason why the pattern is invalid. Gaps are always shown. */
export function matcherOf(filter: Filter, compile: CompilePattern): ((entry: Entry) => boolean) | Error {
  const wanted = filter.text.toLowerCase();
  const finds =
    filter.isPattern && filter.text !== ""
      ? compile(filter.text)
      : (text: string): boolean => text.toLowerCase().includes(wanted);
  if (finds instanceof Error) return finds;
  return (entry) =>
    isGap(entry) ||
    ((filter.pod === null || entry.pod === filter.pod) &&
      (filter.container === null || entry.container === filter.container) &&
      (filter.level === null || entry.level === filter.level) &&
      (filter.text === "" || finds(entry.text)));
}

/** Why a view of lines is empty, in words; null where nothing can be said yet. */
export function emptyText(of: {
  readonly state: StreamState;
  readonly kept: number;
  readonly received: number;
  readonly isPrevious: boolean;
}): string | null {
  if (of.state === "failed" || of.state === "opening") return null;
  if (of.kept > 0) return "No line passes the filters.";
  if (of.received > 0) return "Cleared. Lines are shown as they come.";
  if (of.isPrevious) return "Nothing is kept from before the last restart.";
  return of.state === "ended" ? "Nothing was written." : "Nothing has been written yet. Lines are shown as they come.";
}

const MOST_LINES = 100_000;
/** Lines are let go in one step, because moving 100,000 of them for every new one would take too long. */
const SLACK = 10_000;

/** The lines that are kept, and those of them that pass the filter. Each change makes a new `version`, and is told to whoever listens. */
export class LogBuffer {
  readonly #listeners = new Set<() => void>();
  #entries: Entry[] = [];
  #shown: Entry[] = [];
  #matches: (entry: Entry) => boolean = () => true;
  #next = 1;
  #lines = 0;
  #shownLines = 0;
  readonly #most: number;
  version = 0;

  constructor(most = MOST_LINES) {
    this.#most = most;
  }

  /** Returns how to stop listening. */
  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  };

  /** The entries that pass the filter, oldest first. */
  get shown(): readonly Entry[] {
    return this.#shown;
  }

  /** How many lines pass the filter. Places where lines are missing are none. */
  get shownLines(): number {
    return this.#shownLines;
  }

  /** How many lines have come in this stream, with those that are not kept any more. */
  get received(): number {
    return this.#lines;
  }

  get kept(): number {
    return this.#entries.length;
  }

  append(items: readonly (LogLine | { readonly dropped: number | null })[]): void {
    for (const item of items) {
      const entry = "dropped" in item ? { number: this.#next++, dropped: item.dropped } : this.#lineOf(item);
      this.#entries.push(entry);
      if (this.#matches(entry)) this.#show(entry);
    }
    if (this.#entries.length > this.#most + SLACK) this.#letGo();
    this.#tell();
  }

  filter(matches: (entry: Entry) => boolean): void {
    this.#matches = matches;
    this.#showOnly(this.#entries.filter(matches));
    this.#tell();
  }

  /** Takes away what is on screen; the lines have come nevertheless. */
  clear(): void {
    this.#entries = [];
    this.#showOnly([]);
    this.#tell();
  }

  /** Begins with another stream, of which nothing has come. */
  begin(): void {
    this.#lines = 0;
    this.clear();
  }

  #show(entry: Entry): void {
    this.#shown.push(entry);
    if (!isGap(entry)) this.#shownLines++;
  }

  #showOnly(entries: Entry[]): void {
    this.#shown = entries;
    this.#shownLines = entries.filter((entry) => !isGap(entry)).length;
  }

  #tell(): void {
    this.version++;
    for (const listener of this.#listeners) listener();
  }

  #lineOf(line: LogLine): Line {
    this.#lines++;
    const text = plainText(line.line);
    return { ...line, number: this.#next++, text, level: levelOf(text) };
  }

  #letGo(): void {
    this.#entries = this.#entries.slice(-this.#most);
    const first = this.#entries[0]?.number ?? 0;
    this.#showOnly(this.#shown.filter(({ number }) => number >= first));
  }
}

/** The index of the first line at or after a time, in lines that come almost in order. */
export function indexAt(entries: readonly Entry[], time: string): number {
  const found = entries.findIndex((entry) => !isGap(entry) && entry.time >= time);
  return found === -1 ? entries.length - 1 : found;
}

/** The text of a download: what is shown, as it came. */
export const downloadOf = (entries: readonly Entry[]): string =>
  entries
    .map((entry) =>
      isGap(entry)
        ? `--- ${entry.dropped ?? "some"} lines dropped ---\n`
        : `${entry.time} ${entry.pod}/${entry.container} ${entry.text}\n`,
    )
    .join("");

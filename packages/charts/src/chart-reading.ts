import { chosenVersion, newestFirst } from "./chart-version.ts";
import type { RepositoryCredential } from "./credential.ts";
import { entriesOf, type IndexEntry, parseEntry } from "./helm-index.ts";

export interface IndexQuestion {
  readonly index: Uint8Array;
  readonly chart: string;
  readonly wanted?: string | undefined;
}

export interface VersionQuestion {
  readonly versions: readonly string[];
  readonly wanted?: string | undefined;
}

export interface ChartChoice {
  /** Newest first. */
  readonly versions: readonly string[];
  /** The one that is wanted; null where there is none. */
  readonly version: string | null;
}

export interface IndexAnswer extends ChartChoice {
  readonly entry: IndexEntry | null;
}

/**
 * Reads what a repository says about its charts. A hostile index keeps the pure functions below busy for a minute, so
 * whoever implements this runs them on another thread, with one deadline for the whole index. Throws ReadingProblem.
 */
export interface ChartReader {
  index(question: IndexQuestion): Promise<IndexAnswer>;
  versions(question: VersionQuestion): Promise<ChartChoice>;
}

/** With what a chart is read. */
export interface ChartMeans {
  readonly credentials: readonly RepositoryCredential[];
  readonly reader: ChartReader;
}

function readIndex({ index, chart, wanted }: IndexQuestion): IndexAnswer {
  // A thread gets the bytes of a buffer without its methods.
  const bytes = Buffer.from(index.buffer, index.byteOffset, index.length);
  const entries: IndexEntry[] = [];
  for (const text of entriesOf(bytes, chart)) {
    const entry = parseEntry(text);
    if (entry) entries.push(entry);
  }
  const choice = chooseVersion({ versions: entries.map(({ version }) => version), wanted });
  return { ...choice, entry: entries.find(({ version }) => version === choice.version) ?? null };
}

function chooseVersion({ versions, wanted }: VersionQuestion): ChartChoice {
  return { versions: newestFirst(versions), version: chosenVersion(versions, wanted) ?? null };
}

/** What a `createReaderPool` reads of repositories. */
export const CHART_READINGS = { index: readIndex, versions: chooseVersion };

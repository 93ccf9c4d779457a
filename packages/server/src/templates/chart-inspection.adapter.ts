import {
  ArchiveProblem,
  type ChartAddress,
  type ChartReader,
  ChartUnusable,
  type Fetch,
  pullChart,
  ReadingProblem,
  type RepositoryCredential,
  Unreachable,
} from "@binnacle/charts";
import type { ChartInspection } from "@binnacle/contract";
import { fairQueue, QueueFull } from "@binnacle/process";
import type { SharedCache } from "../bus/shared-cache.adapter.ts";
import type { Clock } from "../clock.ts";
import { readKept, type SharedChart, slotOf, writtenKept } from "./chart-cache.ts";
import { type Readers, tooMuchWaiting } from "./readers.adapter.ts";

/** The credentials that an organization has stored for repositories. */
export interface ChartAccess {
  /** Changes with the credentials, so that cached charts are not shown to callers with other credentials. */
  readonly stamp: string;
  readonly credentials: readonly RepositoryCredential[];
}

export const ANONYMOUS: ChartAccess = { stamp: "", credentials: [] };

export interface Charts {
  /**
   * Throws AddressRefused, Unreachable, ChartUnknown and ChartUnusable, and the 429 of a caller who asks for too much at
   * once.
   */
  inspect(caller: string, chart: ChartAddress, access?: ChartAccess): Promise<ChartInspection>;
}

const KEPT_FOR_MS = 60 * 60 * 1000;
const MOST_KEPT = 50;
const MOST_KEPT_CHARACTERS = 16 * 1024 * 1024;
/** An index may have tens of megabytes, so only this many are in memory at once. */
const AT_ONCE = { atOnce: 6, atOncePerCaller: 2, waitingPerCaller: 8 };
/** The time limit of all requests of one inspection, because a slow repository occupies a slot. */
const INSPECTION_TIMEOUT_MS = 30_000;

interface Kept {
  at: number;
  readonly chart: Promise<ChartInspection>;
  characters: number;
}

/**
 * Caches charts for an hour: a version does not change, and repositories limit requests. Replicas share what they have read
 * where there is a Redis.
 */
export function createCharts(fetch: Fetch, clock: Clock, readers: Readers, shared: SharedCache): Charts {
  const kept = new Map<string, Kept>();
  const inTurn = fairQueue(AT_ONCE);

  function keep(key: string, reading: Promise<SharedChart>): Promise<ChartInspection> {
    const chart = reading.then(({ inspection }) => inspection);
    const entry: Kept = { at: clock().getTime(), chart, characters: 0 };
    kept.set(key, entry);
    reading.then(
      ({ at, inspection }) => {
        // One that another replica has read is not kept longer for it.
        entry.at = at;
        entry.characters = JSON.stringify(inspection).length;
        dropOldest();
      },
      // Failures are not cached.
      () => kept.get(key) === entry && kept.delete(key),
    );
    dropOldest();
    return chart;
  }

  function dropOldest(): void {
    let characters = [...kept.values()].reduce((sum, entry) => sum + entry.characters, 0);
    for (const [key, entry] of kept) {
      if (kept.size <= MOST_KEPT && characters <= MOST_KEPT_CHARACTERS) return;
      kept.delete(key);
      characters -= entry.characters;
    }
  }

  /** What another replica has read in the last hour, else what `read` finds, which the others may have then. */
  async function sharedOr(key: string, read: () => Promise<ChartInspection>): Promise<SharedChart> {
    const slot = slotOf(key);
    const found = readKept(await shared.get(slot), key);
    if (found && clock().getTime() - found.at < KEPT_FOR_MS) return found;
    const chart = { at: clock().getTime(), inspection: await read() };
    const text = writtenKept(key, chart);
    if (text !== null) await shared.set(slot, text, KEPT_FOR_MS / 1000);
    return chart;
  }

  return {
    inspect(caller, { repo, name, version }, access = ANONYMOUS) {
      const key = JSON.stringify([repo, name, version, access.stamp]);
      const known = kept.get(key);
      if (known && clock().getTime() - known.at < KEPT_FOR_MS) return known.chart;
      kept.delete(key);
      const work = () => inspect({ fetch: withTimeout(fetch), readers, caller }, { repo, name, version }, access);
      const inOrder = () =>
        inTurn(caller, work).catch((error: unknown) => {
          throw error instanceof QueueFull ? tooMuchWaiting() : error;
        });
      return keep(key, sharedOr(key, inOrder));
    },
  };
}

/** Applies one time limit to all requests of an inspection. */
function withTimeout(fetch: Fetch): Fetch {
  const deadline = performance.now() + INSPECTION_TIMEOUT_MS;
  return async (url, options) => {
    if (performance.now() > deadline) throw new Unreachable("it did not answer in time");
    return fetch(url, options);
  };
}

interface Means {
  readonly fetch: Fetch;
  readonly readers: Readers;
  readonly caller: string;
}

async function inspect(
  { fetch, readers, caller }: Means,
  chart: ChartAddress,
  { credentials }: ChartAccess,
): Promise<ChartInspection> {
  const reader: ChartReader = {
    index: (question) => readers.read(caller, "index", question),
    versions: (question) => readers.read(caller, "versions", question),
  };
  try {
    const { version, versions, archive } = await pullChart(fetch, chart, { credentials, reader });
    const { metadata, ...content } = await readers.read(caller, "chart", archive);
    return {
      chart_metadata: { ...metadata, version: metadata.version ?? version, versions: [...versions] },
      ...content,
    };
  } catch (error) {
    if (error instanceof ArchiveProblem) throw new ChartUnusable(`the chart's archive is not usable: ${error.message}`);
    if (error instanceof ReadingProblem) throw new ChartUnusable(`the chart is not usable: ${error.message}`);
    throw error;
  }
}

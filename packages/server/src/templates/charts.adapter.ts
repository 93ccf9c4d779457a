import type { ChartInspection } from "@binnacle/contract";
import type { Clock } from "../clock.ts";
import { AddressRefused, type Fetch, Unreachable } from "../outbound/fetch.adapter.ts";
import { ArchiveProblem } from "./chart-archive.ts";
import { type ChartSource, ChartUnknown, type Reading } from "./chart-source.ts";
import { fairQueue, QueueFull } from "./fair-queue.ts";
import { IndexProblem } from "./helm-index.ts";
import { helmSource } from "./helm-repository.adapter.ts";
import { ociSource } from "./oci.adapter.ts";
import { type Readers, tooMuchWaiting } from "./readers.adapter.ts";
import { ReadingProblem } from "./reading.ts";

export interface Charts {
  /** Throws ChartUnknown, AddressRefused, Unreachable, and the 429 of a caller who asks for too much at once. */
  inspect(caller: string, repo: string, name: string, version?: string): Promise<ChartInspection>;
}

const KEPT_FOR_MS = 60 * 60 * 1000;
const MOST_KEPT = 50;
const MOST_KEPT_CHARACTERS = 16 * 1024 * 1024;
/** An index alone may have tens of megabytes, so that only so many are held in memory at once. */
const AT_ONCE = { atOnce: 6, atOncePerCaller: 2, waitingPerCaller: 8 };
/** For all requests that one inspection makes: a slow repository must not keep its place for long. */
const PATIENCE_MS = 30_000;

interface Kept {
  readonly at: number;
  readonly chart: Promise<ChartInspection>;
  characters: number;
}

/** Keeps what it has read for an hour: charts of a version do not change, and repositories count requests. */
export function createCharts(fetch: Fetch, clock: Clock, readers: Readers): Charts {
  const kept = new Map<string, Kept>();
  const inTurn = fairQueue(AT_ONCE);

  function keep(key: string, chart: Promise<ChartInspection>): Promise<ChartInspection> {
    const entry = { at: clock().getTime(), chart, characters: 0 };
    kept.set(key, entry);
    chart.then(
      (inspection) => {
        entry.characters = JSON.stringify(inspection).length;
        dropOldest();
      },
      // A failure is nobody's to keep: the next one asks again.
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

  return {
    inspect(caller, repo, name, version) {
      const key = JSON.stringify([repo, name, version]);
      const known = kept.get(key);
      if (known && clock().getTime() - known.at < KEPT_FOR_MS) return known.chart;
      kept.delete(key);
      const work = () => inspect({ fetch: inTime(fetch), readers, caller }, repo, name, version);
      const chart = inTurn(caller, work).catch((error: unknown) => {
        throw error instanceof QueueFull ? tooMuchWaiting() : error;
      });
      return keep(key, chart);
    },
  };
}

/** The same, until the patience for all of its requests together has ended. */
function inTime(fetch: Fetch): Fetch {
  const deadline = performance.now() + PATIENCE_MS;
  return async (url, options) => {
    if (performance.now() > deadline) throw new Unreachable("it did not answer in time");
    return fetch(url, options);
  };
}

async function inspect(reading: Reading, repo: string, name: string, version?: string): Promise<ChartInspection> {
  const url = URL.parse(repo);
  if (!url?.host || !/^(https?|oci):$/.test(url.protocol)) {
    throw new AddressRefused("The repository must begin with https://, http:// or oci://");
  }
  // A chart's name is one step of a path, whatever a user writes.
  if (/[/\\]/.test(name)) throw new ChartUnknown();
  try {
    const source = url.protocol === "oci:" ? ociSource : helmSource;
    return await opened(reading, await source(reading, repo, name, version));
  } catch (error) {
    if (error instanceof ArchiveProblem) throw new Unreachable(`the chart's archive is not usable: ${error.message}`);
    if (error instanceof IndexProblem) throw new Unreachable(`its index is not usable: ${error.message}`);
    if (error instanceof ReadingProblem) throw new Unreachable(`the chart is not usable: ${error.message}`);
    throw error;
  }
}

async function opened(
  { readers, caller }: Reading,
  { version, versions, archive, digest }: ChartSource,
): Promise<ChartInspection> {
  const { metadata, ...content } = await readers.read(caller, "chart", { archive, digest });
  return { chart_metadata: { ...metadata, version: metadata.version ?? version, versions: [...versions] }, ...content };
}

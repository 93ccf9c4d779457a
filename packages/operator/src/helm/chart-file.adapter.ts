import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  AddressRefused,
  createFetch,
  type Fetch,
  helmChart,
  pullChart,
  type RepositoryCredential,
  repositoryProblem,
} from "@binnacle/charts";
import type { ChartRef } from "@binnacle/contract";
import { downloadFailure } from "./chart-download.ts";
import type { ChartSource } from "./command.ts";
import { HelmFailure } from "./failure.ts";

export interface ChartFiles {
  /**
   * Downloads the chart and gives it to the work as a file, which is gone when the work has ended. Fails with a
   * `HelmFailure`, before anything is begun, where there is no chart to be had.
   */
  within<T>(chart: ChartRef, signal: AbortSignal, work: (source: ChartSource) => Promise<T>): Promise<T>;
}

export interface ChartFilesOptions {
  /** Hosts that may have any address. */
  readonly allowedHosts: readonly string[];
  readonly credentials: () => readonly RepositoryCredential[];
  readonly resolve?: Parameters<typeof createFetch>[0]["resolve"];
}

/** Of one request; an index may have tens of megabytes. */
const TIMEOUT_MS = 60_000;

/**
 * Helm is given a file and never an address: it would resolve the name itself, follow redirects anywhere, and be given
 * passwords on its command line. What is downloaded here comes from the very addresses that were checked.
 */
export function createChartFiles({ allowedHosts, credentials, resolve }: ChartFilesOptions): ChartFiles {
  const fetch = createFetch({ allowedHosts, timeoutMs: TIMEOUT_MS, ...(resolve ? { resolve } : {}) });

  async function download({ repo, name, version }: ChartRef, signal: AbortSignal) {
    const problem = repositoryProblem(repo, allowedHosts);
    if (problem) throw new AddressRefused(problem);
    const breakable: Fetch = (url, options) => fetch(url, { ...options, signal });
    const { archive } = await pullChart(breakable, { repo, name, version }, { credentials: credentials() });
    return helmChart(archive);
  }

  return {
    async within(chart, signal, work) {
      const { archive, refersOutside } = await download(chart, signal).catch((error: unknown) => {
        const failure = signal.aborted ? "It was broken off." : downloadFailure(error, chart);
        throw failure === null ? error : new HelmFailure(failure);
      });
      const folder = await mkdtemp(join(tmpdir(), "binnacle-chart-"));
      try {
        const path = join(folder, "chart.tgz");
        await writeFile(path, archive, { mode: 0o600 });
        // Helm would fetch what such a schema refers to, from wherever it says.
        return await work({ chart: path, options: refersOutside ? ["--skip-schema-validation"] : [] });
      } finally {
        await rm(folder, { recursive: true, force: true });
      }
    },
  };
}

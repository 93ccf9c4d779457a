import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  AddressRefused,
  ArchiveProblem,
  ChartUnknown,
  ChartUnusable,
  createFetch,
  type Fetch,
  helmChart,
  pullChart,
  type RepositoryCredential,
  repositoryHost,
  repositoryProblem,
  Unreachable,
  unpackChart,
} from "@binnacle/charts";
import { type ChartRef, safeText } from "@binnacle/contract";
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
        const options = refersOutside ? ["--skip-schema-validation"] : [];
        return await work({ chart: path, options, files: async () => unpackChart(await readFile(path)) });
      } finally {
        await rm(folder, { recursive: true, force: true });
      }
    },
  };
}

/**
 * Why a chart could not be downloaded, for people; null for what is not a failure of the download. The words are ours, with
 * nothing of the repository but the host that the user has named: a phase message is not a window into a network.
 */
function downloadFailure(error: unknown, { repo, name, version }: ChartRef): string | null {
  const [host, chart] = [repositoryHost(repo), `${name}${version === undefined ? "" : ` of version ${version}`}`];
  const said = sentence(error, host, chart);
  return said === null ? null : safeText(said);
}

function sentence(error: unknown, host: string, chart: string): string | null {
  if (error instanceof Unreachable) return `The chart repository ${host} cannot be read.`;
  if (error instanceof AddressRefused) {
    return `The chart repository ${host} is refused: ${lowerFirst(error.message)}. The operator goes to public addresses, and to hosts that BINNACLE_CHART_HOSTS names.`;
  }
  if (error instanceof ChartUnknown) {
    return `The chart repository ${host} has no chart ${chart}, or does not give it to this organization.`;
  }
  if (error instanceof ChartUnusable || error instanceof ArchiveProblem) {
    return `The chart repository ${host} has no usable chart ${chart}: ${error.message}.`;
  }
  return null;
}

const lowerFirst = (text: string) => text.slice(0, 1).toLowerCase() + text.slice(1);

import type { CHART_READINGS, ChartMeans, ChartReader } from "./chart-reading.ts";
import { type ChartAddress, type ChartSource, ChartUnknown, ChartUnusable, isChartName } from "./chart-source.ts";
import { AddressRefused, type Fetch } from "./fetch.adapter.ts";
import { helmSource } from "./helm-repository.adapter.ts";
import { ociSource } from "./oci.adapter.ts";
import { ReadingProblem } from "./problems.ts";
import { createReaderPool } from "./reader-pool.adapter.ts";
import { isOci, webAddressOf } from "./repository-url.ts";

/** One deadline is for everything that is read of an index, however many entries it has. */
export function createChartReader(deadlineMs = 10_000): ChartReader {
  const deadlines = { index: deadlineMs, versions: deadlineMs };
  const pool = createReaderPool<typeof CHART_READINGS>(new URL("./reader.worker.ts", import.meta.url), deadlines);
  return {
    index: (question) => pool.read("index", question),
    versions: (question) => pool.read("versions", question),
  };
}
const ownReader = createChartReader();

/** Downloads one version of a chart. Throws AddressRefused, Unreachable, ChartUnknown and ChartUnusable. */
export async function pullChart(
  fetch: Fetch,
  { repo, name, version }: ChartAddress,
  { credentials = [], reader = ownReader }: Partial<ChartMeans> = {},
): Promise<ChartSource> {
  if (!webAddressOf(repo)) throw new AddressRefused("The address must begin with https:// or oci://");
  if (!isChartName(name)) throw new ChartUnknown();
  const read = isOci(repo) ? ociSource : helmSource;
  const source = await read(fetch, { repo, name, version }, { credentials, reader }).catch((error: unknown) => {
    throw error instanceof ReadingProblem ? new ChartUnusable(`its index is not usable: ${error.message}`) : error;
  });
  if (!(await isAsStated(source))) throw new ChartUnusable("the chart's archive is not what the index says it is");
  return source;
}

/** Twenty megabytes take a while to hash, which this way is done by another thread. */
async function isAsStated({ archive, digest }: ChartSource): Promise<boolean> {
  if (digest === null) return true;
  const hash = await crypto.subtle.digest("SHA-256", new Uint8Array(archive));
  return Buffer.from(hash).toString("hex") === digest.replace(/^sha256:/, "");
}

import type { ChartMeans } from "./chart-reading.ts";
import { type ChartAddress, type ChartSource, ChartUnknown, ChartUnusable, isChartName } from "./chart-source.ts";
import { AddressRefused, type Fetch } from "./fetch.adapter.ts";
import { IndexProblem } from "./helm-index.ts";
import { helmSource } from "./helm-repository.adapter.ts";
import { ociSource } from "./oci.adapter.ts";
import { createReaderApart } from "./reader-apart.adapter.ts";
import { isOci, webAddressOf } from "./repository-url.ts";

/** Downloads one version of a chart. Throws AddressRefused, Unreachable, ChartUnknown and ChartUnusable. */
export async function pullChart(
  fetch: Fetch,
  { repo, name, version }: ChartAddress,
  { credentials = [], reader = createReaderApart() }: Partial<ChartMeans> = {},
): Promise<ChartSource> {
  if (!webAddressOf(repo)) throw new AddressRefused("The address must begin with https:// or oci://");
  if (!isChartName(name)) throw new ChartUnknown();
  const read = isOci(repo) ? ociSource : helmSource;
  const source = await read(fetch, { repo, name, version }, { credentials, reader }).catch((error: unknown) => {
    throw error instanceof IndexProblem ? new ChartUnusable(`its index is not usable: ${error.message}`) : error;
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

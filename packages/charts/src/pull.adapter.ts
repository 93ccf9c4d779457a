import { createHash } from "node:crypto";
import { type ChartAddress, type ChartSource, ChartUnknown, ChartUnusable, isChartName } from "./chart-source.ts";
import type { RepositoryCredential } from "./credential.ts";
import { AddressRefused, type Fetch } from "./fetch.adapter.ts";
import { IndexProblem } from "./helm-index.ts";
import { helmSource } from "./helm-repository.adapter.ts";
import { ociSource } from "./oci.adapter.ts";
import { isOci, webAddressOf } from "./repository-url.ts";

/** Downloads one version of a chart. Throws AddressRefused, Unreachable, ChartUnknown and ChartUnusable. */
export async function pullChart(
  fetch: Fetch,
  { repo, name, version }: ChartAddress,
  credentials: readonly RepositoryCredential[] = [],
): Promise<ChartSource> {
  if (!webAddressOf(repo)) throw new AddressRefused("The address must begin with https:// or oci://");
  if (!isChartName(name)) throw new ChartUnknown();
  const read = isOci(repo) ? ociSource : helmSource;
  const source = await read(fetch, { repo, name, version }, credentials).catch((error: unknown) => {
    throw error instanceof IndexProblem ? new ChartUnusable(`its index is not usable: ${error.message}`) : error;
  });
  if (!isAsStated(source)) throw new ChartUnusable("the chart's archive is not what the index says it is");
  return source;
}

function isAsStated({ archive, digest }: ChartSource): boolean {
  if (digest === null) return true;
  return createHash("sha256").update(archive).digest("hex") === digest.replace(/^sha256:/, "");
}

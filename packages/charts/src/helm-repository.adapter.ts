import { LARGEST_ARCHIVE_BYTES } from "./archive.ts";
import type { ChartMeans } from "./chart-reading.ts";
import { type ChartAddress, type ChartSource, ChartUnknown, ChartUnusable, isChartName } from "./chart-source.ts";
import { authorizing } from "./credential.ts";
import { type Fetch, Unreachable } from "./fetch.adapter.ts";
import type { IndexEntry } from "./helm-index.ts";
import { ociSource } from "./oci.adapter.ts";

const LARGEST_INDEX_BYTES = 48 * 1024 * 1024;

/** A chart in a Helm repository, which is a web folder with an `index.yaml`. */
export async function helmSource(
  anonymous: Fetch,
  { repo, name, version: wanted }: ChartAddress,
  means: ChartMeans,
): Promise<ChartSource> {
  const fetch = authorizing(anonymous, means.credentials);
  const folder = new URL(repo);
  folder.pathname = `${folder.pathname.replace(/\/+$/, "")}/`;
  const index = new URL("index.yaml", folder);
  index.search = folder.search;
  const { status, body } = await fetch(index.href, { maxBytes: LARGEST_INDEX_BYTES });
  if (status === 404 || status === 410) throw new ChartUnknown();
  refuseUnlessRead(status);

  const { versions, entry } = await means.reader.index({ index: body, chart: name, wanted });
  const address = entry && URL.parse(entry.urls[0] ?? "", folder.href)?.href;
  if (!entry || !address) throw new ChartUnknown();
  if (address.startsWith("oci://")) return fromRegistry(anonymous, address, entry, versions, means);

  const archive = await fetch(address, { maxBytes: LARGEST_ARCHIVE_BYTES });
  refuseUnlessRead(archive.status);
  return { version: entry.version, versions, archive: archive.body, digest: entry.digest };
}

function refuseUnlessRead(status: number): void {
  if (status === 401 || status === 403) throw new ChartUnusable("it refuses access with the credentials it was given");
  if (status !== 200) throw new Unreachable(`it answered ${status}`);
}

/** Some repositories keep the index and leave the archives to a registry: `oci://registry/path/chart:1.2.3`. */
async function fromRegistry(
  fetch: Fetch,
  address: string,
  { version }: IndexEntry,
  versions: readonly string[],
  means: ChartMeans,
) {
  const [, repo = "", name = ""] = /^(.*)\/([^/:]+)(?::[^/]*)?$/.exec(address) ?? [];
  if (!isChartName(name)) throw new ChartUnknown();
  const source = await ociSource(fetch, { repo, name, version }, means);
  return { ...source, versions };
}

import { Unreachable } from "../outbound/fetch.adapter.ts";
import { LARGEST_ARCHIVE_BYTES } from "./chart-archive.ts";
import { type ChartSource, ChartUnknown, type Reading } from "./chart-source.ts";
import type { IndexEntry } from "./helm-index.ts";
import { ociSource } from "./oci.adapter.ts";

const LARGEST_INDEX_BYTES = 48 * 1024 * 1024;

/** A chart in a Helm repository, which is a web folder with an `index.yaml`. */
export async function helmSource(reading: Reading, repo: string, name: string, wanted?: string): Promise<ChartSource> {
  const { fetch, readers, caller } = reading;
  const folder = new URL(repo);
  folder.pathname = `${folder.pathname.replace(/\/+$/, "")}/`;
  const index = new URL("index.yaml", folder);
  index.search = folder.search;
  const { status, body } = await fetch(index.href, { maxBytes: LARGEST_INDEX_BYTES });
  if (status === 404 || status === 410) throw new ChartUnknown();
  if (status !== 200) throw new Unreachable(`it answered ${status}`);

  const { versions, entry } = await readers.read(caller, "index", {
    index: body,
    chart: name,
    ...(wanted === undefined ? {} : { wanted }),
  });
  const address = entry && URL.parse(entry.urls[0] ?? "", folder.href)?.href;
  if (!entry || !address) throw new ChartUnknown();
  if (address.startsWith("oci://")) return fromRegistry(reading, address, entry, versions);

  const archive = await fetch(address, { maxBytes: LARGEST_ARCHIVE_BYTES });
  if (archive.status !== 200) throw new Unreachable(`it answered ${archive.status} for the chart's archive`);
  return { version: entry.version, versions, archive: archive.body, digest: entry.digest };
}

/** Some repositories keep the index and leave the archives to a registry: `oci://registry/path/chart:1.2.3`. */
async function fromRegistry(reading: Reading, address: string, entry: IndexEntry, versions: readonly string[]) {
  const [, repo = "", chart = ""] = /^(.*)\/([^/:]+)(?::[^/]*)?$/.exec(address) ?? [];
  const source = await ociSource(reading, repo, chart, entry.version);
  return { ...source, versions };
}

import { setImmediate } from "node:timers/promises";
import { type Fetch, Unreachable } from "../outbound/fetch.adapter.ts";
import { LARGEST_ARCHIVE_BYTES } from "./chart-archive.ts";
import { type ChartSource, ChartUnknown } from "./chart-source.ts";
import { chosenVersion } from "./chart-version.ts";
import { entriesOf, type IndexEntry, parseEntry } from "./helm-index.ts";
import { ociSource } from "./oci.adapter.ts";

const LARGEST_INDEX_BYTES = 48 * 1024 * 1024;
/** How many entries are read before others get their turn. */
const ENTRIES_AT_ONCE = 20;

/** A chart in a Helm repository, which is a web folder with an `index.yaml`. */
export async function helmSource(fetch: Fetch, repo: string, name: string, wanted?: string): Promise<ChartSource> {
  const folder = new URL(repo);
  folder.pathname = `${folder.pathname.replace(/\/+$/, "")}/`;
  const index = new URL("index.yaml", folder);
  index.search = folder.search;
  const { status, body } = await fetch(index.href, { maxBytes: LARGEST_INDEX_BYTES });
  if (status === 404 || status === 410) throw new ChartUnknown();
  if (status !== 200) throw new Unreachable(`it answered ${status}`);

  const entries = await readEntries(body.toString("utf8"), name);
  const versions = entries.map(({ version }) => version);
  const version = chosenVersion(versions, wanted);
  const entry = entries.find((candidate) => candidate.version === version);
  const address = entry && URL.parse(entry.urls[0] ?? "", folder.href)?.href;
  if (!entry || !address) throw new ChartUnknown();
  if (address.startsWith("oci://")) return fromRegistry(fetch, address, entry, versions);

  const archive = await fetch(address, { maxBytes: LARGEST_ARCHIVE_BYTES });
  if (archive.status !== 200) throw new Unreachable(`it answered ${archive.status} for the chart's archive`);
  return { version: entry.version, versions, archive: archive.body, digest: entry.digest };
}

async function readEntries(index: string, name: string): Promise<IndexEntry[]> {
  const entries: IndexEntry[] = [];
  for (const [position, text] of entriesOf(index, name).entries()) {
    if (position % ENTRIES_AT_ONCE === 0) await setImmediate();
    const entry = parseEntry(text);
    if (entry) entries.push(entry);
  }
  return entries;
}

/** Some repositories keep the index and leave the archives to a registry: `oci://registry/path/chart:1.2.3`. */
async function fromRegistry(fetch: Fetch, address: string, entry: IndexEntry, versions: readonly string[]) {
  const [, repo = "", chart = ""] = /^(.*)\/([^/:]+)(?::[^/]*)?$/.exec(address) ?? [];
  const source = await ociSource(fetch, repo, chart, entry.version);
  return { ...source, versions };
}

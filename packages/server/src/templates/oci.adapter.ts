import type { Fetch, Fetched } from "../outbound/fetch.adapter.ts";
import { Unreachable } from "../outbound/fetch.adapter.ts";
import { LARGEST_ARCHIVE_BYTES } from "./chart-archive.ts";
import { type ChartSource, ChartUnknown, type Reading } from "./chart-source.ts";

/** Manifests of charts have a kilobyte or two, and a thousand tags of the longest kind an eighth of a megabyte. */
const LARGEST_DOCUMENT_BYTES = 512 * 1024;
const MOST_TAG_PAGES = 20;
const MOST_TAGS = 10_000;
/** As the OCI distribution specification has it. */
const LONGEST_TAG = 128;
const MANIFEST = "application/vnd.oci.image.manifest.v1+json";
const CHART_LAYERS = new Set(["application/vnd.cncf.helm.chart.content.v1.tar+gzip", "application/tar+gzip"]);
/** As container tools do: a registry on this machine is spoken to without TLS. */
const LOOPBACK = /^(localhost|127\.\d+\.\d+\.\d+)(:\d+)?$/;

/** A chart in a registry of container images, by the OCI distribution specification. */
export async function ociSource(
  { fetch, readers, caller }: Reading,
  repo: string,
  name: string,
  wanted?: string,
): Promise<ChartSource> {
  const { host, pathname } = new URL(repo);
  const origin = `${LOOPBACK.test(host) ? "http" : "https"}://${host}`;
  const repository = `${origin}/v2${pathname.replace(/\/+$/, "")}/${encodeURIComponent(name)}`;
  let authorization: string | null = null;

  async function get(url: string, maxBytes: number, accept = "application/json"): Promise<Fetched> {
    const send = () => fetch(url, { maxBytes, headers: { accept, ...(authorization ? { authorization } : {}) } });
    let answer = await send();
    if (answer.status === 401 && authorization === null) {
      authorization = `Bearer ${await anonymousToken(fetch, answer)}`;
      answer = await send();
    }
    if (answer.status === 404 || answer.status === 401 || answer.status === 403) throw new ChartUnknown();
    if (answer.status !== 200) throw new Unreachable(`it answered ${answer.status}`);
    return answer;
  }

  async function allTags(): Promise<string[]> {
    const tags: string[] = [];
    let url: string | null = `${repository}/tags/list?n=1000`;
    for (let page = 0; url !== null && page < MOST_TAG_PAGES && tags.length < MOST_TAGS; page++) {
      const answer: Fetched = await get(url, LARGEST_DOCUMENT_BYTES);
      const { tags: some } = documentOf<{ tags?: unknown }>(answer);
      if (Array.isArray(some)) tags.push(...some.slice(0, MOST_TAGS).filter(isTag));
      const next = /<([^<>]+)>;\s*rel="?next"?/.exec(String(answer.headers["link"] ?? ""))?.[1];
      url = next ? new URL(next, url).href : null;
    }
    return tags;
  }

  // A tag cannot hold the plus sign of a version.
  const { versions, version } = await readers.read(caller, "versions", {
    versions: (await allTags()).map((tag) => tag.replaceAll("_", "+")),
    ...(wanted === undefined ? {} : { wanted }),
  });
  if (version === null) throw new ChartUnknown();
  const tag = encodeURIComponent(version.replaceAll("+", "_"));
  const manifest = documentOf<{ layers?: { mediaType?: unknown; digest?: unknown }[] }>(
    await get(`${repository}/manifests/${tag}`, LARGEST_DOCUMENT_BYTES, MANIFEST),
  );
  const layers = Array.isArray(manifest.layers) ? manifest.layers : [];
  const digest = layers.find(({ mediaType }) => CHART_LAYERS.has(String(mediaType)))?.digest;
  if (typeof digest !== "string" || !/^sha256:[0-9a-f]{64}$/.test(digest)) throw new ChartUnknown();
  const { body } = await get(`${repository}/blobs/${digest}`, LARGEST_ARCHIVE_BYTES, "*/*");
  return { version, versions, archive: body, digest: digest.slice("sha256:".length) };
}

const isTag = (tag: unknown): tag is string => typeof tag === "string" && tag.length <= LONGEST_TAG;

function documentOf<T extends object>({ body }: Fetched): T {
  try {
    const value: unknown = JSON.parse(body.toString("utf8"));
    if (typeof value === "object" && value !== null) return value as T;
  } catch {
    // Said below.
  }
  throw new Unreachable("its answer is no JSON");
}

/** Public registries want a token even from those who may read without one. */
async function anonymousToken(fetch: Fetch, { headers }: Fetched): Promise<string> {
  const challenge = String(headers["www-authenticate"] ?? "");
  const field = (name: string) => new RegExp(`${name}="([^"]*)"`, "i").exec(challenge)?.[1];
  const realm = URL.parse(field("realm") ?? "");
  if (!/^bearer /i.test(challenge) || !realm) throw new ChartUnknown();
  for (const name of ["service", "scope"]) {
    const value = field(name);
    if (value) realm.searchParams.set(name, value);
  }
  const answer = await fetch(realm.href, { maxBytes: LARGEST_DOCUMENT_BYTES, headers: { accept: "application/json" } });
  if (answer.status !== 200) throw new ChartUnknown();
  const { token, access_token } = documentOf<{ token?: unknown; access_token?: unknown }>(answer);
  const given = token ?? access_token;
  if (typeof given !== "string" || !/^[\x21-\x7e]+$/.test(given)) throw new Unreachable("its token is none");
  return given;
}

import { LARGEST_ARCHIVE_BYTES } from "./archive.ts";
import { challengeOf, tokenAddress, tokenIn } from "./challenge.ts";
import type { ChartMeans } from "./chart-reading.ts";
import { type ChartAddress, type ChartSource, ChartUnknown, ChartUnusable } from "./chart-source.ts";
import { basicAuthorization, credentialFor, type RepositoryCredential } from "./credential.ts";
import { type Fetch, type Fetched, Unreachable } from "./fetch.adapter.ts";
import { webAddressOf } from "./repository-url.ts";

/** Manifests of charts have a kilobyte or two, and a thousand tags of the longest kind an eighth of a megabyte. */
const LARGEST_DOCUMENT_BYTES = 512 * 1024;
const MOST_TAG_PAGES = 20;
const MOST_TAGS = 10_000;
/** As the OCI distribution specification has it. */
const LONGEST_TAG = 128;
const MANIFEST = "application/vnd.oci.image.manifest.v1+json";
const CHART_LAYERS = new Set(["application/vnd.cncf.helm.chart.content.v1.tar+gzip", "application/tar+gzip"]);

/** A chart in a registry of container images, by the OCI distribution specification. */
export async function ociSource(
  fetch: Fetch,
  { repo, name, version: wanted }: ChartAddress,
  { credentials, reader }: ChartMeans,
): Promise<ChartSource> {
  const registry = webAddressOf(repo);
  if (!registry) throw new ChartUnknown();
  const { origin, pathname } = registry;
  const repository = `${origin}/v2${pathname.replace(/\/+$/, "")}/${encodeURIComponent(name)}`;
  const credential = credentialFor(credentials, `${repo.replace(/\/+$/, "")}/${name}`);
  let authorization: string | null = null;

  async function get(url: string, maxBytes: number, accept = "application/json"): Promise<Fetched> {
    const send = () => fetch(url, { maxBytes, headers: { accept, ...(authorization ? { authorization } : {}) } });
    let answer = await send();
    if (answer.status === 401 && authorization === null) {
      authorization = await authorizationFor(fetch, origin, answer, { credential, credentials });
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
      url = nextPage(answer, url);
    }
    return tags;
  }

  // A tag cannot hold the plus sign of a version.
  const { versions, version } = await reader.versions({
    versions: (await allTags()).map((tag) => tag.replaceAll("_", "+")),
    wanted,
  });
  if (version === null) throw new ChartUnknown();
  const tag = encodeURIComponent(version.replaceAll("+", "_"));
  const manifest = documentOf<{ layers?: { mediaType?: unknown; digest?: unknown }[] }>(
    await get(`${repository}/manifests/${tag}`, LARGEST_DOCUMENT_BYTES, MANIFEST),
  );
  const layers = Array.isArray(manifest.layers) ? manifest.layers : [];
  const digest = layers.find((layer) => CHART_LAYERS.has(String(layer?.mediaType)))?.digest;
  if (typeof digest !== "string" || !/^sha256:[0-9a-f]{64}$/.test(digest)) throw new ChartUnknown();
  const { body } = await get(`${repository}/blobs/${digest}`, LARGEST_ARCHIVE_BYTES, "*/*");
  return { version, versions, archive: body, digest: digest.slice("sha256:".length) };
}

/** Of the same registry: the request for it carries the same authorization, which is nobody else's business. */
function nextPage({ headers }: Fetched, current: string): string | null {
  const link = /<([^<>]+)>;\s*rel="?next"?/.exec(String(headers["link"] ?? ""))?.[1];
  if (link === undefined) return null;
  const next = URL.parse(link, current);
  if (next?.origin !== new URL(current).origin) throw new Unreachable("its list of tags goes on elsewhere");
  return next.href;
}

const isTag = (tag: unknown): tag is string => typeof tag === "string" && tag.length <= LONGEST_TAG;

function documentOf<T extends object>({ body }: Fetched): T {
  try {
    const value: unknown = JSON.parse(body.toString("utf8"));
    if (typeof value === "object" && value !== null) return value as T;
  } catch {
    // Said below.
  }
  throw new Unreachable("its answer is not JSON");
}

interface Known {
  /** The one for the registry; null where it is read as anybody could. */
  readonly credential: RepositoryCredential | null;
  readonly credentials: readonly RepositoryCredential[];
}

/** The Authorization header that the 401 of the registry asks for, made from the stored credential. */
async function authorizationFor(
  fetch: Fetch,
  origin: string,
  { headers }: Fetched,
  { credential, credentials }: Known,
): Promise<string> {
  const challenge = challengeOf(String(headers["www-authenticate"] ?? ""));
  if (challenge?.scheme === "basic" && credential) return basicAuthorization(credential);
  if (challenge?.scheme !== "bearer") throw new ChartUnknown();
  const { realm, scope } = challenge;
  // Only what is stored for the registry itself opens it: a registry of a stranger must not get a token of ours.
  const presented = credential && (realm.origin === origin ? credential : credentialFor(credentials, realm.href));
  if (credential && !presented) {
    throw new ChartUnusable(
      "its registry gives tokens at another host, for which a chart repository has to be stored too",
    );
  }
  const authorization = presented ? { authorization: basicAuthorization(presented) } : {};
  const address = tokenAddress(challenge, scope ? [scope] : []);
  return `Bearer ${await tokenFrom(fetch, address, { accept: "application/json", ...authorization })}`;
}

/** Public registries want a token even from those who may read without one. */
async function tokenFrom(fetch: Fetch, address: string, headers: Readonly<Record<string, string>>): Promise<string> {
  const answer = await fetch(address, { maxBytes: LARGEST_DOCUMENT_BYTES, headers });
  if (answer.status !== 200) throw new ChartUnknown();
  const token = tokenIn(documentOf(answer));
  if (token === null) throw new Unreachable("its token is not valid");
  return token;
}

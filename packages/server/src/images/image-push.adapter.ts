import { openAsBlob } from "node:fs";
import { join } from "node:path";
import { blobFile, type Descriptor, type ImageStore, INDEX_TYPE, type Repository } from "./image-store.adapter.ts";
import { type RegistryClient, RegistryRefused } from "./registry-client.adapter.ts";

/** The artifacts of one repository, as they are now in the registry. */
export interface PushedRepository {
  /** Below the registry, with the prefix. */
  readonly name: string;
  readonly tags: ReadonlyMap<string, Descriptor>;
  /** What was not there already. */
  readonly sentBytes: number;
}

/**
 * Copies everything that a release ships to a registry, under the same names below a prefix. What is there already is not sent again, so
 * a push that broke off is repeated. A tag appears after all that it leads to.
 */
export async function* pushImages(
  store: ImageStore,
  registry: RegistryClient,
  prefix: string,
): AsyncGenerator<PushedRepository> {
  // Repositories that hold a blob by now, because images share layers.
  const homes = new Map<string, string>();
  for (const [shipped, repository] of store) {
    const name = prefix === "" ? shipped : `${prefix}/${shipped}`;
    const target = { name, scope: `repository:${name}:pull,push`, registry, blobs: repository.blobs };
    let sentBytes = 0;
    for (const blob of blobsOf(repository)) {
      if (await registry.retried(() => pushBlob(target, blob, homes.get(blob.digest)))) sentBytes += blob.size;
      homes.set(blob.digest, name);
    }
    for (const [reference, manifest] of referencesOf(repository))
      if (await registry.retried(() => pushManifest(target, reference, manifest))) sentBytes += manifest.size;
    yield { name, tags: repository.tags, sentBytes };
  }
}

interface Target {
  readonly name: string;
  readonly scope: string;
  readonly registry: RegistryClient;
  /** The folder of the blobs on disk. */
  readonly blobs: string;
}

const blobsOf = ({ contents, manifests }: Repository) =>
  [...contents.values()].filter(({ digest }) => !manifests.has(digest));

/** Registries refuse an index before the manifests that it names. These have no tag. */
function referencesOf({ manifests, tags }: Repository): (readonly [reference: string, manifest: Descriptor])[] {
  const tagged = new Set([...tags.values()].map(({ digest }) => digest));
  const untagged = [...manifests.values()].filter(({ digest }) => !tagged.has(digest));
  const isIndex = ({ mediaType }: Descriptor) => Number(mediaType === INDEX_TYPE);
  return [
    ...untagged.sort((one, other) => isIndex(one) - isIndex(other)).map((one) => [one.digest, one] as const),
    ...tags,
  ];
}

/** Returns whether it was sent. */
async function pushBlob(target: Target, { digest, size }: Descriptor, home: string | undefined): Promise<boolean> {
  const { name, scope, registry, blobs } = target;
  const scopes = [scope];
  const there = await registry.send({ method: "HEAD", url: `/v2/${name}/blobs/${digest}`, scopes });
  if (there.ok) return false;
  const query = home ? `?${new URLSearchParams({ mount: digest, from: home }).toString()}` : "";
  const begun = await registry.send({
    method: "POST",
    url: `/v2/${name}/blobs/uploads/${query}`,
    scopes: home ? [scope, `repository:${home}:pull`] : scopes,
  });
  if (begun.status === 201) return false;
  const location = begun.headers.get("location");
  if (begun.status !== 202 || location === null)
    throw new RegistryRefused(
      `The registry takes no upload to ${name} (${begun.status}). Where it wants repositories to be made first, make it.`,
    );
  const url = new URL(location, begun.url);
  url.searchParams.set("digest", digest);
  const stored = await registry.send({
    method: "PUT",
    url: url.href,
    scopes,
    headers: { "content-type": "application/octet-stream" },
    body: await openAsBlob(join(blobs, blobFile(digest))),
  });
  if (stored.status !== 201)
    throw new RegistryRefused(`The registry did not store a blob of ${name} with ${size} bytes: ${stored.status}.`);
  return true;
}

/** Returns whether it was sent. A tag that leads elsewhere is moved. */
async function pushManifest(target: Target, reference: string, manifest: Descriptor): Promise<boolean> {
  const { name, scope, registry, blobs } = target;
  const { mediaType, digest } = manifest;
  const about = { url: `/v2/${name}/manifests/${reference}`, scopes: [scope] };
  const there = await registry.send({ ...about, method: "HEAD", headers: { accept: mediaType } });
  if (there.ok && there.headers.get("docker-content-digest") === digest) return false;
  const stored = await registry.send({
    ...about,
    method: "PUT",
    headers: { "content-type": mediaType },
    body: await openAsBlob(join(blobs, blobFile(digest))),
  });
  const given = stored.headers.get("docker-content-digest") ?? digest;
  if (stored.status !== 201 || given !== digest)
    throw new RegistryRefused(`The registry did not store ${name}:${reference} as ${digest}.`);
  return true;
}

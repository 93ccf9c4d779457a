import { createHash } from "node:crypto";
import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import type { OperatorImage } from "../clusters/connection.ts";
import { isDigest } from "./registry-request.ts";

/** The repositories that a release ships, with the folders of their OCI image layouts. */
const SHIPPED = {
  "binnacle/server": "server",
  "binnacle/operator": "operator",
  "binnacle/cli": "cli",
  "binnacle/registry": "registry",
  "binnacle/charts/binnacle": "charts/binnacle",
  "binnacle/charts/binnacle-operator": "charts/binnacle-operator",
} as const;

type ShippedRepository = keyof typeof SHIPPED;

export interface Descriptor {
  readonly mediaType: string;
  readonly digest: string;
  readonly size: number;
}

export interface Repository {
  /** The folder of its blobs; a blob's file is named by the hexadecimal part of its digest. */
  readonly blobs: string;
  readonly tags: ReadonlyMap<string, Descriptor>;
  readonly manifests: ReadonlyMap<string, Descriptor>;
  /** Everything that may be downloaded, manifests included. */
  readonly contents: ReadonlyMap<string, Descriptor>;
}

export type ImageStore = ReadonlyMap<string, Repository>;

/** The images folder is not what `npm run images` writes. */
export class BrokenImages extends Error {
  override readonly name = "BrokenImages";
}

/**
 * Reads which artifacts a folder of OCI image layouts has. Only what the layouts refer to can be downloaded later, so a stray file
 * is never served. Contents are checked for their size alone: clients compare each blob with its digest.
 */
export async function openImageStore(folder: string): Promise<ImageStore> {
  const found = await Promise.all(
    Object.entries(SHIPPED).map(async ([name, layout]) => [name, await readLayout(join(folder, layout))] as const),
  );
  const store = new Map(found.flatMap(([name, repository]) => (repository ? [[name, repository] as const] : [])));
  if (store.size === 0)
    throw new BrokenImages(`${folder} has no images. Write them with: npm run images -- --output ${folder}`);
  return store;
}

/** Returns which image clusters are told to pull; null leaves it to the chart's default. */
export function operatorImage(store: ImageStore, registry: string | null): OperatorImage | null {
  const repository = store.get(OPERATOR);
  const digest = (repository && imageOf(repository)?.[1].digest) ?? null;
  return registry === null && digest === null ? null : { registry, digest };
}

/** The image of a repository with its tag. Its bill of materials has a tag too, and is something else. */
export const imageOf = ({ tags }: Repository): readonly [tag: string, image: Descriptor] | undefined =>
  [...tags].find(([, { mediaType }]) => mediaType === INDEX_TYPE);

const OPERATOR: ShippedRepository = "binnacle/operator";
export const INDEX_TYPE = "application/vnd.oci.image.index.v1+json";
const TAG = "org.opencontainers.image.ref.name";

interface Annotated extends Descriptor {
  readonly annotations?: Readonly<Record<string, string>>;
}

interface Manifest {
  readonly manifests?: readonly (Annotated & { readonly platform?: { os: string; architecture: string } })[];
  readonly config?: Descriptor;
  readonly layers?: readonly Annotated[];
}

async function readLayout(folder: string): Promise<Repository | null> {
  const index = await readFile(join(folder, "index.json"), "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return null;
    throw error;
  });
  if (index === null) return null;
  const blobs = join(folder, "blobs/sha256");
  const tagged = (JSON.parse(index) as Manifest).manifests ?? [];
  const tags = new Map(tagged.flatMap((item) => (item.annotations?.[TAG] ? [[item.annotations[TAG], item]] : [])));
  const manifests = new Map<string, Descriptor>();
  const contents = new Map<string, Descriptor>();
  const waiting: Descriptor[] = [...tagged];
  for (let item = waiting.pop(); item; item = waiting.pop()) {
    if (manifests.has(item.digest)) continue;
    await requireBlob(blobs, item);
    manifests.set(item.digest, item);
    contents.set(item.digest, item);
    const { manifests: inner = [], config, layers = [] } = await readManifest(blobs, item);
    waiting.push(...inner);
    for (const blob of config ? [config, ...layers] : layers) {
      await requireBlob(blobs, blob);
      contents.set(blob.digest, blob);
    }
  }
  return { blobs, tags, manifests, contents };
}

async function requireBlob(blobs: string, { digest, size }: Descriptor): Promise<void> {
  if (!isDigest(digest)) throw new BrokenImages(`${blobs}: ${digest} is not a SHA-256 digest.`);
  const path = blobPath(blobs, digest);
  const found = await stat(path).catch(() => null);
  if (found?.size !== size)
    throw new BrokenImages(`${path} should have ${size} bytes and ${found ? `has ${found.size}` : "is missing"}.`);
}

export async function readManifest(blobs: string, { digest }: Descriptor): Promise<Manifest> {
  const bytes = await readFile(blobPath(blobs, digest));
  if (`sha256:${createHash("sha256").update(bytes).digest("hex")}` !== digest)
    throw new BrokenImages(`${blobPath(blobs, digest)} does not have the digest of its name.`);
  return JSON.parse(bytes.toString("utf8")) as Manifest;
}

const blobPath = (blobs: string, digest: string) => join(blobs, blobFile(digest));

export const blobFile = (digest: string) => digest.slice("sha256:".length);

import { createReadStream } from "node:fs";
import { join } from "node:path";
import type { Readable, Writable } from "node:stream";
import { type Pack, pack } from "tar-stream";
import { blobFile, imageOf, type Repository } from "./image-store.adapter.ts";

/** Containerd names an imported image by it. */
const CONTAINERD_NAME = "io.containerd.image.name";

/**
 * An OCI archive with one image, for `ctr images import` on a node that cannot pull. The image gets the names under which a release
 * refers to it: by its tag and by its digest, below the registry where one is given.
 */
export function exportImage(name: string, repository: Repository, registry: string | null): Readable {
  const image = imageOf(repository);
  if (!image) throw new Error(`${name} has no image.`);
  const [tag, index] = image;
  const base = registry === null ? name : `${registry}/${name}`;
  const named = [`${base}:${tag}`, `${base}@${index.digest}`].map((text) => ({
    mediaType: index.mediaType,
    digest: index.digest,
    size: index.size,
    annotations: { [CONTAINERD_NAME]: text, "org.opencontainers.image.ref.name": tag },
  }));
  const archive = pack();
  const write = async () => {
    archive.entry({ name: "oci-layout" }, JSON.stringify({ imageLayoutVersion: "1.0.0" }));
    archive.entry({ name: "index.json" }, JSON.stringify({ schemaVersion: 2, manifests: named }));
    for (const { digest, size } of repository.contents.values())
      await addFile(archive, `blobs/sha256/${blobFile(digest)}`, size, join(repository.blobs, blobFile(digest)));
    archive.finalize();
  };
  write().catch((error: Error) => archive.destroy(error));
  return archive as unknown as Readable;
}

const addFile = (archive: Pack, name: string, size: number, path: string): Promise<void> =>
  new Promise((done, failed) => {
    const entry = archive.entry({ name, size }, (error) => (error ? failed(error) : done()));
    createReadStream(path)
      .on("error", failed)
      .pipe(entry as unknown as Writable);
  });

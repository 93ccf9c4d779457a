import { createHash } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const INDEX = "application/vnd.oci.image.index.v1+json";
const MANIFEST = "application/vnd.oci.image.manifest.v1+json";
const LAYER = "application/vnd.oci.image.layer.v1.tar+gzip";

interface Written {
  readonly mediaType: string;
  readonly digest: string;
  readonly size: number;
}

/** Writes an OCI image layout with one image of one layer, under a tag; returns what a client would ask for. */
export function writeLayout(folder: string, tag: string, layer: Buffer) {
  const blobs = join(folder, "blobs/sha256");
  mkdirSync(blobs, { recursive: true });
  const write = (mediaType: string, content: Buffer | object): Written => {
    const bytes = Buffer.isBuffer(content) ? content : Buffer.from(JSON.stringify(content));
    const hex = createHash("sha256").update(bytes).digest("hex");
    writeFileSync(join(blobs, hex), bytes);
    return { mediaType, digest: `sha256:${hex}`, size: bytes.length };
  };
  const layers = [write(LAYER, layer)];
  const config = write("application/vnd.oci.image.config.v1+json", { os: "linux", architecture: "amd64" });
  const manifest = write(MANIFEST, { schemaVersion: 2, mediaType: MANIFEST, config, layers });
  const index = write(INDEX, { schemaVersion: 2, mediaType: INDEX, manifests: [manifest] });
  const tagged = { ...index, annotations: { "org.opencontainers.image.ref.name": tag } };
  writeFileSync(join(folder, "oci-layout"), JSON.stringify({ imageLayoutVersion: "1.0.0" }));
  writeFileSync(join(folder, "index.json"), JSON.stringify({ schemaVersion: 2, manifests: [tagged] }));
  return { index, manifest, config, layer: layers[0] as Written, blobs };
}

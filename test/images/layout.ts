import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { inject } from "vitest";
import type { Descriptor, RunConfig } from "../../scripts/images/oci.ts";
import { type Entry, readTar } from "../../scripts/images/tar.ts";

/** Reading the layouts that were built. */

export const VERSION: string = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")).version;

export const blobPath = (name: string, digest: string) =>
  join(inject("images"), name, "blobs", digest.replace(":", "/"));

export const readBlob = (name: string, { digest }: Descriptor): Buffer => readFileSync(blobPath(name, digest));

const readJson = (name: string, descriptor: Descriptor) => JSON.parse(readBlob(name, descriptor).toString());

/** The artifact of a layout whose tag ends like that. */
export function artifact(name: string, ending: string): Descriptor {
  const { manifests } = JSON.parse(readFileSync(join(inject("images"), name, "index.json"), "utf8"));
  return manifests.find(({ annotations }: Descriptor) => Object.values(annotations ?? {})[0]?.endsWith(ending));
}

export const manifestOf = (name: string, ending: string) => readJson(name, artifact(name, ending));

export interface PlatformImage {
  readonly layers: readonly Descriptor[];
  readonly config: { readonly config: RunConfig; readonly architecture: string };
}

export function imageOf(name: string, architecture: string): PlatformImage {
  const { manifests } = manifestOf(name, VERSION);
  const { layers, config } = readJson(
    name,
    manifests.find(({ platform }: Descriptor) => platform?.architecture === architecture),
  );
  return { layers, config: readJson(name, config) };
}

/** The files and links of an image over all its layers. */
export function filesOf(name: string, architecture: string): Map<string, Entry> {
  const { layers } = imageOf(name, architecture);
  return new Map(layers.flatMap((layer) => [...readTar(gunzipSync(readBlob(name, layer)))]));
}

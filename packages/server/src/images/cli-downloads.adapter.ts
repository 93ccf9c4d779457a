import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { archiveOf } from "@binnacle/charts";
import { productVersion } from "../product-version.adapter.ts";
import { type ImageStore, imageOf, readManifest } from "./image-store.adapter.ts";
import type { CliDownloads } from "./install-script.ts";

/** What a layer holds, as `npm run images` writes it. */
const CONTENTS = "dev.binnacle.contents";

/**
 * Finds the command line among the layers of its own image, so that it is neither stored nor shipped twice. Null where the store has
 * no such image, or one of a version without these layers.
 */
export async function cliDownloads(store: ImageStore): Promise<CliDownloads | null> {
  const repository = store.get("binnacle/cli");
  const image = repository && imageOf(repository);
  if (!image) return null;
  const [version, index] = image;
  const executables = new Map<string, string>();
  let file: string | undefined;
  for (const manifest of (await readManifest(repository.blobs, index)).manifests ?? []) {
    const { layers = [] } = await readManifest(repository.blobs, manifest);
    const digestOf = (contents: string) => layers.find((layer) => layer.annotations?.[CONTENTS] === contents)?.digest;
    const executable = digestOf("executable");
    if (executable && manifest.platform?.os === "linux") executables.set(manifest.platform.architecture, executable);
    file ??= digestOf("program");
  }
  return executables.size > 0 && file !== undefined ? { version, path: BLOBS, executables, file } : null;
}

const BLOBS = "/v2/binnacle/cli/blobs/sha256:";

export interface BundledCli {
  readonly downloads: CliDownloads;
  readonly archive: Buffer;
}

const BUILT = new URL("../../../cli/build/binnacle.mjs", import.meta.url);

/**
 * The file for Node.js, which the server's image has too, in the form of a layer: for a control plane whose images are in another
 * registry. Null in a checkout where it is not built.
 */
export async function bundledCli(built = BUILT): Promise<BundledCli | null> {
  const content = await readFile(built).catch(() => null);
  if (!content) return null;
  const archive = await archiveOf([{ path: "app/binnacle.mjs", content }]);
  const file = `sha256:${createHash("sha256").update(archive).digest("hex")}`;
  return { archive, downloads: { version: await productVersion(), path: "/install/", executables: new Map(), file } };
}

import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { bundled } from "./bundle.adapter.ts";
import type { ImageDefinition } from "./definitions.ts";

const run = promisify(execFile);
const blobs = new Map<string, Promise<Buffer>>();

/** The program of an image in the form that a single executable holds. It is the same for every platform, and made once. */
export function programBlob(root: string, image: ImageDefinition): Promise<Buffer> {
  const blob = blobs.get(image.name) ?? written(root, image);
  blobs.set(image.name, blob);
  return blob;
}

async function written(root: string, { entry, command }: ImageDefinition): Promise<Buffer> {
  // Node.js writes the name of the file into the blob, so it is given without its folder.
  const [main, output, config] = [`${command}.cjs`, `${command}.blob`, "config.json"];
  const { content } = await bundled({ root, entry, path: main, format: "cjs" });
  const folder = await mkdtemp(join(tmpdir(), "binnacle-blob-"));
  try {
    await writeFile(join(folder, main), content);
    // A code cache would be that of this processor alone.
    const options = { main, output, disableExperimentalSEAWarning: true, useCodeCache: false };
    await writeFile(join(folder, config), JSON.stringify(options));
    await run(process.execPath, ["--experimental-sea-config", config], { cwd: folder, env: {} });
    return await readFile(join(folder, output));
  } finally {
    await rm(folder, { recursive: true });
  }
}

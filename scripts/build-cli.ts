import { chmod, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { CLI } from "./images/definitions.ts";
import { programBlob } from "./images/program-blob.adapter.ts";
import { singleExecutable } from "./images/single-executable.ts";
import { cliPackage } from "./release/cli-package.adapter.ts";

/**
 * Builds `binnacle` as the package that is published, whose one file runs on Node.js 20.12 or newer; with `--binary` also as one
 * executable for Linux that holds Node.js itself.
 */
const { values } = parseArgs({
  options: { out: { type: "string", default: "packages/cli/build" }, binary: { type: "boolean", default: false } },
});
const root = new URL("../", import.meta.url).pathname;
const out = resolve(root, values.out);

await rm(out, { recursive: true, force: true });
await mkdir(out, { recursive: true });
for (const [name, content] of await cliPackage(root)) await writeFile(join(out, name), content);
await chmod(join(out, CLI.bundle), 0o755);

if (values.binary) {
  if (process.platform !== "linux") throw new Error("The executable is built on Linux, for Linux.");
  const executable = singleExecutable(await readFile(process.execPath), await programBlob(root, CLI));
  await writeFile(join(out, "binnacle"), executable, { mode: 0o755 });
}

import { spawnSync } from "node:child_process";
import { chmodSync, copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { type BuildOptions, build } from "esbuild";
// @ts-expect-error The package has no types.
import { inject } from "postject";

/**
 * Builds `binnacle` as one file that runs on Node.js 20 or newer; with `--binary` also as one executable for Linux that
 * holds Node.js itself.
 */
const { values } = parseArgs({
  options: { out: { type: "string", default: "packages/cli/build" }, binary: { type: "boolean", default: false } },
});
const root = new URL("..", import.meta.url).pathname;
const out = resolve(root, values.out);
const entry = join(root, "packages/cli/src/main.ts");
const common: BuildOptions = {
  entryPoints: [entry],
  bundle: true,
  platform: "node",
  target: "node20",
  minify: true,
  legalComments: "eof",
};

rmSync(out, { recursive: true, force: true });
mkdirSync(out, { recursive: true });
const bundle = join(out, "binnacle.mjs");
// Some of the libraries are CommonJS and call `require` for Node's own modules.
const banner = {
  js: 'import { createRequire as __createRequire } from "node:module"; const require = __createRequire(import.meta.url);',
};
await build({ ...common, format: "esm", outfile: bundle, banner });
chmodSync(bundle, 0o755);

if (values.binary) {
  if (process.platform !== "linux") throw new Error("The executable is built on Linux, for Linux.");
  const script = join(out, "binnacle.cjs");
  const blob = join(out, "binnacle.blob");
  const config = join(out, "sea.json");
  const binary = join(out, "binnacle");
  await build({ ...common, format: "cjs", outfile: script });
  writeFileSync(
    config,
    JSON.stringify({ main: script, output: blob, disableExperimentalSEAWarning: true, useCodeCache: false }),
  );
  const made = spawnSync(process.execPath, ["--experimental-sea-config", config], {
    stdio: ["ignore", "ignore", "inherit"],
  });
  if (made.status !== 0) process.exit(made.status ?? 1);
  copyFileSync(process.execPath, binary);
  await inject(binary, "NODE_SEA_BLOB", readFileSync(blob), {
    sentinelFuse: "NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2",
  });
  chmodSync(binary, 0o755);
  for (const file of [script, blob, config]) rmSync(file);
}

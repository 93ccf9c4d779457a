import { spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";

/**
 * Builds `@binnacle/client` as it is published: `npm publish packages/client/build`. In this repository the package is used
 * from its sources, so what is published has a manifest of its own.
 */
const { values } = parseArgs({ options: { out: { type: "string", default: "packages/client/build" } } });
const root = new URL("..", import.meta.url).pathname;
const source = join(root, "packages/client");
const out = resolve(root, values.out);

rmSync(out, { recursive: true, force: true });
mkdirSync(out, { recursive: true });
const compiler = join(root, "node_modules/typescript/bin/tsc");
const project = join(source, "tsconfig.build.json");
const compiled = spawnSync(process.execPath, [compiler, "--project", project, "--outDir", join(out, "dist")], {
  stdio: "inherit",
});
if (compiled.status !== 0) process.exit(compiled.status ?? 1);

const { name, version, description, license, type, sideEffects } = JSON.parse(
  readFileSync(join(source, "package.json"), "utf8"),
);
const manifest = {
  name,
  version,
  description,
  keywords: ["binnacle", "kubernetes", "client", "api"],
  license,
  type,
  exports: { ".": { types: "./dist/index.d.ts", default: "./dist/index.js" } },
  types: "./dist/index.d.ts",
  files: ["dist"],
  sideEffects,
  engines: { node: ">=20" },
};
writeFileSync(join(out, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`);
copyFileSync(join(source, "README.md"), join(out, "README.md"));
copyFileSync(join(root, "LICENSE"), join(out, "LICENSE"));

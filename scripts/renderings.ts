import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { KEPT_RENDERINGS, presentRenderings } from "../packages/operator/src/app/render/kept-renderings.fixture.ts";
import { sectionOf } from "./release/changelog.ts";
import { requireNewer } from "./release/versions.ts";

/**
 * Keeps what this checkout renders as that of a release, with which tests compare later ones: `npm run renderings -- <version>`. It replaces
 * what is kept of a version until that is released.
 */
const ROOT = new URL("../", import.meta.url);
const [version] = process.argv.slice(2);
try {
  if (!version) throw new Error("Say which release: npm run renderings -- <version>");
  const { version: current } = JSON.parse(readFileSync(new URL("package.json", ROOT), "utf8")) as { version: string };
  requireNewer(version, current);
  if (sectionOf(readFileSync(new URL("CHANGELOG.md", ROOT), "utf8"), version))
    throw new Error(`${version} is released, so its renderings stay as they are. Name the next version.`);
  const folder = new URL(`${version}/`, KEPT_RENDERINGS);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  for (const [file, text] of presentRenderings()) writeFileSync(new URL(file, folder), text);
  process.stdout.write("Read the difference. Where pods restart, a test says which line CHANGELOG.md needs.\n");
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`);
  process.exitCode = 1;
}

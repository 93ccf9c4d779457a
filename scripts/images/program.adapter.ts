import { globSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { type Bundle, bundled } from "./bundle.adapter.ts";
import { type ImageDefinition, NODE } from "./definitions.ts";
import { type Lockfile, packageOf, withDependencies } from "./lockfile.ts";
import { file, text, USER } from "./root-filesystem.ts";
import type { Entry } from "./tar.ts";

/** What is above Node.js in an image, for every platform the same. */
export interface Program {
  readonly entries: readonly Entry[];
  /** The paths of the packages that are in it, as the lockfile has them. */
  readonly packages: readonly string[];
}

/** Editors, package managers and OpenTofu leave files in the folders of a checkout. None of them may change a digest. */
const LEFT_BEHIND = /(^|\/)(\.DS_Store|inputs\.txt|\.terraform|[^/]*\.tfstate[^/]*|[^/]*~|[^/]*\.sw[op])(\/|$)/;

/** Bundles the program with its threads, and adds the files that it reads. */
export async function programOf(root: string, image: ImageDefinition, lockfile: Lockfile): Promise<Program> {
  const { entry, bundle: path, target = "node24" } = image;
  const main = await bundled({ root, entry, path, target });
  const bundles = [main, ...(await threadsOf(root, main)), ...(await handedOut(root, image))];
  const packages = new Set(bundles.flatMap(({ sources }) => sources.map(packageOf)).filter((path) => path !== null));
  for (const workspace of image.workspaces) withDependencies(lockfile, workspace, packages);
  return {
    entries: [
      text("app/package.json", `${JSON.stringify({ type: "module" })}\n`),
      file("app/LICENSE", await readFile(join(root, "LICENSE"))),
      text("app/THIRD-PARTY-LICENSES.txt", await licencesOf(root, [...packages])),
      ...bundles.map(({ path, content }) => file(`app/${path}`, content, path.endsWith(".mjs") ? 0o755 : 0o644)),
      ...launcherOf(image),
      ...(await filesIn(root, image.files)),
      ...image.folders.map((path) => ({ type: "folder", path, mode: 0o750, owner: USER }) as const),
    ],
    packages: [...packages],
  };
}

/** Node.js runs it by its first line, because the image has no shell. */
function launcherOf({ launcher, bundle }: ImageDefinition): Entry[] {
  if (!launcher) return [];
  return [file(`usr/local/bin/${launcher}`, Buffer.from(`#!${NODE}\nimport "/app/${bundle}";\n`), 0o755)];
}

async function threadsOf(root: string, { workers }: Bundle): Promise<Bundle[]> {
  return Promise.all(workers.map((entry) => bundled({ root, entry, path: entry.replace(/\.ts$/, ".js") })));
}

async function handedOut(root: string, { handsOut = {} }: ImageDefinition): Promise<Bundle[]> {
  const programs = Object.entries(handsOut);
  return Promise.all(programs.map(([path, { entry, target = "node24" }]) => bundled({ root, entry, path, target })));
}

async function filesIn(root: string, patterns: readonly string[]): Promise<Entry[]> {
  const found = patterns.map((pattern) => {
    const entries = globSync(pattern, { cwd: root, withFileTypes: true }).filter((entry) => entry.isFile());
    const paths = entries.map((entry) => join(entry.parentPath, entry.name).slice(root.length));
    const wanted = paths.filter((path) => !LEFT_BEHIND.test(path));
    if (wanted.length === 0) throw new Error(`No file for the image has a path like ${pattern}.`);
    return wanted;
  });
  const paths = [...new Set(found.flat())].sort();
  return Promise.all(paths.map(async (path) => file(`app/${path}`, await readFile(join(root, path)))));
}

/** The licences of the packages, which have to go with them. */
async function licencesOf(root: string, packages: readonly string[]): Promise<string> {
  const foreign = packages.filter((path) => path.includes("node_modules/")).sort();
  const texts = foreign.map(async (path) => {
    const found = globSync("{LICEN,[Ll]icen}[CScs][Ee]*", { cwd: join(root, path), withFileTypes: true });
    const [name] = found.flatMap((entry) => (entry.isFile() ? [entry.name] : [])).sort();
    const own = name ? await readFile(join(root, path, name), "utf8") : null;
    const { license } = JSON.parse(await readFile(join(root, path, "package.json"), "utf8")) as { license?: string };
    return `${path.replace(/^.*node_modules\//, "")}\n\n${own?.trim() ?? license ?? "The package names no licence."}\n`;
  });
  return (await Promise.all(texts)).join(`\n${"-".repeat(80)}\n\n`);
}

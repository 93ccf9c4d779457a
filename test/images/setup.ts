import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import type { TestProject } from "vitest/node";
import { ARCHITECTURES } from "../../scripts/images/pins.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** The folder that this checkout has written images to. */
    images: string;
    /** The same by a copy of the checkout elsewhere, in another time zone, 400 days later. */
    imagesElsewhere: string;
    /** That copy of the checkout, and the environment in which it is used. */
    elsewhere: string;
    environmentElsewhere: Readonly<Record<string, string>>;
    /** Those that were built. */
    architectures: readonly string[];
    /** What was printed about them. */
    imageSizes: string;
  }
}

const run = promisify(execFile);
const ROOT = new URL("../../", import.meta.url).pathname;

/** Files that are not part of a fresh clone, and the packages, which are linked. */
const NOT_COPIED = new Set(["node_modules", ".git", ".data", "dist", "build"]);

/** Such as `linux/amd64`, where the other parts are not at hand; all unless told. */
const PLATFORMS = (process.env["IMAGE_PLATFORMS"] ?? "").split(" ").filter(Boolean);

const LATER = `
const { now } = Date;
const later = () => now() + 400 * 24 * 60 * 60 * 1000;
globalThis.Date = class extends Date {
  constructor(...given) { super(...(given.length > 0 ? given : [later()])); }
  static now() { return later(); }
};
`;

/** Builds the images twice. The packages of both checkouts are the same files, as `npm ci` would make them. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), "binnacle-images-"));
  const elsewhere = join(folder, "a/deeper/folder");
  await mkdir(elsewhere, { recursive: true });
  const isCopied = (path: string) =>
    !path
      .slice(ROOT.length)
      .split("/")
      .some((step) => NOT_COPIED.has(step));
  await cp(ROOT, elsewhere, { recursive: true, filter: isCopied });
  const packages = [join(ROOT, "node_modules"), join(elsewhere, "node_modules")];
  // Links cannot lead to another disk.
  await run("cp", ["-al", ...packages]).catch(() => run("cp", ["-a", ...packages]));
  await run("sh", ["-c", 'for folder in packages/*/node_modules; do cp -a "$folder" "$0/$folder"; done', elsewhere], {
    cwd: ROOT,
  });
  const later = join(folder, "later.mjs");
  await writeFile(later, LATER);
  const images = (from: string, output: string, env: Record<string, string>) =>
    run(
      "npm",
      ["run", "--silent", "images", "--", "--output", output, ...PLATFORMS.flatMap((name) => ["--platform", name])],
      { cwd: from, env: { ...process.env, ...env } },
    );

  const [first, second] = [join(folder, "first"), join(folder, "second")];
  const { stdout } = await images(ROOT, first, {});
  const environment = { TZ: "Asia/Tokyo", LC_ALL: "tr_TR.UTF-8", NODE_OPTIONS: `--import=${later}` };
  await images(elsewhere, second, environment);
  project.provide("images", first);
  project.provide(
    "architectures",
    PLATFORMS.length > 0 ? PLATFORMS.map((name) => name.slice("linux/".length)) : [...ARCHITECTURES],
  );
  project.provide("imagesElsewhere", second);
  project.provide("elsewhere", elsewhere);
  project.provide("environmentElsewhere", environment);
  project.provide("imageSizes", stdout);
  return () => rm(folder, { recursive: true, force: true });
}

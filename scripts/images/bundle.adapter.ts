import { readFile } from "node:fs/promises";
import { dirname, posix, relative } from "node:path";
import { build, type Plugin } from "esbuild";
import { placed } from "./places.ts";

/** What a bundle was made of, and the bundle. */
export interface Bundle {
  /** Its path below `/app`. */
  readonly path: string;
  readonly content: Buffer;
  /** Paths of the sources in it, relative to the repository. */
  readonly sources: readonly string[];
  /** Modules of threads that sources start, relative to the repository. */
  readonly workers: readonly string[];
}

export interface BundleOptions {
  readonly root: string;
  /** The source to begin with, relative to the repository. */
  readonly entry: string;
  readonly path: string;
  /** A single executable takes CommonJS. */
  readonly format?: "esm" | "cjs";
  /** The oldest Node.js that runs it. */
  readonly target?: string;
}

/** One file with everything that the entry imports. Names are kept, so that the stack of an error can be read. */
export async function bundled({
  root,
  entry,
  path,
  format = "esm",
  target = "node24",
}: BundleOptions): Promise<Bundle> {
  const workers = new Set<string>();
  const { outputFiles, metafile } = await build({
    absWorkingDir: root,
    entryPoints: [entry],
    outfile: path,
    write: false,
    metafile: true,
    bundle: true,
    platform: "node",
    target,
    format,
    keepNames: true,
    minifySyntax: true,
    minifyWhitespace: true,
    legalComments: "none",
    logLevel: "error",
    // Each platform has a build of its own.
    external: ["@node-rs/argon2-*"],
    banner: format === "esm" ? { js: bannerFor(path) } : {},
    plugins: format === "esm" ? [placesOf(root, workers)] : [],
  });
  const [file] = outputFiles;
  if (!file) throw new Error(`The bundle of ${entry} is empty.`);
  return { path, content: Buffer.from(file.contents), sources: Object.keys(metafile.inputs), workers: [...workers] };
}

/** Libraries that are CommonJS call `require` for modules of Node.js. */
function bannerFor(path: string): string {
  const toRoot = posix.relative(posix.dirname(path), "") || ".";
  return [
    'import { createRequire as __createRequire } from "node:module";',
    "const require = __createRequire(import.meta.url);",
    `const __placeOf = (path) => new URL(path, new URL("${toRoot}/", import.meta.url));`,
  ].join("\n");
}

/** Sources that look for files beside themselves find them where the image has them: at the same place below `/app`. */
function placesOf(root: string, workers: Set<string>): Plugin {
  return {
    name: "places",
    setup({ onLoad }) {
      onLoad({ filter: /\.[cm]?[jt]s$/ }, async ({ path }) => {
        const place = relative(root, path);
        const source = placed(await readFile(path, "utf8"), place);
        if (!source) return null;
        for (const worker of source.workers) workers.add(posix.join(dirname(place), worker));
        return { contents: source.text, loader: path.endsWith("ts") ? "ts" : "js" };
      });
    },
  };
}

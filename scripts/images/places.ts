import { posix } from "node:path";

export interface PlacedSource {
  readonly text: string;
  /** Modules of threads that it starts, relative to it. */
  readonly workers: readonly string[];
}

const WORKER = /(new URL\("(\.[^"]+\.worker))\.ts("\s*,\s*import\.meta\.url)/g;

/**
 * A source whose place is asked for at run time, with the answer that it has in the image; null for all others. `place` is its
 * path relative to the repository. In a bundle `import.meta.url` is the bundle's, and `__dirname` does not exist.
 */
export function placed(text: string, place: string): PlacedSource | null {
  if (!/\bimport\.meta\.url\b|\b__dirname\b|\b__filename\b/.test(text)) return null;
  const workers = [...text.matchAll(WORKER)].map((match) => `${match[2]}.ts`);
  const of = (path: string) => `__placeOf(${JSON.stringify(path)})`;
  return {
    // Threads are started from bundles too.
    text: text
      .replace(WORKER, "$1.js$3")
      .replace(/\bimport\.meta\.url\b/g, `${of(place)}.href`)
      .replace(/\b__dirname\b/g, `${of(posix.dirname(place))}.pathname`)
      .replace(/\b__filename\b/g, `${of(place)}.pathname`),
    workers,
  };
}

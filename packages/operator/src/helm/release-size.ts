import { promisify } from "node:util";
import { gzip } from "node:zlib";
import type { ArchivedFile } from "@binnacle/charts";
import { HelmFailure, TOO_LARGE } from "./failure.ts";

const compress = promisify(gzip);

/** Of a Secret, in bytes. */
const LARGEST_SECRET = 1_048_576;
/** Compressors differ by so much. A release that is refused here would not have been stored. */
const TOLERANCE = 1.02;
/** Files are in the record as base64, and the compressed record again. */
const GROWTH = (4 / 3) ** 2;

interface Made {
  /** Of the chart. */
  readonly files: readonly ArchivedFile[];
  readonly manifest: string;
  readonly values: Readonly<Record<string, unknown>>;
}

/**
 * Refuses a release that Helm could not store. Helm itself finds out only when it has run the hooks that come before the objects.
 */
export async function requireStorable({ files, manifest, values }: Made): Promise<void> {
  const stored = files.filter(({ path }) => !isOfSubchart(path));
  const bytes = stored.reduce((sum, { content }) => sum + content.length, Buffer.byteLength(manifest));
  if (bytes * GROWTH < LARGEST_SECRET) return;
  const chart = stored.map(({ path, content }) => ({ name: path, data: content.toString("base64") }));
  const record = await compress(JSON.stringify({ chart, manifest, config: values }), { level: 9 });
  if ((record.length * 4) / 3 > LARGEST_SECRET * TOLERANCE) throw new HelmFailure(TOO_LARGE, "ReleaseTooLarge");
}

/** Helm stores what charts within the chart make, and not the charts. */
const isOfSubchart = (path: string): boolean => /^[^/]+\/charts\//.test(path);

import { Readable, Transform } from "node:stream";
import { buffer } from "node:stream/consumers";
import { promisify } from "node:util";
import { createGunzip, gzip } from "node:zlib";
import { type Extract, extract, pack } from "tar-stream";
import { ArchiveProblem } from "./problems.ts";

export interface ArchivedFile {
  /** Relative, with forward slashes. */
  readonly path: string;
  readonly content: Buffer;
}

export const LARGEST_ARCHIVE_BYTES = 20 * 1024 * 1024;
export const LARGEST_FILE_BYTES = 512 * 1024;
const LARGEST_UNPACKED_BYTES = 64 * 1024 * 1024;
/** Files are cut off after it, so that a larger one can be told by its length. */
const MOST_FILE_BYTES = LARGEST_FILE_BYTES + 1;
const MOST_ENTRIES = 10_000;
const DEEPEST_PATH = 32;

type Entry = Extract extends AsyncIterable<infer E> ? E : never;

const compress = promisify(gzip);
const BEFORE_ALL = new Date(0);

/** A gzipped tar of the files in the order in which they are given. No time and no owner gets into it. */
export async function packFiles(files: readonly ArchivedFile[], { level }: { level: number }): Promise<Buffer> {
  const tar = pack();
  for (const { path, content } of files) tar.entry({ name: path, mode: 0o644, mtime: BEFORE_ALL }, content);
  tar.finalize();
  return compress(await buffer(tar), { level });
}

/** The same files give the same bytes, in whatever order they are given. */
export const archiveOf = (files: readonly ArchivedFile[]): Promise<Buffer> =>
  packFiles(
    files.toSorted((one, other) => (one.path < other.path ? -1 : 1)),
    { level: 9 },
  );

/**
 * The files of a chart that describe it, by their path below the chart's own folder; charts within it are left out. The
 * archive is unpacked piece by piece, and nothing but these files is kept.
 */
export async function chartFiles(archive: Uint8Array, wanted: readonly string[]): Promise<Map<string, Buffer>> {
  const files = new Map<string, Buffer>();
  for await (const { path, entry } of filesIn(archive)) {
    const name = path.slice(path.indexOf("/") + 1);
    if (wanted.includes(name) && !files.has(name)) files.set(name, await contentOf(entry, MOST_FILE_BYTES));
    else entry.resume();
  }
  return files;
}

/** Its regular files, with paths of plain steps. */
export async function unpackChart(archive: Uint8Array): Promise<ArchivedFile[]> {
  const files: ArchivedFile[] = [];
  for await (const { path, entry } of filesIn(archive)) {
    files.push({ path, content: await contentOf(entry, LARGEST_UNPACKED_BYTES) });
  }
  return files;
}

/** Each entry has to be read, or resumed, before the next one comes. Links, devices and folders are left out. */
async function* filesIn(archive: Uint8Array): AsyncGenerator<{ path: string; entry: Entry }> {
  const tar = extract();
  const gunzip = createGunzip();
  gunzip.on("error", () => tar.destroy(new ArchiveProblem("it is not a gzip archive")));
  const bounded = atMost(LARGEST_UNPACKED_BYTES).on("error", (error) => tar.destroy(error));
  Readable.from([archive]).pipe(gunzip).pipe(bounded).pipe(tar);
  let count = 0;
  try {
    for await (const entry of tar) {
      if (++count > MOST_ENTRIES) throw new ArchiveProblem("it holds too many files");
      const path = checkedPath(entry.header.name);
      if (entry.header.type === "file" || entry.header.type === "contiguous-file") yield { path, entry };
      else entry.resume();
    }
  } catch (error) {
    throw error instanceof ArchiveProblem ? error : new ArchiveProblem(messageFor(error));
  } finally {
    gunzip.destroy();
    bounded.destroy();
  }
}

function atMost(bytes: number): Transform {
  let room = bytes;
  return new Transform({
    transform(chunk: Buffer, _, done) {
      room -= chunk.length;
      if (room < 0) done(new ArchiveProblem("it unpacks to too much"));
      else done(null, chunk);
    },
  });
}

function checkedPath(path: string): string {
  const steps = path.split("/").filter((step) => step !== "" && step !== ".");
  if (steps.length > DEEPEST_PATH) throw new ArchiveProblem("its folders nest too deeply");
  // Some programs take a backslash for a step, and would see another file than we do.
  if (steps.includes("..") || path.includes("\\")) throw new ArchiveProblem("it has a path with .. or a backslash");
  return steps.join("/");
}

async function contentOf(entry: Entry, most: number): Promise<Buffer> {
  const parts: Buffer[] = [];
  let room = most;
  for await (const part of entry as AsyncIterable<Buffer>) {
    if (room > 0) parts.push(part.subarray(0, room));
    room -= part.length;
  }
  return Buffer.concat(parts);
}

/** The library's own words are for programmers, and change with its versions. */
const messageFor = (error: unknown) =>
  error instanceof Error && /unexpected end/i.test(error.message) ? "it is incomplete" : "it is not a tar archive";

import { promisify } from "node:util";
import { gunzip } from "node:zlib";
import type { ArchivedFile } from "./archive.ts";

export class ArchiveProblem extends Error {
  override readonly name = "ArchiveProblem";
}

export const LARGEST_ARCHIVE_BYTES = 20 * 1024 * 1024;
const LARGEST_UNPACKED_BYTES = 64 * 1024 * 1024;
const MOST_ENTRIES = 10_000;
const DEEPEST_PATH = 32;
const BLOCK_BYTES = 512;

const unpack = promisify(gunzip);

/** The files of a chart that describe it, by their path below the chart's own folder; charts within it are left out. */
export async function chartFiles(archive: Buffer, wanted: readonly string[]): Promise<Map<string, Buffer>> {
  const files = new Map<string, Buffer>();
  for (const { path, content } of await unpackChart(archive)) {
    const name = path.slice(path.indexOf("/") + 1);
    if (wanted.includes(name) && !files.has(name)) files.set(name, content);
  }
  return files;
}

/** Its regular files, with paths of plain steps. */
export async function unpackChart(archive: Buffer): Promise<ArchivedFile[]> {
  const tar = await unpack(archive, { maxOutputLength: LARGEST_UNPACKED_BYTES }).catch(
    (error: NodeJS.ErrnoException) => {
      throw new ArchiveProblem(
        error.code === "ERR_BUFFER_TOO_LARGE" ? "it unpacks to too much" : "it is no gzip archive",
      );
    },
  );
  const files: ArchivedFile[] = [];
  let count = 0;
  for (const { path, content } of entriesOf(tar)) {
    if (++count > MOST_ENTRIES) throw new ArchiveProblem("it holds too many files");
    const steps = path.split("/").filter((step) => step !== "" && step !== ".");
    if (steps.length > DEEPEST_PATH) throw new ArchiveProblem("its folders nest too deeply");
    // Some programs take a backslash for a step, and would see another file than we do.
    if (steps.includes("..") || path.includes("\\")) throw new ArchiveProblem("a path in it leads astray");
    if (content) files.push({ path: steps.join("/"), content });
  }
  return files;
}

interface TarEntry {
  readonly path: string;
  /** Null for what is no regular file: nothing is made of links, devices and folders. */
  readonly content: Buffer | null;
}

const REGULAR = new Set(["0", "\0", ""]);
const PAX_HEADER = "x";
const GNU_LONG_NAME = "L";

function* entriesOf(tar: Buffer): Generator<TarEntry> {
  let longPath: string | null = null;
  for (let at = 0; at + BLOCK_BYTES <= tar.length; ) {
    const header = tar.subarray(at, at + BLOCK_BYTES);
    if (header.every((byte) => byte === 0)) return;
    const size = sizeOf(header);
    const start = at + BLOCK_BYTES;
    if (start + size > tar.length) throw new ArchiveProblem("it breaks off");
    const content = tar.subarray(start, start + size);
    const type = textAt(header, 156, 1);
    if (type === GNU_LONG_NAME) longPath = content.toString("utf8").replace(/\0.*$/s, "");
    else if (type === PAX_HEADER) longPath = paxPath(content) ?? longPath;
    else {
      const path = longPath ?? shortPath(header);
      longPath = null;
      // Folders are entries too, and count as such.
      yield { path, content: REGULAR.has(type) ? content : null };
    }
    at = start + Math.ceil(size / BLOCK_BYTES) * BLOCK_BYTES;
  }
}

function sizeOf(header: Buffer): number {
  const text = textAt(header, 124, 12).trim();
  if (!/^[0-7]{1,11}$/.test(text)) throw new ArchiveProblem("it is no tar archive");
  return Number.parseInt(text, 8);
}

function shortPath(header: Buffer): string {
  const prefix = textAt(header, 257, 5) === "ustar" ? textAt(header, 345, 155) : "";
  return prefix ? `${prefix}/${textAt(header, 0, 100)}` : textAt(header, 0, 100);
}

function textAt(header: Buffer, start: number, length: number): string {
  return header.toString("utf8", start, start + length).replace(/\0.*$/s, "");
}

/** Records of the form `27 path=some/where\n`, of which only the path is of interest. */
function paxPath(content: Buffer): string | null {
  const text = content.toString("utf8");
  return /(?:^|\n)\d+ path=([^\n]*)\n/.exec(text)?.[1] ?? null;
}

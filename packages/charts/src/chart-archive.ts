import { Readable } from "node:stream";
import { createGunzip } from "node:zlib";
import type { ArchivedFile } from "./archive.ts";

export class ArchiveProblem extends Error {
  override readonly name = "ArchiveProblem";
}

export const LARGEST_ARCHIVE_BYTES = 20 * 1024 * 1024;
export const LARGEST_FILE_BYTES = 512 * 1024;
const LARGEST_UNPACKED_BYTES = 64 * 1024 * 1024;
/** Files are cut off after it, so that a larger one can be told by its length. */
const MOST_FILE_BYTES = LARGEST_FILE_BYTES + 1;
const LARGEST_HEADER_BYTES = 64 * 1024;
const MOST_ENTRIES = 10_000;
const DEEPEST_PATH = 32;
const BLOCK_BYTES = 512;

/**
 * The files of a chart that describe it, by their path below the chart's own folder; charts within it are left out. The
 * archive is unpacked piece by piece, and nothing but these files is kept.
 */
export async function chartFiles(archive: Uint8Array, wanted: readonly string[]): Promise<Map<string, Buffer>> {
  const files = new Map<string, Buffer>();
  for await (const { path, content } of filesOf(archive)) {
    const name = path.slice(path.indexOf("/") + 1);
    if (wanted.includes(name) && !files.has(name)) files.set(name, await content(MOST_FILE_BYTES));
  }
  return files;
}

/** Its regular files, with paths of plain steps. */
export async function unpackChart(archive: Uint8Array): Promise<ArchivedFile[]> {
  const files: ArchivedFile[] = [];
  for await (const { path, content } of filesOf(archive)) {
    files.push({ path, content: await content(LARGEST_UNPACKED_BYTES) });
  }
  return files;
}

async function* filesOf(archive: Uint8Array): AsyncGenerator<TarFile> {
  const tar = new Unpacked(archive);
  let count = 0;
  try {
    for await (const { path, content } of entriesOf(tar)) {
      if (++count > MOST_ENTRIES) throw new ArchiveProblem("it holds too many files");
      const steps = path.split("/").filter((step) => step !== "" && step !== ".");
      if (steps.length > DEEPEST_PATH) throw new ArchiveProblem("its folders nest too deeply");
      // Some programs take a backslash for a step, and would see another file than we do.
      if (steps.includes("..") || path.includes("\\")) throw new ArchiveProblem("a path in it leads astray");
      if (content) yield { path: steps.join("/"), content };
    }
  } finally {
    tar.close();
  }
}

/** What a gzip archive unpacks to, to be read from the start to the end. */
class Unpacked {
  readonly #gunzip = createGunzip();
  readonly #chunks: AsyncIterator<Buffer>;
  #held: Buffer = Buffer.alloc(0);
  #room = LARGEST_UNPACKED_BYTES;

  constructor(archive: Uint8Array) {
    Readable.from([archive]).pipe(this.#gunzip);
    this.#chunks = this.#gunzip[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
  }

  close(): void {
    this.#gunzip.destroy();
  }

  /** Null where there are fewer bytes left. */
  async take(bytes: number): Promise<Buffer | null> {
    const parts: Buffer[] = [];
    for (let missing = bytes; missing > 0; ) {
      if (this.#held.length === 0 && !(await this.#more())) return null;
      const part = this.#held.subarray(0, missing);
      this.#held = this.#held.subarray(part.length);
      missing -= part.length;
      parts.push(part);
    }
    return Buffer.concat(parts);
  }

  async skip(bytes: number): Promise<boolean> {
    for (let missing = bytes; missing > 0; ) {
      if (this.#held.length === 0 && !(await this.#more())) return false;
      const skipped = Math.min(missing, this.#held.length);
      this.#held = this.#held.subarray(skipped);
      missing -= skipped;
    }
    return true;
  }

  async #more(): Promise<boolean> {
    const { done, value } = await this.#chunks.next().catch(() => {
      throw new ArchiveProblem("it is no gzip archive");
    });
    if (done) return false;
    this.#room -= value.length;
    if (this.#room < 0) throw new ArchiveProblem("it unpacks to too much");
    this.#held = value;
    return true;
  }
}

interface TarFile {
  readonly path: string;
  /** At most so much of it. To be called before the next entry is asked for, or not at all. */
  readonly content: (most: number) => Promise<Buffer>;
}

interface TarEntry {
  readonly path: string;
  /** Null for what is no regular file: nothing is made of links, devices and folders. */
  readonly content: TarFile["content"] | null;
}

const REGULAR = new Set(["0", "\0", ""]);
const PAX_HEADER = "x";
const GNU_LONG_NAME = "L";

async function* entriesOf(tar: Unpacked): AsyncGenerator<TarEntry> {
  let longPath: string | null = null;
  for (let header = await tar.take(BLOCK_BYTES); header !== null; header = await tar.take(BLOCK_BYTES)) {
    if (header.every((byte) => byte === 0)) return;
    const size = sizeOf(header);
    const padding = (BLOCK_BYTES - (size % BLOCK_BYTES)) % BLOCK_BYTES;
    const type = textAt(header, 156, 1);
    let left = size;
    const content = async (most: number) => {
      const taken = Math.min(size, most);
      left -= taken;
      return (await tar.take(taken)) ?? breaksOff();
    };
    if (type === GNU_LONG_NAME || type === PAX_HEADER) {
      if (size > LARGEST_HEADER_BYTES) throw new ArchiveProblem("it is no tar archive");
      const text = (await content(size)).toString("utf8");
      longPath = type === PAX_HEADER ? (paxPath(text) ?? longPath) : untilNul(text);
    } else {
      const path = longPath ?? shortPath(header);
      longPath = null;
      // Folders are entries too, and count as such.
      yield { path, content: REGULAR.has(type) ? content : null };
    }
    if (!(await tar.skip(left))) breaksOff();
    await tar.skip(padding);
  }
}

function breaksOff(): never {
  throw new ArchiveProblem("it breaks off");
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

const textAt = (header: Buffer, start: number, length: number) =>
  untilNul(header.toString("utf8", start, start + length));

const untilNul = (text: string) => text.split("\0", 1)[0] ?? "";

/** Records of the form `27 path=some/where\n`, of which only the path is of interest. */
const paxPath = (text: string): string | null => /(?:^|\n)\d{1,20} path=([^\n]*)\n/.exec(text)?.[1] ?? null;

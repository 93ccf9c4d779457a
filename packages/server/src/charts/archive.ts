import { gzipSync } from "node:zlib";

export interface ArchivedFile {
  /** Relative, with forward slashes; at most 100 bytes, which is what a plain tar header holds. */
  readonly path: string;
  readonly content: Buffer;
}

const BLOCK_BYTES = 512;
const LONGEST_PATH_BYTES = 100;
const MODE = 0o644;

/** A gzipped tar. The same files give the same bytes: no time, no owner and no order of a folder gets into it. */
export function archiveOf(files: readonly ArchivedFile[]): Buffer {
  const sorted = files.toSorted((one, other) => (one.path < other.path ? -1 : 1));
  const end = Buffer.alloc(2 * BLOCK_BYTES);
  return gzipSync(Buffer.concat([...sorted.flatMap(entryOf), end]), { level: 9 });
}

function entryOf({ path, content }: ArchivedFile): Buffer[] {
  const padding = Buffer.alloc((BLOCK_BYTES - (content.length % BLOCK_BYTES)) % BLOCK_BYTES);
  return [headerOf(path, content.length), content, padding];
}

/** POSIX ustar. The checksum is taken with its own field full of spaces. */
function headerOf(path: string, sizeBytes: number): Buffer {
  if (Buffer.byteLength(path) > LONGEST_PATH_BYTES) throw new Error(`${path} is too long for the archive`);
  const header = Buffer.alloc(BLOCK_BYTES);
  header.write(path, 0);
  header.write(octal(MODE, 8), 100);
  header.write(octal(0, 8), 108);
  header.write(octal(0, 8), 116);
  header.write(octal(sizeBytes, 12), 124);
  header.write(octal(0, 12), 136);
  header.write(" ".repeat(8), 148);
  header.write("0", 156);
  header.write("ustar\x0000", 257);
  const checksum = header.reduce((sum, byte) => sum + byte, 0);
  header.write(`${octal(checksum, 7)} `, 148);
  return header;
}

/** As many digits as fit in the field, and a NUL behind them. */
const octal = (value: number, fieldBytes: number) => `${value.toString(8).padStart(fieldBytes - 1, "0")}\0`;

import { gzipSync } from "node:zlib";

export interface ArchivedFile {
  /** Relative, with forward slashes. */
  readonly path: string;
  readonly content: Buffer;
}

const BLOCK_BYTES = 512;
/** Of a path in a plain tar header; a longer one stands in an entry of its own before it. */
const LONGEST_PATH_BYTES = 100;
const LONG_PATH = { path: "././@LongLink", type: "L" } as const;
const REGULAR = "0";
const MODE = 0o644;

/** A gzipped tar. The same files give the same bytes: no time, no owner and no order of a folder gets into it. */
export function archiveOf(files: readonly ArchivedFile[]): Buffer {
  return gzipSync(tarOf(files.toSorted((one, other) => (one.path < other.path ? -1 : 1))), { level: 9 });
}

/** In the order in which they are given. */
export const tarOf = (files: readonly ArchivedFile[]): Buffer =>
  Buffer.concat([...files.flatMap(entriesOf), Buffer.alloc(2 * BLOCK_BYTES)]);

function entriesOf({ path, content }: ArchivedFile): Buffer[] {
  const bytes = Buffer.from(path);
  if (bytes.length <= LONGEST_PATH_BYTES) return entryOf(bytes, content, REGULAR);
  const whole = Buffer.concat([bytes, Buffer.alloc(1)]);
  return [
    ...entryOf(Buffer.from(LONG_PATH.path), whole, LONG_PATH.type),
    ...entryOf(bytes.subarray(0, LONGEST_PATH_BYTES), content, REGULAR),
  ];
}

function entryOf(path: Buffer, content: Buffer, type: string): Buffer[] {
  const padding = Buffer.alloc((BLOCK_BYTES - (content.length % BLOCK_BYTES)) % BLOCK_BYTES);
  return [headerOf(path, content.length, type), content, padding];
}

/** POSIX ustar. The checksum is taken with its own field full of spaces. */
function headerOf(path: Buffer, sizeBytes: number, type: string): Buffer {
  const header = Buffer.alloc(BLOCK_BYTES);
  path.copy(header);
  header.write(octal(MODE, 8), 100);
  header.write(octal(0, 8), 108);
  header.write(octal(0, 8), 116);
  header.write(octal(sizeBytes, 12), 124);
  header.write(octal(0, 12), 136);
  header.write(" ".repeat(8), 148);
  header.write(type, 156);
  header.write("ustar\x0000", 257);
  const checksum = header.reduce((sum, byte) => sum + byte, 0);
  header.write(`${octal(checksum, 7)} `, 148);
  return header;
}

/** As many digits as fit in the field, and a NUL behind them. */
const octal = (value: number, fieldBytes: number) => `${value.toString(8).padStart(fieldBytes - 1, "0")}\0`;

/** What a layer or an archive holds. Paths are relative to its root, with forward slashes. */
export type Entry =
  | { readonly type: "file"; readonly path: string; readonly content: Buffer; readonly mode?: number }
  | { readonly type: "link"; readonly path: string; readonly target: string }
  | { readonly type: "folder"; readonly path: string; readonly mode?: number; readonly owner?: number };

const BLOCK_BYTES = 512;
const TYPE_OF = { file: "0", link: "2", folder: "5" } as const;
const LONGEST_NAME = 100;

/**
 * A tar archive that depends on the entries alone: sorted by path, all folders above a file included, times at 0, and everything
 * owned by root except where an entry says otherwise.
 */
export function writeTar(entries: readonly Entry[]): Buffer {
  const byPath = new Map(entries.flatMap((entry) => foldersAbove(entry.path)).map((folder) => [folder.path, folder]));
  for (const entry of entries) {
    const before = byPath.get(entry.path);
    if (before && !(before.type === "folder" && entry.type === "folder")) {
      throw new Error(`Two entries of one archive have the path ${entry.path}.`);
    }
    byPath.set(entry.path, entry);
  }
  const sorted = [...byPath.values()].toSorted((one, other) => (one.path < other.path ? -1 : 1));
  return Buffer.concat([...sorted.flatMap(blocksOf), Buffer.alloc(2 * BLOCK_BYTES)]);
}

function foldersAbove(path: string): Entry[] {
  const steps = path.split("/").slice(0, -1);
  return steps.map((_, index) => ({ type: "folder", path: steps.slice(0, index + 1).join("/") }));
}

function blocksOf(entry: Entry): Buffer[] {
  if (entry.type !== "file") return [headerOf(entry)];
  const padding = Buffer.alloc(-entry.content.length & (BLOCK_BYTES - 1));
  return [headerOf(entry), entry.content, padding];
}

function headerOf(entry: Entry): Buffer {
  const header = Buffer.alloc(BLOCK_BYTES);
  const [name, prefix] = splitPath(entry.type === "folder" ? `${entry.path}/` : entry.path);
  const owner = entry.type === "folder" ? (entry.owner ?? 0) : 0;
  header.write(name, 0);
  header.write(octal(modeOf(entry), 8), 100);
  header.write(octal(owner, 8), 108);
  header.write(octal(owner, 8), 116);
  header.write(octal(entry.type === "file" ? entry.content.length : 0, 12), 124);
  header.write(octal(0, 12), 136);
  header.write(TYPE_OF[entry.type], 156);
  if (entry.type === "link") header.write(entry.target, 157);
  header.write("ustar\x0000", 257);
  header.write(prefix, 345);
  // The checksum is taken with its own field full of spaces.
  header.write(" ".repeat(8), 148);
  header.write(
    `${octal(
      header.reduce((sum, byte) => sum + byte, 0),
      7,
    )} `,
    148,
  );
  return header;
}

function modeOf(entry: Entry): number {
  if (entry.type === "link") return 0o777;
  return entry.mode ?? (entry.type === "folder" ? 0o755 : 0o644);
}

const octal = (value: number, bytes: number): string => `${value.toString(8).padStart(bytes - 1, "0")}\0`;

/** A name has 100 bytes, and what goes before it another 155. */
function splitPath(path: string): readonly [name: string, prefix: string] {
  if (Buffer.byteLength(path) <= LONGEST_NAME) return [path, ""];
  const cut = path.indexOf("/", path.length - LONGEST_NAME - 1);
  const [prefix, name] = [path.slice(0, cut), path.slice(cut + 1)];
  const fits = cut > 0 && Buffer.byteLength(name) <= LONGEST_NAME && Buffer.byteLength(prefix) <= 155;
  if (!fits) throw new Error(`The path is too long for a tar archive: ${path}`);
  return [name, prefix];
}

/** The files and links of an archive by path. Folders, owners and times are left out, because nobody here needs them. */
export function readTar(tar: Buffer): Map<string, Entry> {
  const entries = new Map<string, Entry>();
  let longName: string | null = null;
  for (let at = 0; at + BLOCK_BYTES <= tar.length && tar[at] !== 0; ) {
    const header = tar.subarray(at, at + BLOCK_BYTES);
    const bytes = Number.parseInt(textIn(header, 124, 12), 8);
    const content = tar.subarray(at + BLOCK_BYTES, at + BLOCK_BYTES + bytes);
    if (content.length < bytes) throw new Error("The archive ends in the middle of a file.");
    const type = textIn(header, 156, 1);
    const path = (longName ?? [textIn(header, 345, 155), textIn(header, 0, 100)].filter(Boolean).join("/"))
      .replace(/^\.\//, "")
      .replace(/\/$/, "");
    longName = type === "L" ? textIn(content, 0, bytes) : null;
    if (type === "0" || type === "") entries.set(path, { type: "file", path, content });
    if (type === "2") entries.set(path, { type: "link", path, target: textIn(header, 157, 100) });
    at += BLOCK_BYTES + bytes + (-bytes & (BLOCK_BYTES - 1));
  }
  return entries;
}

function textIn(block: Buffer, start: number, bytes: number): string {
  const field = block.subarray(start, start + bytes);
  const end = field.indexOf(0);
  return field.toString("utf8", 0, end < 0 ? bytes : end).trim();
}

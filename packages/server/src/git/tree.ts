import { type GitObject, gitObject, isObjectId } from "./object.ts";

/** A file, an executable, a symbolic link or a submodule. */
export type FileMode = "100644" | "100755" | "120000" | "160000";

export interface TreeFile {
  readonly mode: FileMode;
  /** Of its blob, or of the commit of a submodule. */
  readonly id: string;
}

/** A folder with all that is below it. It is never changed: a change makes a new one that shares what stays. */
export interface Tree {
  readonly id: string;
  readonly entries: ReadonlyMap<string, Tree | TreeFile>;
}

export interface TreeChange {
  readonly tree: Tree;
  /** The folders and files that the tree before did not have in their places. */
  readonly objects: readonly GitObject[];
}

interface Changes {
  readonly removed: readonly string[][];
  readonly written: readonly { readonly path: readonly string[]; readonly file: TreeFile }[];
}

/** What is written, by `blobOf`, and what is removed, as null. */
export type FileChanges = ReadonlyMap<string, GitObject | null>;

const FOLDER = "40000";
const LONGEST_PATH_BYTES = 4096;
const LONGEST_NAME_BYTES = 255;

const NOTHING = gitObject("tree", Buffer.alloc(0));
export const EMPTY_TREE: Tree = { id: NOTHING.id, entries: new Map() };

/** The tree with these files, in whatever order they come. The paths are not checked: they were read from a repository. */
export function treeOf(files: ReadonlyMap<string, TreeFile>): Tree {
  const written = [...files].map(([path, file]) => ({ path: path.split("/"), file }));
  return changed(EMPTY_TREE, { removed: [], written }, []);
}

/**
 * Applies changes: files are written as blobs. What is removed goes first, so that a folder can take the place of a file.
 * Throws where a path is one that Git or a file system refuses, or names a file and a folder.
 */
export function changedTree(tree: Tree, changes: FileChanges): TreeChange {
  const objects: GitObject[] = [];
  const removed: string[][] = [];
  const written: { path: readonly string[]; file: TreeFile }[] = [];
  for (const [path, blob] of changes) {
    const problem = pathProblem(path);
    if (problem) throw new Error(`The path ${JSON.stringify(path)} ${problem}.`);
    const names = path.split("/");
    if (blob === null) removed.push(names);
    else written.push({ path: names, file: { mode: "100644", id: blob.id } });
    if (blob !== null && fileAt(tree, names)?.id !== blob.id) objects.push(blob);
  }
  const result = changed(tree, { removed, written }, objects);
  // A repository that never had a file has not this one either.
  if (result.entries.size === 0 && objects.length === 0) objects.push(NOTHING);
  return { tree: result, objects };
}

export function filesOf(tree: Tree): Map<string, TreeFile> {
  const files = new Map<string, TreeFile>();
  const visit = (folder: Tree, prefix: string) => {
    for (const [name, entry] of folder.entries) {
      if (isFolder(entry)) visit(entry, `${prefix}${name}/`);
      else files.set(prefix + name, entry);
    }
  };
  visit(tree, "");
  return files;
}

/** Continues a sentence that begins with the path; null where the path can be written. */
export function pathProblem(path: string): string | null {
  if (!path.isWellFormed()) return "is not valid Unicode";
  if (Buffer.byteLength(path) > LONGEST_PATH_BYTES) return `is longer than ${LONGEST_PATH_BYTES} bytes`;
  for (const name of path.split("/")) {
    if (name === "" || name === "." || name === "..") return "has a part that is empty, . or ..";
    if (Buffer.byteLength(name) > LONGEST_NAME_BYTES)
      return `has a part that is longer than ${LONGEST_NAME_BYTES} bytes`;
    if (/[\p{Cc}\\]/u.test(name)) return "has a control character or a backslash";
    if (isReserved(name)) return "has a part that Git keeps for itself";
  }
  return null;
}

/** Names that Git, or a file system that ignores case and some characters, takes for those of its own files. */
function isReserved(name: string): boolean {
  const plain = name.replace(/[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g, "").toLowerCase();
  return plain.startsWith(".git") || /^gi[^.]*~\d/.test(plain);
}

export const isFolder = (entry: Tree | TreeFile): entry is Tree => "entries" in entry;

function fileAt(tree: Tree, path: readonly string[]): TreeFile | undefined {
  let entry: Tree | TreeFile | undefined = tree;
  for (const name of path) {
    if (!entry || !isFolder(entry)) return undefined;
    entry = entry.entries.get(name);
  }
  return entry && !isFolder(entry) ? entry : undefined;
}

function changed(tree: Tree, { removed, written }: Changes, objects: GitObject[]): Tree {
  const entries = new Map(tree.entries);
  const below = new Map<string, { removed: string[][]; written: { path: readonly string[]; file: TreeFile }[] }>();
  const belowOf = (name: string) => {
    const found = below.get(name) ?? { removed: [], written: [] };
    below.set(name, found);
    return found;
  };
  for (const [name = "", ...rest] of removed) {
    const entry = entries.get(name);
    if (rest.length > 0 && entry && isFolder(entry)) belowOf(name).removed.push(rest);
    else if (rest.length === 0 && entry && !isFolder(entry)) entries.delete(name);
  }
  const files = new Map<string, TreeFile>();
  for (const { path, file } of written) {
    const [name = "", ...rest] = path;
    if (rest.length > 0) belowOf(name).written.push({ path: rest, file });
    else files.set(name, file);
  }
  for (const [name, changes] of below) {
    const entry = entries.get(name) ?? EMPTY_TREE;
    if (!isFolder(entry)) throw new Error(`${JSON.stringify(name)} would be a file and a folder.`);
    const folder = changed(entry, changes, objects);
    // Git has no empty folders.
    if (folder.entries.size === 0) entries.delete(name);
    else entries.set(name, folder);
  }
  for (const [name, file] of files) {
    const entry = entries.get(name);
    if (entry && isFolder(entry)) throw new Error(`${JSON.stringify(name)} would be a file and a folder.`);
    entries.set(name, file);
  }
  return sealed(tree, entries, objects);
}

/** Files keep their order in a folder, so that the same content is the same object. */
function sealed(before: Tree, entries: ReadonlyMap<string, Tree | TreeFile>, objects: GitObject[]): Tree {
  const lines = [...entries].map(([name, entry]) => {
    const folder = isFolder(entry);
    return {
      name,
      entry,
      // Git sorts by bytes, and folders as if their names ended with a slash.
      key: Buffer.from(folder ? `${name}/` : name),
      head: Buffer.from(`${folder ? FOLDER : entry.mode} ${name}\0`),
      id: Buffer.from(entry.id, "hex"),
    };
  });
  lines.sort((one, other) => Buffer.compare(one.key, other.key));
  const object = gitObject("tree", Buffer.concat(lines.flatMap(({ head, id }) => [head, id])));
  if (object.id === before.id) return before;
  objects.push(object);
  return { id: object.id, entries: new Map(lines.map(({ name, entry }) => [name, entry])) };
}

/**
 * Reads what `git ls-tree -z --full-tree` prints of one folder. What is below its folders is not read: they stay as they are, and a
 * change cannot reach into them. Null where it has something that cannot be a file.
 */
export function folderListed(listing: Buffer): Map<string, Tree | TreeFile> | null {
  const entries = new Map<string, Tree | TreeFile>();
  for (const line of splitAtNul(listing)) {
    const text = line.toString("utf8");
    const [, type = "", id = "", name = ""] = /^(\d{6} (?:blob|commit|tree)) ([0-9a-f]{40})\t([^/]+)$/.exec(text) ?? [];
    const mode = type.slice(0, FILE_MODE_DIGITS);
    const isTree = type === `0${FOLDER} tree`;
    if (!(isTree || (MODES.has(mode) && !type.endsWith("tree")))) return null;
    if (!Buffer.from(text, "utf8").equals(line)) return null;
    entries.set(name, isTree ? { id, entries: new Map() } : { mode: mode as FileMode, id });
  }
  return entries;
}

const FILE_MODE_DIGITS = 6;
const MODES = new Set<string>(["100644", "100755", "120000", "160000"]);

/** Reads what `git ls-tree -r -z --full-tree` prints. Null where it has something that cannot be a file. */
export function filesListed(listing: Buffer): Map<string, TreeFile> | null {
  const files = new Map<string, TreeFile>();
  for (const line of splitAtNul(listing)) {
    const text = line.toString("utf8");
    const [, mode = "", id = "", path = ""] = /^(\d{6}) (?:blob|commit) ([0-9a-f]{40})\t([\s\S]+)$/.exec(text) ?? [];
    // A name in another encoding would be written back as another name.
    if (!MODES.has(mode) || !isObjectId(id) || !Buffer.from(text, "utf8").equals(line)) return null;
    files.set(path, { mode: mode as FileMode, id });
  }
  return files;
}

function splitAtNul(content: Buffer): Buffer[] {
  const parts: Buffer[] = [];
  for (let from = 0; from < content.length; ) {
    const to = content.indexOf(0, from);
    const end = to === -1 ? content.length : to;
    parts.push(content.subarray(from, end));
    from = end + 1;
  }
  return parts;
}

import { mkdir, readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { type ParsedCommit, parseCommit } from "./commit.ts";
import { type BatchEntry, batchOf } from "./git-output.ts";
import { GitProblem } from "./git-problem.ts";
import type { GitObject } from "./object.ts";
import { packOf } from "./pack.ts";
import { type ProgramEnd, runProgram } from "./program.adapter.ts";
import { filesListed, folderListed, type Tree, type TreeFile } from "./tree.ts";

/** Commits that are read together; a branch that has more of them to apply is taken for a mistake. */
const MOST_COMMITS = 10_000;
/** Bytes of what is read together: the paths of a tree, the commits of a range, or files. */
const MOST_READ_BYTES = 64 * 1024 * 1024;
/** Each fetch and push adds one. */
const MOST_PACKS = 50;
/** Of one folder that is read by itself: some 20,000 files with names as those of keys. */
const MOST_FOLDER_BYTES = 2 * 1024 * 1024;
/** Of the memory that one program of Git may ask for. A repository can be made so that Git would take all of the machine's. */
const MOST_MEMORY_BYTES = 512 * 1024 * 1024;
const LOCAL_TIMEOUT_MS = 60_000;
/** What was last seen at the host. */
const SEEN = "refs/binnacle/seen";

/** Whatever the machine and its users have set up for git is left out. */
const CONFIG = {
  "core.hooksPath": "/dev/null",
  "core.bigFileThreshold": "1m",
  "credential.helper": "",
  "fetch.fsckObjects": "true",
  // As one file, whose size the system limits.
  "fetch.unpackLimit": "1",
  "gc.auto": "0",
  "maintenance.auto": "false",
  "pack.threads": "1",
  "protocol.version": "2",
};

/** The mirror does not have the object. It is fetched again where it may have been lost. */
export class ObjectMissing extends Error {
  override readonly name = "ObjectMissing";
}

export interface RunOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: Buffer | string;
  readonly timeoutMs?: number;
  readonly maxFileBytes?: number;
  readonly maxBytes?: number;
  readonly signal?: AbortSignal | undefined;
}

/** A bare repository that has what was fetched and what was made. It can be lost at any time. */
export interface Mirror {
  readonly run: (args: readonly string[], options?: RunOptions) => Promise<ProgramEnd>;
  /** Makes it if it is missing, and makes it small again. */
  readonly prepare: (maxBytes: number) => Promise<void>;
  readonly drop: () => Promise<void>;
  /** Whether a file has reached the limit, which has ended the program that wrote it. */
  readonly isFull: (maxBytes: number) => Promise<boolean>;
  readonly seen: () => Promise<string | null>;
  readonly setSeen: (head: string | null) => Promise<void>;
  readonly has: (id: string) => Promise<boolean>;
  readonly isAncestor: (older: string, newer: string) => Promise<boolean>;
  readonly write: (objects: readonly GitObject[]) => Promise<void>;
  readonly tree: (commit: string) => Promise<ReadonlyMap<string, TreeFile>>;
  /** One folder of a commit, `""` for the outermost one; null where there is none. */
  readonly folder: (commit: string, path: string) => Promise<Tree | null>;
  readonly blobs: (ids: readonly string[], maxBytes?: number) => Promise<ReadonlyMap<string, Buffer>>;
  readonly commits: (after: string | null, head: string) => Promise<readonly ParsedCommit[]>;
}

export const SEEN_REF = SEEN;

export function createMirror(folder: string, searchPath: string): Mirror {
  const config = Object.entries(CONFIG).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  const base = {
    PATH: searchPath,
    HOME: "/nonexistent",
    LC_ALL: "C",
    GIT_DIR: folder,
    GIT_ALLOW_PROTOCOL: "ssh",
    GIT_ASKPASS: "",
    GIT_ATTR_NOSYSTEM: "1",
    GIT_CONFIG_GLOBAL: "/dev/null",
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_NO_REPLACE_OBJECTS: "1",
    GIT_TERMINAL_PROMPT: "0",
  };

  const run: Mirror["run"] = (args, { env = {}, timeoutMs = LOCAL_TIMEOUT_MS, ...options } = {}) =>
    runProgram({
      program: "git",
      args: [...config, ...args],
      env: { ...base, ...env },
      maxBytes: MOST_READ_BYTES,
      maxMemoryBytes: MOST_MEMORY_BYTES,
      timeoutMs,
      ...options,
    });

  const drop = () => rm(folder, { recursive: true, force: true });

  async function prepare(maxBytes: number): Promise<void> {
    // It has everything again after the next fetch, without what was replaced meanwhile.
    if ((await sizesOf(folder)).reduce((sum, size) => sum + size, 0) > maxBytes) await drop();
    if (!(await isThere(join(folder, "HEAD")))) {
      await drop();
      await mkdir(folder, { recursive: true, mode: 0o700 });
      const { code } = await run(["init", "--quiet", "--bare", "--template="]);
      if (code !== 0) throw new GitProblem("unreadable", "The cache of the Git repository cannot be written.");
    }
    const packs = (await readdir(join(folder, "objects/pack")).catch(() => [])).filter((file) =>
      file.endsWith(".pack"),
    );
    if (packs.length > MOST_PACKS) await run(["repack", "-a", "-d", "-q"]);
  }

  async function seen(): Promise<string | null> {
    const { code, output } = await run(["rev-parse", "--verify", "--quiet", SEEN]);
    return code === 0 ? output.toString("latin1").trim() : null;
  }

  async function setSeen(head: string | null): Promise<void> {
    await run(head === null ? ["update-ref", "-d", SEEN] : ["update-ref", SEEN, head]);
  }

  const has: Mirror["has"] = async (id) => (await run(["cat-file", "-e", id])).code === 0;
  const isAncestor: Mirror["isAncestor"] = async (older, newer) =>
    (await run(["merge-base", "--is-ancestor", older, newer])).code === 0;

  async function write(objects: readonly GitObject[]): Promise<void> {
    if (objects.length === 0) return;
    const { code, errors } = await run(["index-pack", "--stdin", "--strict"], { input: packOf(objects) });
    if (code !== 0) throw new ObjectMissing(errors);
  }

  return {
    run,
    prepare,
    drop,
    isFull: async (maxBytes) => (await sizesOf(folder)).some((size) => size >= maxBytes),
    seen,
    setSeen,
    has,
    isAncestor,
    write,
    ...createReader(run, has, isAncestor),
  };
}

function createReader(
  run: Mirror["run"],
  has: Mirror["has"],
  isAncestor: Mirror["isAncestor"],
): Pick<Mirror, "blobs" | "commits" | "folder" | "tree"> {
  async function entries(
    ids: readonly string[],
    type: string,
    maxBytes = MOST_READ_BYTES,
  ): Promise<readonly BatchEntry[]> {
    const input = ids.map((id) => `${id}\n`).join("");
    const { code, output } = await run(["cat-file", "--batch"], { input, maxBytes });
    const read = code === 0 ? batchOf(output) : null;
    if (read?.length !== ids.length || !read.every((entry) => entry.type === type)) throw new ObjectMissing();
    return read;
  }

  return {
    async tree(commit) {
      const { code, output } = await run(["ls-tree", "-r", "-z", "--full-tree", commit]);
      if (code !== 0) throw new ObjectMissing();
      const files = filesListed(output);
      if (files) return files;
      throw new GitProblem("unreadable", `The commit ${commit} has a file whose name cannot be read.`);
    },
    async folder(commit, path) {
      const found = await run(["rev-parse", "--verify", "--quiet", `${commit}:${path}`]);
      if (found.code !== 0) return (await has(commit)) ? null : missing();
      const id = found.output.toString("latin1").trim();
      const { code, output } = await run(["ls-tree", "-z", "--full-tree", id], { maxBytes: MOST_FOLDER_BYTES });
      if (code !== 0) return missing();
      const entries = folderListed(output);
      if (entries) return { id, entries };
      throw new GitProblem("unreadable", `The commit ${commit} has a file whose name cannot be read.`);
    },
    async blobs(ids, maxBytes) {
      return new Map((await entries([...new Set(ids)], "blob", maxBytes)).map(({ id, content }) => [id, content]));
    },
    async commits(after, head) {
      if (!(await has(head))) throw new ObjectMissing();
      if (after !== null && (after === head || !(await isAncestor(after, head)))) return [];
      const range = after === null ? [head] : [head, `^${after}`];
      const most = `--max-count=${MOST_COMMITS + 1}`;
      const { code, output } = await run(["rev-list", "--topo-order", "--reverse", most, ...range]);
      if (code !== 0) throw new ObjectMissing();
      const ids = output.toString("latin1").split("\n").filter(Boolean);
      if (ids.length > MOST_COMMITS) {
        throw new GitProblem("too_large", `The branch has more than ${MOST_COMMITS} commits that were not read yet.`);
      }
      return (await entries(ids, "commit")).map(({ content }) => parseCommit(content));
    },
  };
}

function missing(): never {
  throw new ObjectMissing();
}

const isThere = (path: string) =>
  stat(path).then(
    () => true,
    () => false,
  );

async function sizesOf(folder: string): Promise<readonly number[]> {
  const files = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  // Git removes files of its own meanwhile.
  const size = (path: string) =>
    stat(path).then(
      (found) => found.size,
      () => 0,
    );
  return Promise.all(files.filter((file) => file.isFile()).map((file) => size(join(file.parentPath, file.name))));
}

import { isMissingBranch, problemOf, pushLineOf } from "./git-output.ts";
import { GitProblem } from "./git-problem.ts";
import type { GitRepository, PushOutcome } from "./git-repository.ts";
import { createMirror, type Mirror, ObjectMissing, SEEN_REF } from "./mirror.adapter.ts";
import { isObjectId } from "./object.ts";
import type { ProgramEnd } from "./program.adapter.ts";
import { sshAddressOf } from "./ssh-address.ts";
import { type SshSettings, withSsh } from "./ssh-session.adapter.ts";
import { isFolder, type Tree } from "./tree.ts";

export interface RepositorySettings extends SshSettings {
  /** `ssh://git@git.example.com/acme/cluster.git`. */
  readonly url: string;
  readonly branch: string;
  /** A folder of this repository alone. It may be lost at any time. */
  readonly cacheFolder: string;
  /** Of what the repository may have in all; a hostile one must not fill the disk. */
  readonly maxBytes?: number;
  readonly timeoutMs?: number;
}

const MOST_REPOSITORY_BYTES = 256 * 1024 * 1024;
const TOO_LARGE = "The Git repository has more than is accepted.";
const NETWORK_TIMEOUT_MS = 60_000;

/** What goes over the network: it needs the key, and may take long. */
interface Remote {
  readonly fetchNow: (signal?: AbortSignal) => Promise<string | null>;
  readonly pushNow: GitRepository["push"];
}

function createRemote(settings: RepositorySettings, mirror: Mirror): Remote {
  const { url, branch, maxBytes = MOST_REPOSITORY_BYTES, timeoutMs = NETWORK_TIMEOUT_MS } = settings;
  const address = sshAddressOf(url);
  const ref = `refs/heads/${branch}`;

  function network(args: readonly string[], signal: AbortSignal | undefined): Promise<ProgramEnd> {
    return withSsh(
      address,
      settings,
      ({ config, env }) =>
        mirror.run(args, {
          env: { ...env, GIT_SSH_COMMAND: `ssh -F '${config}'`, GIT_SSH_VARIANT: "ssh" },
          timeoutMs,
          // A file of the mirror that would be larger ends the transfer.
          maxFileBytes: maxBytes,
          signal,
        }),
      signal,
    );
  }

  async function fetchNow(signal?: AbortSignal): Promise<string | null> {
    await mirror.prepare(maxBytes);
    const options = ["--quiet", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules"];
    const end = await network(["fetch", ...options, url, `+${ref}:${SEEN_REF}`], signal).catch(damaged);
    if (end.code === 0) return mirror.seen();
    if (isMissingBranch(end.errors)) {
      await mirror.setSeen(null);
      return null;
    }
    // The programs do not say so themselves.
    if (await mirror.isFull(maxBytes)) return damaged(new GitProblem("too_large", TOO_LARGE));
    return damaged(problemOf(end.errors));
  }

  /** A damaged mirror would fail again, and so would one that a program left locked when it was ended. */
  async function damaged(error: unknown): Promise<never> {
    const ofMirror = ["too_large", "unreadable", "refused"];
    if (error instanceof GitProblem && ofMirror.includes(error.code)) await mirror.drop();
    throw error;
  }

  async function pushNow(
    objects: Parameters<GitRepository["push"]>[0],
    head: string,
    expected: string | null,
    signal?: AbortSignal,
  ): Promise<PushOutcome> {
    await mirror.prepare(maxBytes);
    if (expected !== null && !(await mirror.has(expected))) {
      const now = await fetchNow(signal);
      if (now !== expected) return now === head ? { result: "pushed" } : { result: "stale", head: now };
    }
    await mirror.write(objects).catch(unknownObject);
    if (expected !== null && !(await mirror.isAncestor(expected, head))) {
      throw new Error("A push must go on from the commit that is expected at the host.");
    }
    const lease = `--force-with-lease=${ref}:${expected ?? ""}`;
    const options = ["--porcelain", "--quiet", "--no-verify", "--no-follow-tags", "--no-signed", lease];
    const end = await network(["push", ...options, url, `${head}:${ref}`], signal);
    const line = pushLineOf(end.output.toString("utf8"));
    if (end.code === 0) {
      await mirror.setSeen(head);
      return { result: "pushed" };
    }
    if (line?.result !== "rejected") throw problemOf(end.errors);
    // The reason has many forms; where the branch is now says more.
    const now = await fetchNow(signal);
    if (now === head) return { result: "pushed" };
    if (now !== expected) return { result: "stale", head: now };
    const why = line.reason ? `: ${line.reason}` : "";
    return { result: "refused", message: `The Git host declines the change of the branch ${branch}${why}.` };
  }

  return { fetchNow, pushNow };
}

/** For a repository of others: each folder is read by itself, however large the rest is. */
export interface GitFolders {
  /** One folder of a commit, `""` for the outermost one; null where there is none. */
  readonly readFolder: (commit: string, path: string, signal?: AbortSignal) => Promise<Tree | null>;
  /** A file that is not larger than this; null where there is none. */
  readonly readFile: (folder: Tree, name: string, maxBytes: number, signal?: AbortSignal) => Promise<Buffer | null>;
}

export function createGitRepository(settings: RepositorySettings): GitRepository & GitFolders {
  const { branch, cacheFolder } = settings;
  if (!/^[A-Za-z0-9][A-Za-z0-9_-]{0,99}$/.test(branch)) {
    throw new GitProblem("not_set_up", "The name of the branch may have letters, digits, hyphens and underscores.");
  }
  const mirror = createMirror(cacheFolder, settings.searchPath);
  const { fetchNow, pushNow } = createRemote(settings, mirror);
  let last: Promise<unknown> = Promise.resolve();

  /** One after the other: the mirror is dropped and made again where it is damaged. */
  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const next = last.then(work, work);
    last = next.catch(() => undefined);
    return next;
  }

  /** Reads from the mirror, which is fetched again where it has lost something. */
  function reading<T>(read: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    return inTurn(async () => {
      try {
        return await read();
      } catch (error) {
        if (!(error instanceof ObjectMissing)) throw error;
      }
      await mirror.drop();
      await fetchNow(signal);
      return read().catch(unknownObject);
    });
  }

  return {
    fetch: (signal) => inTurn(async () => ({ head: await fetchNow(signal) })),
    readTree: (commit) => reading(() => mirror.tree(checked(commit))),
    readFolder: (commit, path, signal) => reading(() => mirror.folder(checked(commit), path), signal),
    async readFile(folder, name, maxBytes, signal) {
      const entry = folder.entries.get(name);
      if (!entry || isFolder(entry) || entry.mode !== "100644") return null;
      const { id } = entry;
      return reading(async () => (await mirror.blobs([id], maxBytes)).get(id) ?? null, signal);
    },
    readBlob: (id) => reading(async () => (await mirror.blobs([checked(id)])).get(id) ?? Buffer.alloc(0)),
    readBlobs: (ids) => reading(() => mirror.blobs(ids.map(checked))),
    commits: (after, head) => reading(() => mirror.commits(after && checked(after), checked(head))),
    push: (objects, head, expected, signal) =>
      inTurn(() => pushNow(objects, checked(head), expected && checked(expected), signal)),
  };
}

/** An id is an argument of a program. */
function checked(id: string): string {
  if (!isObjectId(id)) throw new Error("An id of Git has 40 hexadecimal digits.");
  return id;
}

function unknownObject(error: unknown): never {
  if (!(error instanceof ObjectMissing)) throw error;
  throw new GitProblem("unreadable", "The Git repository does not have what should be read from it or built on.");
}

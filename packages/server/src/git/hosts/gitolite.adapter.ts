import { randomUUID } from "node:crypto";
import type { Clock } from "../../clock.ts";
import { commitOf } from "../commit.ts";
import type { GitHost, HostCheck, HostKey, HostProblem } from "../git-host.ts";
import { problemOf } from "../git-output.ts";
import { GitProblem } from "../git-problem.ts";
import { createGitRepository } from "../git-repository.adapter.ts";
import { scanHostKeys } from "../host-keys.adapter.ts";
import type { GitObject } from "../object.ts";
import { removed } from "../process-folder.adapter.ts";
import { runProgram } from "../program.adapter.ts";
import { sshAddressOf } from "../ssh-address.ts";
import { type SshSettings, withSsh } from "../ssh-session.adapter.ts";
import { changedTree, EMPTY_TREE, type FileChanges, isFolder, type Tree } from "../tree.ts";
import {
  type AdminFiles,
  type Greeting,
  greetingOf,
  hasKey,
  INCLUDE,
  includesOurs,
  isOurFile,
  keyIdOf,
  MAIN_FILE,
  repositoryPath,
  withKey,
  withoutKey,
  withRepository,
} from "./gitolite.ts";

export interface GitoliteSettings extends SshSettings {
  /** `ssh://git@git.example.com`. */
  readonly url: string;
  /** For a copy of the administration repository. It may be lost at any time. */
  readonly cacheFolder: string;
  readonly clock: Clock;
}

const ADMIN_REPOSITORY = "gitolite-admin";
/** Gitolite's own documentation calls it so, and its hook looks at no other. */
const ADMIN_BRANCH = "master";
/** Each try loses against another push only if that one has succeeded. */
const MOST_TRIES = 20;
const TIMEOUT_MS = 30_000;
const MOST_BYTES = 1024 * 1024;

/** For all tries of one change together. */
const CHANGE_WITHIN_MS = 60_000;

const withinTime = (given: AbortSignal | undefined): AbortSignal =>
  AbortSignal.any([AbortSignal.timeout(CHANGE_WITHIN_MS), ...(given ? [given] : [])]);

type Repository = ReturnType<typeof createGitRepository>;

const baseOf = ({ url }: GitoliteSettings) => url.replace(/\/+$/, "");

function repositoryAt(settings: GitoliteSettings, cacheFolder: string): Repository {
  const url = `${baseOf(settings)}/${ADMIN_REPOSITORY}`;
  return createGitRepository({ ...settings, url, branch: ADMIN_BRANCH, cacheFolder });
}

async function filesAt(admin: Repository, head: string, signal: AbortSignal) {
  const folders: Tree[] = [];
  const ours: [path: string, id: string][] = [];
  // One after the other, since the files in them are somebody else's, and may be many.
  for (const path of ADMIN_FOLDERS) {
    const folder = await admin.readFolder(head, path, signal);
    folders.push(folder ?? EMPTY_TREE);
    for (const [name, entry] of folder?.entries ?? []) {
      const file = path === "" ? name : `${path}/${name}`;
      if (!isFolder(entry) && entry.mode === "100644" && (isOurFile(file) || file === MAIN_FILE))
        ours.push([file, entry.id]);
    }
  }
  const blobs = await admin.readBlobs(ours.map(([, id]) => id));
  const files = new Map(ours.map(([path, id]) => [path, blobs.get(id)?.toString("utf8") ?? ""]));
  return { tree: nested(folders), files };
}

const ADMIN_FOLDERS = ["", "conf", "conf/binnacle", "keydir", "keydir/binnacle"] as const;

/** The tree with what was read of it. Folders of others are in it by their ids alone. */
function nested([
  root = EMPTY_TREE,
  conf = EMPTY_TREE,
  ours = EMPTY_TREE,
  keydir = EMPTY_TREE,
  keys = EMPTY_TREE,
]: readonly Tree[]): Tree {
  const inside = (outer: Tree, name: string, inner: Tree): Tree =>
    inner === EMPTY_TREE ? outer : { id: outer.id, entries: new Map([...outer.entries, [name, inner]]) };
  return inside(inside(root, "conf", inside(conf, "binnacle", ours)), "keydir", inside(keydir, "binnacle", keys));
}

/** The one file of others that counts. It is theirs, so that it may be anything. */
async function mainFileAt(admin: Repository, head: string, signal: AbortSignal | undefined): Promise<AdminFiles> {
  const folder = await admin.readFolder(head, "conf", signal);
  const content = folder && (await admin.readFile(folder, "gitolite.conf", MOST_BYTES, signal));
  return new Map(content ? [[MAIN_FILE, content.toString("utf8")]] : []);
}

/** Commits to the administration repository. */
function createAdministration(settings: GitoliteSettings) {
  const { clock } = settings;
  const administration = repositoryAt(settings, settings.cacheFolder);

  /** Tries again from the new head where somebody else was faster. */
  async function change(
    subject: string,
    decide: (files: AdminFiles) => FileChanges,
    signal: AbortSignal,
    again = false,
  ): Promise<AdminFiles> {
    for (let tries = 0; tries < MOST_TRIES; tries++) {
      const { head } = await administration.fetch(signal);
      if (head === null) throw new GitProblem("not_set_up", "The administration repository of gitolite is empty.");
      const { tree, files } = await filesAt(administration, head, signal);
      requireInclude(files);
      const changes = decide(files);
      if (changes.size === 0 && !again) return files;
      const next = changedTree(tree, changes);
      const person = { name: "Binnacle", email: "binnacle@localhost", at: clock() };
      const draft = { tree: next.tree.id, parents: [head], author: person, committer: person, subject };
      const commit = commitOf(draft, null);
      const objects: GitObject[] = [...next.objects, commit];
      const outcome = await administration.push(objects, commit.id, head, signal);
      if (outcome.result === "refused") throw new GitProblem("refused", outcome.message);
      if (outcome.result === "pushed") return (await filesAt(administration, commit.id, signal)).files;
    }
    throw new GitProblem(
      "refused",
      "The administration repository of gitolite is changed by others all the time. Try again later.",
    );
  }

  /** Makes gitolite compile again where another push has undone what this one had compiled. */
  async function changeUntil(
    subject: string,
    decide: (files: AdminFiles) => FileChanges,
    holds: (files: AdminFiles) => Promise<boolean>,
    signal: AbortSignal,
  ): Promise<void> {
    let files = await change(subject, decide, signal);
    for (let tries = 0; tries < MOST_TRIES; tries++) {
      if (await holds(files)) return;
      files = await change(`${subject}, compiled again`, decide, signal, true);
    }
    throw new GitProblem(
      "refused",
      "Gitolite does not apply its configuration. See what `gitolite compile` says on the host.",
    );
  }

  return { changeUntil };
}

/** What is asked by ssh. */
function createQuestions(settings: GitoliteSettings) {
  const address = sshAddressOf(baseOf(settings));

  async function ssh(access: SshSettings, options: readonly string[], command: string, signal?: AbortSignal) {
    return withSsh(
      address,
      access,
      ({ config, env }) =>
        runProgram({
          program: "ssh",
          args: ["-F", config, ...options, "-p", String(address.port), "-l", address.user, address.host, command],
          env,
          maxBytes: MOST_BYTES,
          timeoutMs: TIMEOUT_MS,
          signal,
        }),
      signal,
    );
  }

  async function greeting(access: SshSettings, signal?: AbortSignal): Promise<Greeting> {
    const { code, output, errors } = await ssh(access, [], "info", signal);
    if (code !== 0) throw problemOf(errors);
    const found = greetingOf(output.toString("utf8"));
    if (found) return found;
    throw new GitProblem(
      "unexpected_answer",
      "The Git host does not answer as gitolite does. Check its address and its user.",
    );
  }

  /** Whether gitolite lets the key in. The host says so before it asks for a proof that only the key's owner has. */
  async function accepts(publicKey: string, signal: AbortSignal): Promise<boolean> {
    const { errors } = await ssh({ ...settings, privateKey: publicKey }, ["-o", "LogLevel=DEBUG1"], "info", signal);
    if (/Server accepts key/.test(errors)) return true;
    if (/Permission denied/.test(errors)) return false;
    throw problemOf(errors);
  }

  async function exists(name: string, signal: AbortSignal): Promise<boolean> {
    const { code, errors } = await ssh(settings, [], `git-upload-pack '${repositoryPath(name)}'`, signal);
    if (code === 0 || /hung up|expected/i.test(errors)) return true;
    if (/DENIED/.test(errors)) return false;
    throw problemOf(errors);
  }

  return { greeting, accepts, exists };
}

/**
 * Repositories and keys of gitolite, by commits to its administration repository. Files of others are never changed. Gitolite
 * compiles concurrent pushes beside each other, where an older one may come last; so each change is tried, and compiled again
 * until it holds.
 */
export function createGitoliteHost(settings: GitoliteSettings): GitHost {
  const base = baseOf(settings);
  const address = sshAddressOf(base);
  const { changeUntil } = createAdministration(settings);
  const { greeting, accepts, exists } = createQuestions(settings);

  async function checkGitolite(signal?: AbortSignal): Promise<HostCheck> {
    const problems: HostProblem[] = [];
    let hostKeys: readonly HostKey[] = [];
    // Settings that are checked may never be asked for again, and two checks may come at the same time.
    const copy = `${settings.cacheFolder}-check-${randomUUID()}`;
    try {
      hostKeys = await scanHostKeys(address, settings, signal);
      // Before one is pinned, people are to see whether the rest is right.
      const pinned = settings.hostKeys.length > 0 ? settings.hostKeys : hostKeys.map(({ key }) => key);
      const access = { ...settings, hostKeys: pinned };
      const { user, canAdminister } = await greeting(access, signal);
      if (!canAdminister) {
        const message = `Gitolite knows the key as ${user}, who may not write ${ADMIN_REPOSITORY}. Give ${user} RW+ there.`;
        return { problems: [{ code: "denied", message }], hostKeys };
      }
      const admin = repositoryAt(access, copy);
      const { head } = await admin.fetch(signal);
      if (head !== null) requireInclude(await mainFileAt(admin, head, signal));
    } catch (error) {
      if (!(error instanceof GitProblem)) throw error;
      problems.push({ code: error.code, message: error.message });
    } finally {
      await removed(copy);
    }
    return { problems, hostKeys };
  }

  return {
    check: checkGitolite,
    async ensureRepository(name, given) {
      const signal = withinTime(given);
      const path = repositoryPath(name);
      const { user } = await greeting(settings, signal);
      await changeUntil(
        `${path}: made`,
        (files) => withRepository(files, name, user),
        () => exists(name, signal),
        signal,
      );
      return { url: `${base}/${path}` };
    },
    async addDeployKey(name, { title, publicKey }, given) {
      const signal = withinTime(given);
      const id = keyIdOf(publicKey);
      const { user } = await greeting(settings, signal);
      await changeUntil(
        `${repositoryPath(name)}: a key is added`,
        (files) => withKey(files, name, { admin: user, title, publicKey }),
        () => accepts(publicKey, signal),
        signal,
      );
      return { id };
    },
    allowPushes: async () => undefined,
    async removeDeployKey(name, id, given) {
      const signal = withinTime(given);
      const { user } = await greeting(settings, signal);
      let removed: string | undefined;
      await changeUntil(
        `${repositoryPath(name)}: a key is removed`,
        (files) => {
          removed ??= keyLine(files, id);
          return withoutKey(files, name, id, user);
        },
        async (files) => hasKey(files, id) || removed === undefined || !(await accepts(removed, signal)),
        signal,
      );
    },
  };
}

function requireInclude(files: AdminFiles): void {
  if (includesOurs(files.get(MAIN_FILE) ?? "")) return;
  throw new GitProblem("not_set_up", `Add the line ${INCLUDE} to ${MAIN_FILE} in the repository ${ADMIN_REPOSITORY}.`);
}

function keyLine(files: AdminFiles, id: string): string | undefined {
  return [...files].find(([path]) => path.endsWith(`${id}.pub`))?.[1];
}

import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { parseCommit } from "../git/commit.ts";
import type { GitHost, HostKey } from "../git/git-host.ts";
import { GitProblem } from "../git/git-problem.ts";
import type { GitRepository } from "../git/git-repository.ts";
import { packOf } from "../git/pack.ts";
import { sshKeyOf } from "../git/ssh-key.ts";
import { sshSigner } from "../git/ssh-signature.ts";
import { filesListed } from "../git/tree.ts";
import type { GitAccess, HostAccess } from "./git-access.ts";

/** Nothing of the machine's own configuration. */
const ENV = { PATH: process.env["PATH"] ?? "", HOME: "/nonexistent", GIT_CONFIG_NOSYSTEM: "1" };

function git(folder: string, args: readonly string[], input: Buffer | string = ""): Promise<Buffer> {
  return new Promise((done, refused) => {
    const options = { env: ENV, maxBuffer: 2 ** 28, encoding: "buffer" } as const;
    const child = execFile("git", ["-C", folder, ...args], options, (error, out, said) =>
      error ? refused(new Error(`${error.message} ${said.toString()}`)) : done(out),
    );
    // A command that reads nothing may have ended already.
    child.stdin?.on("error", () => undefined).end(input);
  });
}

export const HOST_TOKEN = "the token of the host";
const newKey = (comment: string) => sshKeyOf(randomBytes(32), comment);
export const hostKeyOf = (seed: number): HostKey => {
  const { publicKey, fingerprint } = sshKeyOf(Buffer.alloc(32, seed), "");
  return { type: "ssh-ed25519", key: publicKey.trim(), fingerprint };
};

/** A Git host in a folder: bare repositories, deploy keys that are checked, and outages on demand. */
export interface LocalGit extends GitAccess {
  isDown: boolean;
  refusesPushes: boolean;
  hostKey: HostKey;
  readonly folder: string;
  /** By repository, then by id. */
  readonly deployKeys: Map<string, Map<string, string>>;
  /** The keys that may push, by repository and branch. */
  readonly pushers: Map<string, readonly string[]>;
  /** The key of each repository and title. */
  readonly titles: Map<string, string>;
  /** Runs before and after each call; an error that it throws is one of the process, as when that is killed. */
  step: (name: string) => void | Promise<void>;
  repositories(): string[];
  run(repository: string, ...args: string[]): Promise<string>;
  close(): Promise<void>;
}

export async function localGit(): Promise<LocalGit> {
  const folder = await mkdtemp(join(tmpdir(), "git-host-"));
  const deployKeys = new Map<string, Map<string, string>>();
  const local: LocalGit = {
    isDown: false,
    refusesPushes: false,
    hostKey: hostKeyOf(1),
    folder,
    deployKeys,
    pushers: new Map(),
    titles: new Map(),
    step: () => undefined,
    host: (access) => hostIn(local, access),
    repository: ({ url, branch, privateKey }) => repositoryAt(local, fileURLToPath(url), branch, privateKey),
    newKey,
    signWith: (privateKey) => sshSigner(privateKey),
    repositories: () => [...deployKeys.keys()],
    run: async (repository, ...args) => (await git(join(folder, `${repository}.git`), args)).toString("utf8"),
    close: () => rm(folder, { recursive: true, force: true }),
  };
  return local;
}

function hostIn(local: LocalGit, { token }: HostAccess): GitHost {
  const refuseWhereNot = () => {
    if (local.isDown) throw new GitProblem("unreachable", "The Git host did not answer.");
    if (token !== HOST_TOKEN) throw new GitProblem("denied", "The Git host does not know the token. Give another one.");
  };
  return {
    async check() {
      try {
        refuseWhereNot();
        return { problems: [], hostKeys: [local.hostKey] };
      } catch (error) {
        const { code, message } = error as GitProblem;
        return { problems: [{ code, message }], hostKeys: local.isDown ? [] : [local.hostKey] };
      }
    },
    async ensureRepository(name) {
      refuseWhereNot();
      const path = join(local.folder, `${name}.git`);
      if (!local.deployKeys.has(name)) {
        await mkdir(path, { recursive: true });
        await git(path, ["init", "--quiet", "--bare", "--initial-branch=main"]);
        // Another request may have made it meanwhile.
        if (!local.deployKeys.has(name)) local.deployKeys.set(name, new Map());
      }
      return { url: pathToFileURL(path).href };
    },
    async addDeployKey(repository, { title, publicKey }) {
      refuseWhereNot();
      const holder = `${repository} ${title}`;
      // As Gitea does.
      if ((local.titles.get(holder) ?? publicKey) !== publicKey) {
        throw new GitProblem("unexpected_answer", "The Git host has another key with this title.");
      }
      local.titles.set(holder, publicKey);
      const keys = local.deployKeys.get(repository);
      const known = [...(keys ?? [])].find(([, key]) => key === publicKey);
      const id = known?.[0] ?? randomBytes(6).toString("hex");
      keys?.set(id, publicKey);
      await local.step("after the key");
      return { id };
    },
    async allowPushes(repository, { branch, publicKeys }) {
      refuseWhereNot();
      local.pushers.set(`${repository} ${branch}`, publicKeys);
    },
    async removeDeployKey(repository, id) {
      refuseWhereNot();
      local.deployKeys.get(repository)?.delete(id);
    },
  };
}

const NOTHING = "0".repeat(40);

function repositoryAt(local: LocalGit, path: string, branch: string, privateKey: string): GitRepository {
  const name = path.slice(local.folder.length + 1, -".git".length);
  const ref = `refs/heads/${branch}`;
  const headOf = async () =>
    (await git(path, ["for-each-ref", "--format=%(objectname)", ref])).toString().trim() || null;
  function refuseWhereNot() {
    if (local.isDown) throw new GitProblem("unreachable", "The Git host did not answer.");
    const signedWith = sshSigner(privateKey)(Buffer.from("it is me"));
    const known = [...(local.deployKeys.get(name)?.values() ?? [])];
    // A signature begins with the public key, after a head of fixed length.
    const isKnown = known.some((key) => blobIn(signedWith).includes(Buffer.from(key.split(" ")[1] ?? "", "base64")));
    if (!isKnown) throw new GitProblem("denied", "The Git host does not know the key.");
  }
  return {
    async fetch() {
      await local.step("before fetch");
      refuseWhereNot();
      if (!existsSync(path)) throw new GitProblem("missing_repository", "The Git host knows no such repository.");
      return { head: await headOf() };
    },
    async readTree(commit) {
      return filesListed(await git(path, ["ls-tree", "-r", "-z", "--full-tree", commit])) ?? new Map();
    },
    readBlobs: async (ids) =>
      new Map(await Promise.all(ids.map(async (id) => [id, await git(path, ["cat-file", "blob", id])] as const))),
    readBlob: (id) => git(path, ["cat-file", "blob", id]),
    async commits(after, head) {
      const range = after === null ? [head] : [head, `^${after}`];
      const ids = (await git(path, ["rev-list", "--reverse", "--topo-order", ...range])).toString().split("\n");
      return Promise.all(
        ids.filter(Boolean).map(async (id) => parseCommit(await git(path, ["cat-file", "commit", id]))),
      );
    },
    async push(objects, head, expected) {
      await local.step("before push");
      refuseWhereNot();
      if (local.refusesPushes) return { result: "refused", message: "The Git host has refused the push." };
      const found = await headOf();
      if (found === head) return { result: "pushed" };
      if (found !== expected) return { result: "stale", head: found };
      await git(path, ["index-pack", "--stdin", "--strict"], packOf(objects));
      await local.step("between the objects and the branch");
      await git(path, ["update-ref", ref, head, expected ?? NOTHING]);
      await local.step("after push");
      return { result: "pushed" };
    },
  };
}

const blobIn = (armored: string) => Buffer.from(armored.split("\n").slice(1, -1).join(""), "base64");

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { commitOf } from "../../packages/server/src/git/commit.ts";
import { createGitRepository } from "../../packages/server/src/git/git-repository.adapter.ts";
import { createGitoliteHost } from "../../packages/server/src/git/hosts/gitolite.adapter.ts";
import { INCLUDE } from "../../packages/server/src/git/hosts/gitolite.ts";
import { blobOf, type GitObject } from "../../packages/server/src/git/object.ts";
import { type SshKey, sshKeyOf } from "../../packages/server/src/git/ssh-key.ts";
import { sshSigner } from "../../packages/server/src/git/ssh-signature.ts";
import { changedTree, EMPTY_TREE, type Tree, treeOf } from "../../packages/server/src/git/tree.ts";
import { verifyHistory } from "../../packages/server/src/git/verify.ts";
import { type Gitolite, startGitolite } from "./gitolite.ts";

let gitolite: Gitolite;
let folder: string;
beforeAll(async () => {
  gitolite = await startGitolite();
  folder = mkdtempSync(join(tmpdir(), "gitops-"));
});
afterAll(async () => {
  await gitolite?.stop();
  rmSync(folder, { recursive: true, force: true });
});

const AT = new Date("2026-05-04T10:20:30Z");
const PERSON = { name: "Binnacle", email: "binnacle@example.com", at: AT };
const OURS = sshKeyOf(Buffer.alloc(32, 1), "binnacle");
const SIGNERS = [{ principal: "binnacle", publicKey: OURS.publicKey }];
const SEARCH_PATH = process.env["PATH"] ?? "";
let caches = 0;

const access = (privateKey: string) => ({
  privateKey,
  hostKeys: [gitolite.hostKey],
  searchPath: SEARCH_PATH,
  allowedHosts: [`127.0.0.1:${gitolite.port}`],
});
const host = (privateKey = gitolite.adminKey) =>
  createGitoliteHost({
    ...access(privateKey),
    url: gitolite.url,
    cacheFolder: join(folder, `host-${++caches}`),
    clock: () => AT,
  });
const repository = (url: string, key: SshKey, change: Partial<Parameters<typeof createGitRepository>[0]> = {}) =>
  createGitRepository({
    ...access(key.privateKey),
    url,
    branch: "main",
    cacheFolder: join(folder, `cache-${++caches}`),
    ...change,
  });

/** Adds the line that an administrator adds once. */
async function include(): Promise<void> {
  const admin = repository(`${gitolite.url}/gitolite-admin`, sshKeyOf(Buffer.alloc(32, 77), "admin"), {
    branch: "master",
  });
  const { head } = await admin.fetch();
  const files = await admin.readTree(head ?? "");
  const main = (await admin.readBlob(files.get("conf/gitolite.conf")?.id ?? "")).toString();
  if (main.includes(INCLUDE)) return;
  const { tree, objects } = changedTree(
    treeOf(files),
    new Map([["conf/gitolite.conf", blobOf(`${main}\n${INCLUDE}\n`)]]),
  );
  const commit = commitOf(
    { tree: tree.id, parents: [head ?? ""], author: PERSON, committer: PERSON, subject: "include" },
    null,
  );
  expect(await admin.push([...objects, commit], commit.id, head)).toEqual({ result: "pushed" });
}

interface Step {
  readonly objects: readonly GitObject[];
  readonly head: string;
  readonly tree: Tree;
}

function step(before: Step | null, content: string, key: SshKey | null = OURS): Step {
  const { tree, objects } = changedTree(before?.tree ?? EMPTY_TREE, new Map([["apps/shop.yaml", blobOf(content)]]));
  const parents = before ? [before.head] : [];
  const draft = { tree: tree.id, parents, author: PERSON, committer: PERSON, subject: "change" };
  const commit = commitOf(draft, key && sshSigner(key.privateKey));
  return { objects: [...objects, commit], head: commit.id, tree };
}

const deployKey = (seed: number) => sshKeyOf(Buffer.alloc(32, seed), `deploy-${seed}`);

describe("gitolite", () => {
  test("[GI40] the check shows the keys of the host and says what is missing, until nothing is", async () => {
    const first = await host().check();
    expect(first.hostKeys).toMatchObject([{ type: "ssh-ed25519", key: gitolite.hostKey }]);
    expect(first.problems).toMatchObject([{ code: "not_set_up", message: expect.stringContaining(INCLUDE) }]);
    await expect(host().ensureRepository("too-early")).rejects.toMatchObject({ code: "not_set_up" });
    await include();
    expect((await host().check()).problems).toEqual([]);
    expect((await host(deployKey(200).privateKey).check()).problems).toMatchObject([{ code: "denied" }]);
  });

  test("[GI41] a repository is made once, and a key writes to it as long as it is there", async () => {
    await include();
    const { url } = await host().ensureRepository("acme-one");
    expect(await host().ensureRepository("acme-one")).toEqual({ url });
    const key = deployKey(10);
    await expect(repository(url, key).fetch()).rejects.toMatchObject({ code: "denied" });
    const { id } = await host().addDeployKey("acme-one", { title: "Binnacle: prod", publicKey: key.publicKey });
    expect(await host().addDeployKey("acme-one", { title: "again", publicKey: key.publicKey })).toEqual({ id });
    const remote = repository(url, key);
    expect(await remote.fetch()).toEqual({ head: null });
    const one = step(null, "1");
    expect(await remote.push(one.objects, one.head, null)).toEqual({ result: "pushed" });
    // Neither by force nor by removing the branch: gitolite has given no such right.
    await expect(repository(`${gitolite.url}/binnacle/other`, key).fetch()).rejects.toMatchObject({ code: "denied" });
    await host().removeDeployKey("acme-one", id);
    await host().removeDeployKey("acme-one", id);
    await expect(remote.fetch()).rejects.toMatchObject({ code: "denied" });
  });

  test("[GI42] a key is replaced without a moment in which none works", async () => {
    await include();
    const { url } = await host().ensureRepository("acme-keys");
    const [old, next] = [deployKey(20), deployKey(21)];
    const { id } = await host().addDeployKey("acme-keys", { title: "old", publicKey: old.publicKey });
    const one = step(null, "1");
    await repository(url, old).push(one.objects, one.head, null);
    await host().addDeployKey("acme-keys", { title: "next", publicKey: next.publicKey });
    const two = step(one, "2");
    expect(await repository(url, next).push(two.objects, two.head, one.head)).toEqual({ result: "pushed" });
    expect(await repository(url, old).fetch()).toEqual({ head: two.head });
    await host().removeDeployKey("acme-keys", id);
    await expect(repository(url, old).fetch()).rejects.toMatchObject({ code: "denied" });
    expect(await repository(url, next).fetch()).toEqual({ head: two.head });
  });

  test("[GI43] several organizations change repositories and keys at the same time, and all of it holds", async () => {
    await include();
    const names = ["first", "second", "third", "fourth"];
    const urls = await Promise.all(
      names.map(async (name, index) => {
        const { url } = await host().ensureRepository(name);
        await host().addDeployKey(name, { title: name, publicKey: deployKey(30 + index).publicKey });
        return url;
      }),
    );
    for (const [index, url] of urls.entries()) {
      expect(await repository(url, deployKey(30 + index)).fetch()).toEqual({ head: null });
      const neighbour = repository(urls[(index + 1) % urls.length] ?? "", deployKey(30 + index));
      await expect(neighbour.fetch()).rejects.toMatchObject({ code: "denied" });
    }
  });

  test("[GI21] of two pushes from the same commit one succeeds over SSH, and the other sees where the branch is", async () => {
    await include();
    const { url } = await host().ensureRepository("acme-race");
    await host().addDeployKey("acme-race", { title: "x", publicKey: deployKey(40).publicKey });
    const [mine, theirs] = [repository(url, deployKey(40)), repository(url, deployKey(40))];
    const root = step(null, "root");
    await mine.push(root.objects, root.head, null);
    await theirs.fetch();
    const [one, two] = [step(root, "one"), step(root, "two")];
    const outcomes = await Promise.all([
      mine.push(one.objects, one.head, root.head),
      theirs.push(two.objects, two.head, root.head),
    ]);
    const { head } = await mine.fetch();
    expect(outcomes.map(({ result }) => result).sort()).toEqual(["pushed", "stale"]);
    expect(outcomes).toContainEqual({ result: "stale", head });
  });

  test("[GI9] a commit that somebody has changed in the middle of a branch is found at the host", async () => {
    await include();
    const { url } = await host().ensureRepository("acme-tampered");
    await host().addDeployKey("acme-tampered", { title: "x", publicKey: deployKey(50).publicKey });
    const remote = repository(url, deployKey(50));
    const root = step(null, "root");
    const foreign = step(root, "tampered", sshKeyOf(Buffer.alloc(32, 99), "stranger"));
    const last = step(foreign, "last");
    const all = [root, foreign, last].flatMap(({ objects }) => objects);
    expect(await remote.push(all, last.head, null)).toEqual({ result: "pushed" });
    const { head } = await remote.fetch();
    const commits = await remote.commits(root.head, head ?? "");
    expect(await verifyHistory({ applied: root.head, head: head ?? "", commits }, SIGNERS)).toMatchObject({
      result: "bad",
      reason: "unknown_signer",
      commit: foreign.head,
    });
  });

  test("[GI28] a host with another key than the pinned one gets neither a commit nor a question", async () => {
    await include();
    const { url } = await host().ensureRepository("acme-pinned");
    await host().addDeployKey("acme-pinned", { title: "x", publicKey: deployKey(60).publicKey });
    const remote = repository(url, deployKey(60));
    const one = step(null, "1");
    await remote.push(one.objects, one.head, null);
    await gitolite.replaceHostKey();
    await expect(remote.fetch()).rejects.toMatchObject({ code: "host_key_changed" });
    const two = step(one, "2");
    await expect(remote.push(two.objects, two.head, one.head)).rejects.toMatchObject({ code: "host_key_changed" });
    const { problems, hostKeys } = await host().check();
    expect(problems).toMatchObject([{ code: "host_key_changed" }]);
    const accepted = repository(url, deployKey(60), { hostKeys: hostKeys.map(({ key }) => key) });
    expect(await accepted.fetch()).toEqual({ head: one.head });
  });
});

import { readdirSync } from "node:fs";
import { dirname } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { describe, expect, test } from "vitest";
import { commitOf } from "../commit.ts";
import type { GitFolder } from "../git-program.fixture.ts";
import { blobOf, type GitObject, gitObject } from "../object.ts";
import { sshKeyOf } from "../ssh-key.ts";
import { INCLUDE } from "./gitolite.ts";
import { GREETING, gitoliteProgram } from "./gitolite-program.fixture.ts";

const PERSON = { name: "Somebody", email: "somebody@example.com", at: new Date("2026-05-04T10:20:30Z") };

const treeWith = (entries: readonly (readonly [mode: string, name: string, object: GitObject])[]) =>
  gitObject(
    "tree",
    Buffer.concat(
      entries.flatMap(([mode, name, { id }]) => [Buffer.from(`${mode} ${name}\0`), Buffer.from(id, "hex")]),
    ),
  );

/** An administration repository that has, besides its configuration, a folder of others. */
function administer(admin: GitFolder, others: readonly GitObject[], main: Buffer | string = `${INCLUDE}\n`): string {
  const file = blobOf(main);
  const conf = treeWith([["100644", "gitolite.conf", file]]);
  const [folder] = others.slice(-1);
  const root = treeWith([["40000", "conf", conf], ...(folder ? [["40000", "keydir", folder] as const] : [])]);
  const draft = { tree: root.id, parents: [], author: PERSON, committer: PERSON, subject: "made by somebody" };
  const commit = commitOf(draft, null);
  admin.write([...new Map([...others, file, conf, root, commit].map((object) => [object.id, object])).values()]);
  admin.git(["update-ref", "refs/heads/master", commit.id]);
  return commit.id;
}

/** A hundred files below two thousand folders. */
function deepFolder(): readonly GitObject[] {
  const empty = blobOf("");
  const objects = [
    empty,
    treeWith(Array.from({ length: 100 }, (_, file) => ["100644", String(1000 + file), empty] as const)),
  ];
  for (let depth = 0; depth < 1990; depth++) objects.push(treeWith([["40000", "d", objects.at(-1) ?? empty]]));
  return objects;
}

function wideFolder(files: number): readonly GitObject[] {
  const empty = blobOf("");
  return [
    empty,
    treeWith(
      Array.from({ length: files }, (_, file) => ["100644", `key-of-somebody-${1_000_000 + file}.pub`, empty] as const),
    ),
  ];
}

async function longestPauseMs(work: () => Promise<unknown>): Promise<number> {
  const pauses = monitorEventLoopDelay({ resolution: 10 });
  pauses.enable();
  await work();
  pauses.disable();
  return pauses.max / 1e6;
}

test("[GI48] a check of gitolite leaves nothing on the disk, whether it succeeds, fails or is given up", async () => {
  const { admin, ssh, host, settings } = gitoliteProgram();
  const left = () => readdirSync(dirname(settings.cacheFolder));
  administer(admin, []);
  expect(await Promise.all([host().check(), host().check()])).toMatchObject([{ problems: [] }, { problems: [] }]);
  expect(left()).toEqual([]);
  administer(admin, [], "# without our line\n");
  expect((await host().check()).problems).toMatchObject([{ code: "not_set_up" }]);
  expect(left()).toEqual([]);
  ssh.does(`case "$last" in info) printf '%b' '${GREETING}' ;; *) exec tail -f /dev/null ;; esac`);
  expect((await host().check(AbortSignal.timeout(500))).problems).toMatchObject([{ code: "unreachable" }]);
  expect(left()).toEqual([]);
});

describe("an administration repository of gitolite that somebody else fills", () => {
  test("[GI45] the server goes on while it checks a gitolite whose folders are very deep", async () => {
    const { admin, host } = gitoliteProgram();
    administer(admin, deepFolder());
    let problems: readonly unknown[] = ["not asked"];
    const pause = await longestPauseMs(async () => ({ problems } = await host().check()));
    expect(problems).toEqual([]);
    expect(pause).toBeLessThan(2_000);
  });

  test("[GI45] a configuration of gitolite that is very large is not read", async () => {
    const { admin, host } = gitoliteProgram();
    administer(admin, [], Buffer.alloc(2 * 1024 * 1024, "\n"));
    expect((await host().check()).problems).toMatchObject([{ code: "too_large" }]);
  });

  test("[GI45] folders of others that are very deep stay as they are when gitolite is changed", async () => {
    const { admin, host } = gitoliteProgram();
    const before = administer(admin, deepFolder());
    const pause = await longestPauseMs(() => host().ensureRepository("prod-1"));
    expect(pause).toBeLessThan(2_000);
    expect(admin.git(["diff", "--name-only", before, "master"])).toBe("conf/binnacle/prod-1.conf\n");
    admin.git(["fsck", "--strict"]);
  });

  test("[GI26] a gitolite that stalls after it was connected to is left at the deadline of the caller, and that is a problem", async () => {
    const { ssh, host } = gitoliteProgram();
    ssh.does("exec tail -f /dev/null");
    expect((await host().check(AbortSignal.timeout(300))).problems).toMatchObject([{ code: "unreachable" }]);
    const key = sshKeyOf(Buffer.alloc(32, 9), "deploy").publicKey;
    for (const call of [
      () => host().ensureRepository("a", AbortSignal.timeout(300)),
      () => host().addDeployKey("a", { title: "x", publicKey: key }, AbortSignal.timeout(300)),
      () => host().removeDeployKey("a", "0".repeat(32), AbortSignal.timeout(300)),
    ]) {
      await expect(call()).rejects.toMatchObject({ code: "unreachable" });
    }
  });

  test("[GI45] a gitolite with more files in a folder than are read is refused", async () => {
    const { admin, host } = gitoliteProgram();
    administer(admin, wideFolder(60_000));
    await expect(host().ensureRepository("prod-1")).rejects.toMatchObject({ code: "too_large" });
    expect((await host().check()).problems).toEqual([]);
  });
});

import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { commitOf } from "./commit.ts";
import { batchOf, problemOf, pushLineOf } from "./git-output.ts";
import { gitFolder, temporaryFolder } from "./git-program.fixture.ts";
import { createGitRepository, type RepositorySettings } from "./git-repository.adapter.ts";
import type { GitRepository } from "./git-repository.ts";
import { blobOf, type GitObject } from "./object.ts";
import { sshAddressOf } from "./ssh-address.ts";
import { sshKeyOf } from "./ssh-key.ts";
import { sshProgram } from "./ssh-program.fixture.ts";
import { changedTree, EMPTY_TREE, filesOf, type Tree, treeOf } from "./tree.ts";

const KEY = sshKeyOf(Buffer.alloc(32, 9), "deploy");
const PERSON = { name: "Binnacle", email: "binnacle@example.com", at: new Date("2026-05-04T10:20:30Z") };

function stage(change: Partial<RepositorySettings> = {}) {
  const host = gitFolder();
  const ssh = sshProgram();
  const settings: RepositorySettings = {
    url: `ssh://git@git.test${host.folder}`,
    branch: "main",
    privateKey: KEY.privateKey,
    hostKeys: ["ssh-ed25519 AAAAPINNED"],
    cacheFolder: join(temporaryFolder(), "mirror"),
    searchPath: ssh.searchPath,
    allowedHosts: ["git.test"],
    resolve: async () => [{ address: "10.0.0.7", family: 4 }],
    ...change,
  };
  const repository = createGitRepository(settings);
  return { host, ssh, settings, repository };
}

interface Step {
  readonly objects: readonly GitObject[];
  readonly head: string;
  readonly tree: Tree;
}

/** One file is written. */
function step(before: Step | null, path: string, content: Buffer | string): Step {
  const { tree, objects } = changedTree(before?.tree ?? EMPTY_TREE, new Map([[path, blobOf(content)]]));
  const parents = before ? [before.head] : [];
  const commit = commitOf(
    { tree: tree.id, parents, author: PERSON, committer: PERSON, subject: `write ${path}` },
    null,
  );
  return { objects: [...objects, commit], head: commit.id, tree };
}

const push = (repository: GitRepository, { objects, head }: Step, expected: Step | null) =>
  repository.push(objects, head, expected?.head ?? null);

describe("a repository at a host", () => {
  test("[GI20] commits go to the branch, and come back with their files, in the order in which they were made", async () => {
    const { host, repository, settings } = stage();
    expect(await repository.fetch()).toEqual({ head: null });
    const one = step(null, "apps/ä b.yaml", "one\n");
    const two = step(one, "apps/shop.yaml", Buffer.from([0, 255, 10]));
    const three = step(two, "apps/shop.yaml", "three\n");
    expect(await push(repository, one, null)).toEqual({ result: "pushed" });
    expect(await repository.push([...two.objects, ...three.objects], three.head, one.head)).toEqual({
      result: "pushed",
    });
    expect(host.git(["rev-parse", "main"]).trim()).toBe(three.head);
    expect(host.git(["fsck", "--strict"])).toBe("");

    const other = createGitRepository({ ...settings, cacheFolder: join(temporaryFolder(), "other") });
    expect(await other.fetch()).toEqual({ head: three.head });
    expect(treeOf(await other.readTree(two.head))).toEqual(two.tree);
    const { id = "" } = filesOf(two.tree).get("apps/shop.yaml") ?? {};
    expect(await other.readBlob(id)).toEqual(Buffer.from([0, 255, 10]));
    const ids = ["apps/ä b.yaml", "apps/shop.yaml"].map((path) => filesOf(three.tree).get(path)?.id ?? "");
    expect([...(await other.readBlobs(ids)).values()].map(String)).toEqual(["one\n", "three\n"]);
    const list = async (after: string | null, head: string) =>
      (await other.commits(after, head)).map((commit) => commit.id);
    expect(await list(null, three.head)).toEqual([one.head, two.head, three.head]);
    expect(await list(one.head, three.head)).toEqual([two.head, three.head]);
    expect(await list(three.head, three.head)).toEqual([]);
  });

  test("[GI21] the branch moves only from where it is expected, by whichever of two pushes comes first", async () => {
    const { host, repository, settings } = stage();
    const other = createGitRepository({ ...settings, cacheFolder: join(temporaryFolder(), "other") });
    const root = step(null, "a", "root");
    expect(await push(repository, root, null)).toEqual({ result: "pushed" });
    const [mine, theirs] = [step(root, "a", "mine"), step(root, "a", "theirs")];
    await other.fetch();
    const outcomes = await Promise.all([push(repository, mine, root), push(other, theirs, root)]);
    const winner = host.git(["rev-parse", "main"]).trim();
    expect(outcomes.map(({ result }) => result).sort()).toEqual(["pushed", "stale"]);
    expect(outcomes).toContainEqual({ result: "stale", head: winner });
    expect(await push(repository, step(null, "a", "new"), null)).toEqual({ result: "stale", head: winner });
    expect(host.git(["rev-parse", "main"]).trim()).toBe(winner);
  });

  test("[GI21] a push is not made where the branch was set back, although nothing of it would be lost", async () => {
    const { host, repository } = stage();
    const one = step(null, "a", "1");
    const two = step(one, "a", "2");
    await push(repository, one, null);
    await push(repository, two, one);
    host.git(["update-ref", "refs/heads/main", one.head]);
    expect(await push(repository, step(two, "a", "3"), two)).toEqual({ result: "stale", head: one.head });
    expect(host.git(["rev-parse", "main"]).trim()).toBe(one.head);
  });

  test("[GI21] a push that was made already is one that succeeds", async () => {
    const { repository, settings } = stage();
    const one = step(null, "a", "1");
    const two = step(one, "a", "2");
    await push(repository, one, null);
    for (let time = 0; time < 2; time++) expect(await push(repository, two, one)).toEqual({ result: "pushed" });
    const again = createGitRepository({ ...settings, cacheFolder: join(temporaryFolder(), "again") });
    expect(await push(again, two, one)).toEqual({ result: "pushed" });
  });

  test("[GI21] a commit that does not go on from the expected one is never sent", async () => {
    const { repository, ssh } = stage();
    const one = step(null, "a", "1");
    await push(repository, one, null);
    const calls = ssh.calls();
    await expect(push(repository, step(null, "a", "2"), one)).rejects.toThrow("must go on");
    expect(ssh.calls()).toBe(calls);
  });

  test("[GI22] the cache can be lost or damaged between any two steps", async () => {
    const { repository, settings } = stage();
    const lose = () => rmSync(settings.cacheFolder, { recursive: true, force: true });
    const damage = () => {
      const packs = join(settings.cacheFolder, "objects/pack");
      for (const file of readdirSync(packs)) rmSync(join(packs, file));
    };
    let before: Step | null = null;
    for (const [index, harm] of [lose, damage, lose, damage].entries()) {
      const next: Step = step(before, `file-${index}`, `content ${index}`);
      expect(await push(repository, next, before)).toEqual({ result: "pushed" });
      harm();
      expect([...(await repository.readTree(next.head)).keys()]).toHaveLength(index + 1);
      harm();
      expect(await repository.commits(before?.head ?? null, next.head)).toHaveLength(1);
      harm();
      expect((await repository.readBlob(blobOf(`content ${index}`).id)).toString()).toBe(`content ${index}`);
      harm();
      before = next;
    }
    expect(await repository.fetch()).toEqual({ head: before?.head });
  });

  test("[GI22] a lock that a program left behind when it was ended does not stay", async () => {
    const { repository, settings } = stage();
    const one = step(null, "a", "1");
    await push(repository, one, null);
    mkdirSync(join(settings.cacheFolder, "refs/binnacle"), { recursive: true });
    rmSync(join(settings.cacheFolder, "refs/binnacle/seen"), { force: true });
    writeFileSync(join(settings.cacheFolder, "refs/binnacle/seen.lock"), "");
    await expect(repository.fetch()).rejects.toMatchObject({ code: "refused" });
    expect(await repository.fetch()).toEqual({ head: one.head });
  });

  test("[GI22] many pushes leave few files in the cache", async () => {
    const { repository, settings } = stage();
    let before: Step | null = null;
    for (let change = 0; change < 60; change++) {
      const next: Step = step(before, "a", `change ${change}`);
      await push(repository, next, before);
      before = next;
    }
    expect(readdirSync(join(settings.cacheFolder, "objects/pack")).length).toBeLessThan(2 * 52);
    expect(await repository.commits(null, before?.head ?? "")).toHaveLength(60);
  });

  test("[GI23] a repository that has more than the limit is not fetched, and leaves nothing on the disk", async () => {
    const { host, repository, settings } = stage({ maxBytes: 256 * 1024 });
    const small = step(null, "a", "small");
    const large = step(small, "b", randomBytes(2 * 1024 * 1024));
    host.write([...small.objects, ...large.objects]);
    host.git(["update-ref", "refs/heads/main", large.head]);
    await expect(repository.fetch()).rejects.toMatchObject({ code: "too_large" });
    expect(existsSync(settings.cacheFolder)).toBe(false);
    host.git(["update-ref", "refs/heads/main", small.head]);
    expect(await repository.fetch()).toEqual({ head: small.head });
  });

  test("[GI23] what was replaced does not count against the limit for ever", async () => {
    const { host, repository } = stage({ maxBytes: 512 * 1024 });
    let head = "";
    for (let time = 0; time < 4; time++) {
      // A branch of its own each time: what was there before is no longer part of the repository.
      const root = step(null, "a", randomBytes(200 * 1024));
      host.write(root.objects);
      host.git(["update-ref", "refs/heads/main", root.head]);
      ({ head } = root);
      expect(await repository.fetch()).toEqual({ head });
    }
    expect(await repository.readTree(head)).toHaveProperty("size", 1);
  });

  test("[GI10] commits of a branch that was moved by force are not read as if they went on", async () => {
    const { host, repository } = stage();
    const one = step(null, "a", "1");
    const two = step(one, "a", "2");
    await push(repository, one, null);
    await push(repository, two, one);
    const other = step(one, "a", "other");
    host.write(other.objects);
    host.git(["update-ref", "refs/heads/main", other.head]);
    expect(await repository.fetch()).toEqual({ head: other.head });
    expect(await repository.commits(two.head, other.head)).toEqual([]);
    expect(await repository.commits("6".repeat(40), other.head)).toEqual([]);
    await expect(repository.commits(null, "6".repeat(40))).rejects.toMatchObject({ code: "unreadable" });
  });

  test("[GI24] neither the configuration nor the hooks of the machine take part, and the key is nowhere but in a closed file", async () => {
    const home = temporaryFolder();
    const marker = join(home, "ran");
    writeFileSync(join(home, ".gitconfig"), `[core]\n\thooksPath = ${home}\n\tsshCommand = touch ${marker}\n`);
    for (const hook of ["pre-push", "reference-transaction"]) {
      writeFileSync(join(home, hook), `#!/bin/sh\ntouch '${marker}'\n`);
      chmodSync(join(home, hook), 0o755);
    }
    const before = { HOME: process.env["HOME"], GIT_DIR: process.env["GIT_DIR"] };
    Object.assign(process.env, { HOME: home, GIT_DIR: home });
    try {
      const { repository, ssh, settings } = stage();
      const one = step(null, "a", "1");
      await push(repository, one, null);
      mkdirSync(join(settings.cacheFolder, "hooks"), { recursive: true });
      writeFileSync(join(settings.cacheFolder, "hooks/pre-push"), `#!/bin/sh\ntouch '${marker}'\n`, { mode: 0o755 });
      await push(repository, step(one, "a", "2"), one);
      expect(existsSync(marker)).toBe(false);
      const secret = KEY.privateKey.split("\n")[2] ?? "-";
      expect(ssh.calls()).not.toContain(secret);
      expect(ssh.calls()).not.toContain(home);
      expect(ssh.calls()).toMatch(/^-rw------- .* key$/m);
      expect(ssh.calls()).toMatch(/^drwx------ .*binnacle-git-\w+\/ssh-/m);
      const folders = ssh.calls().match(/\/\S*binnacle-git-\w+\/ssh-\w+/g) ?? [];
      expect(folders.length).toBeGreaterThan(0);
      expect(folders.filter((folder) => existsSync(folder))).toEqual([]);
      for (const option of ["StrictHostKeyChecking yes", "GlobalKnownHostsFile /dev/null", "IdentityAgent none"]) {
        expect(ssh.calls()).toContain(option);
      }
    } finally {
      for (const [name, value] of Object.entries(before)) {
        if (value === undefined) delete process.env[name];
        else process.env[name] = value;
      }
    }
  });

  test("[GI25] the connection goes to the address that was checked, and to no private one", async () => {
    const { ssh, repository } = stage();
    await repository.fetch();
    expect(ssh.calls()).toContain("HostName 10.0.0.7");
    const refused = stage({ allowedHosts: [] });
    await expect(refused.repository.fetch()).rejects.toMatchObject({ code: "address_refused" });
    expect(refused.ssh.calls()).toBe("");
    const unknown = stage({ resolve: () => Promise.reject(new Error("unknown")) });
    await expect(unknown.repository.fetch()).rejects.toMatchObject({ code: "unreachable" });
  });

  test.each([
    "https://git.test/a.git",
    "file:///etc",
    "ssh://git.test/a.git",
    "ssh://git@-oProxyCommand=x/a.git",
    "ssh://-l@git.test/a",
    "ssh://git:secret@git.test/a.git",
    "ssh://git@git.test/../a.git",
    "ssh://git@git.test/a;touch x",
    "git@git.test:a.git",
    "ext::sh -c x",
  ])("[GI25] the address %s is refused", (url) => {
    expect(() => sshAddressOf(url)).toThrow("The address must be like ssh://");
  });

  test("[GI25] an address has its host in the one form by which it is checked", () => {
    expect(sshAddressOf("ssh://git@0x7f.1:443/a.git")).toMatchObject({ host: "127.0.0.1", port: 443 });
    const { web, ...rest } = sshAddressOf("ssh://git@GIT.test/~a/b.git");
    expect(rest).toEqual({ user: "git", host: "git.test", port: 22, path: "/~a/b.git" });
    expect(web.host).toBe("git.test:22");
  });

  test("[GI26] a host that does not answer is left after a time, and so is one that is cancelled", async () => {
    const { repository, ssh } = stage({ timeoutMs: 500 });
    ssh.does("exec tail -f /dev/null");
    await expect(repository.fetch()).rejects.toMatchObject({ code: "unreachable" });
    await expect(repository.fetch(AbortSignal.timeout(200))).rejects.toMatchObject({ code: "unreachable" });
    await expect(repository.fetch(AbortSignal.abort())).rejects.toMatchObject({ name: "AbortError" });
  });

  test("[GI26] a server without git or without ssh says what to install", async () => {
    const without = stage({ searchPath: "/nonexistent" });
    await expect(without.repository.fetch()).rejects.toMatchObject({ code: "git_missing" });
    const folder = temporaryFolder();
    symlinkSync(execFileSync("which", ["git"]).toString().trim(), join(folder, "git"));
    const withoutSsh = stage({ searchPath: folder });
    await expect(withoutSsh.repository.fetch()).rejects.toThrow("The program ssh is missing");
  });

  test("[GI27] a change that the host declines is refused with its short reason", async () => {
    const { host, repository } = stage();
    const hook = join(host.folder, "hooks/pre-receive");
    mkdirSync(join(host.folder, "hooks"), { recursive: true });
    writeFileSync(hook, "#!/bin/sh\necho 'token=hunter2 <script>'\nexit 1\n", { mode: 0o755 });
    expect(await push(repository, step(null, "a", "1"), null)).toEqual({
      result: "refused",
      message: "The Git host declines the change of the branch main: pre-receive hook declined.",
    });
    expect(readFileSync(hook, "utf8")).toContain("exit 1");
  });

  test.each([
    [
      "host_key_changed",
      "@@@@@\nWARNING: REMOTE HOST IDENTIFICATION HAS CHANGED!\nHost key verification failed.\nfatal: Could not read",
    ],
    ["host_key_changed", "No ED25519 host key is known for git-host and you have requested strict checking."],
    ["denied", "git@git.test: Permission denied (publickey).\nfatal: Could not read from remote repository."],
    ["denied", "FATAL: W any binnacle/a deploy DENIED by fallthru"],
    ["denied", "ERROR: The key you are authenticating with has been marked as read only."],
    ["missing_repository", "ERROR: Repository not found.\nfatal: Could not read from remote repository."],
    ["missing_repository", "fatal: '/x' does not appear to be a git repository"],
    [
      "missing_repository",
      "ERROR: The project you were looking for could not be found or you don't have permission to view it.",
    ],
    ["unreachable", "ssh: connect to host git.test port 22: Connection refused"],
    ["unreachable", "kex_exchange_identification: read: Connection reset by peer"],
    ["unreachable", "fatal: the remote end hung up unexpectedly"],
    ["too_large", "error: index-pack died of signal 25\nfatal: fetch-pack: invalid index-pack output"],
    ["unreadable", "fatal: fsck error in packed object"],
    ["git_missing", "error: cannot run ssh: No such file or directory\nfatal: unable to fork"],
    ["refused", "password=hunter2"],
  ])("[GI27] the problem %s is known by what the programs say, which is not repeated", (code, said) => {
    expect(problemOf(said).code).toBe(code);
    expect(said).not.toContain(problemOf(said).message);
    expect(problemOf(`${said} hunter2`).message).not.toContain("hunter2");
  });

  test("[GI27] the lines of a push are read, and a reason has only plain characters", () => {
    const line = (text: string) => pushLineOf(`To ssh://git@git.test/a\n${text}\nDone\n`);
    expect(line("*\tabc:refs/heads/main\t[new branch]")).toEqual({ result: "pushed", reason: "" });
    expect(line("!\tabc:refs/heads/main\t[rejected] (stale info)")).toEqual({
      result: "rejected",
      reason: "stale info",
    });
    expect(line(`!\tabc:refs/heads/main\t[remote rejected] (<b>\u001b[1m${"x".repeat(500)})`)?.reason).toMatch(
      /^b 1mx{195,}$/,
    );
    expect(pushLineOf("fatal: no")).toBeNull();
  });

  test("[GI20] objects that Git prints are read whole, or not at all", () => {
    const id = blobOf("a\n").id;
    expect(batchOf(Buffer.from(`${id} blob 2\na\n\n`))).toEqual([{ id, type: "blob", content: Buffer.from("a\n") }]);
    for (const output of [`${id} missing\n`, `${id} blob 5\na\n`, `${id} blob 2\na`, id]) {
      expect(batchOf(Buffer.from(output))).toBeNull();
    }
  });
});

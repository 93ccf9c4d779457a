import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { commitRelease, sourceOf, tagRelease } from "../../scripts/release/git.adapter.ts";
import { signFile } from "../../scripts/release/sign.adapter.ts";

const ROOT = new URL("../../", import.meta.url).pathname;
const FILES = {
  "package.json": '{ "version": "0.1.0" }\n',
  "packages/cli/package.json": '{ "version": "0.1.0" }\n',
  "package-lock.json": '{ "version": "0.1.0", "packages": { "": { "version": "0.1.0" } } }\n',
  "deploy/charts/binnacle/Chart.yaml": "version: 0.1.0\nappVersion: 0.1.0\n",
  "packages/server/src/database/migrations/0001_first.ts": "",
  "packages/server/src/database/migrations/releases/0.1.0.sql": "INSERT INTO x VALUES ('0001_first', '', NULL);\n",
  "packages/server/src/database/migrations/releases/0.2.0.sql": "INSERT INTO x VALUES ('0001_first', '', NULL);\n",
  "CHANGELOG.md": "# Changelog\n\n## Unreleased (contract 3)\n\n- Users: new.\n",
};

let folder: string;
let repository: string;
const git = (...args: string[]) =>
  execFileSync("git", args, { cwd: repository, encoding: "utf8", stdio: "pipe" }).trim();
const read = (path: string) => readFileSync(join(repository, path), "utf8");
const write = (path: string, text: string) => {
  mkdirSync(dirname(join(repository, path)), { recursive: true });
  writeFileSync(join(repository, path), text);
};

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "binnacle-release-"));
  repository = join(folder, "repository");
  mkdirSync(repository);
  for (const who of ["AUTHOR", "COMMITTER"]) {
    vi.stubEnv(`GIT_${who}_NAME`, "Releaser");
    vi.stubEnv(`GIT_${who}_EMAIL`, "releaser@example.com");
  }
  vi.stubEnv("GIT_CONFIG_GLOBAL", "/dev/null");
  git("init", "--quiet");
  for (const [path, text] of Object.entries(FILES)) write(path, text);
  git("add", "--all");
  git("commit", "--quiet", "--message=everything");
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true });
});

function makeKey(): string {
  const key = join(folder, "key");
  execFileSync("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-C", "releaser@example.com", "-f", key]);
  writeFileSync(join(folder, "allowed_signers"), `releaser@example.com ${readFileSync(`${key}.pub`, "utf8")}`);
  return key;
}

test("[SU2105] a release is a commit with its version and its section of the changelog, and a signed tag on it", async () => {
  await commitRelease(repository, "0.2.0", "2026-03-04");
  expect(git("log", "-1", "--format=%s")).toBe("release: 0.2.0");
  expect(git("status", "--porcelain")).toBe("");
  expect(read("CHANGELOG.md")).toContain("## 0.2.0 (contract 3), 2026-03-04\n");
  for (const path of ["package.json", "packages/cli/package.json", "package-lock.json"])
    expect(read(path)).toContain('"0.2.0"');
  expect(read("deploy/charts/binnacle/Chart.yaml")).toBe("version: 0.2.0\nappVersion: 0.2.0\n");

  expect(await tagRelease(repository, "0.2.0", makeKey())).toBe("v0.2.0");
  const verified = ["-c", "gpg.format=ssh", "-c", `gpg.ssh.allowedSignersFile=${join(folder, "allowed_signers")}`];
  expect(spawnSync("git", [...verified, "verify-tag", "v0.2.0"], { cwd: repository }).status).toBe(0);
  await expect(commitRelease(repository, "0.2.0", "2026-03-05")).rejects.toThrow(
    "0.2.0 is released: there is a tag v0.2.0.",
  );
});

test("[SU2105] a release that was broken off after its commit goes on from it", async () => {
  await commitRelease(repository, "0.1.0", "2026-03-04");
  const { commit } = await sourceOf(repository);
  await commitRelease(repository, "0.1.0", "2026-03-05");
  expect(await sourceOf(repository)).toEqual({ commit, isModified: false });
});

test("[SU2106] a release does not begin with changes that no commit has, and changes nothing", async () => {
  write("new-file", "");
  await expect(commitRelease(repository, "0.2.0", "2026-03-04")).rejects.toThrow("The checkout has changes.");
  expect(await sourceOf(repository)).toMatchObject({ isModified: true });
  expect(read("package.json")).toBe(FILES["package.json"]);
});

test("[SU2106] a release whose schema is not kept, or lacks a migration, does not begin, and says how to keep it", async () => {
  const says = "Write it from an empty database, and commit it: DATABASE_URL=… npm run schema -- 0.";
  await expect(commitRelease(repository, "0.3.1", "2026-03-04")).rejects.toThrow(/releases\/0\.3\.0\.sql is missing\./);
  write("packages/server/src/database/migrations/0002_second.ts", "");
  git("add", "--all");
  git("commit", "--quiet", "--message=second");
  const refused = commitRelease(repository, "0.2.0", "2026-03-04");
  await expect(refused).rejects.toThrow(`releases/0.2.0.sql lacks 0002_second. ${says}`);
  expect(read("package.json")).toBe(FILES["package.json"]);
});

test("[RN604] a release before the version that renderings are kept for does not begin", async () => {
  write("packages/operator/src/app/render/releases/0.3.0/bare.yaml", "kind: Service\n");
  git("add", "--all");
  git("commit", "--quiet", "--message=renderings");
  await expect(commitRelease(repository, "0.2.0", "2026-03-04")).rejects.toThrow(
    "packages/operator/src/app/render/releases/0.3.0 is that of a later version. Rename it to 0.2.0, or release 0.3.0.",
  );
  expect(read("package.json")).toBe(FILES["package.json"]);
});

test("[SU2106] a release without a version, a folder or a key, or to a folder with files, says what it needs", () => {
  const release = (...args: string[]) =>
    spawnSync(process.execPath, [join(ROOT, "scripts/release.ts"), ...args], { encoding: "utf8" }).stderr;
  expect(release("0.2.0", "--output", folder)).toContain("npm run release -- <version> --output <folder> --key <file>");
  expect(release("0.2.0", "--output", folder, "--key", "k")).toContain(`${folder} is not empty.`);
  expect(release("0.2.0", "--output", "x", "--key", "k", "--images", "y")).toContain("--images is for dry runs");
  expect(release("--dry-run", "0.2.0", "--output", "x")).toBe("A dry run changes no version, so it takes none.\n");
});

test("[SU2110] checksums are signed by an SSH key, and others than the signed ones do not verify", async () => {
  const sums = join(folder, "SHA256SUMS");
  writeFileSync(sums, "digest  file\n");
  await signFile(sums, makeKey());
  const verify = (text: string) =>
    spawnSync(
      "ssh-keygen",
      [
        "-Y",
        "verify",
        "-f",
        join(folder, "allowed_signers"),
        "-I",
        "releaser@example.com",
        "-n",
        "binnacle-release",
        "-s",
        `${sums}.sig`,
      ],
      { input: text },
    ).status;
  expect(verify("digest  file\n")).toBe(0);
  expect(verify("other  file\n")).not.toBe(0);
  await expect(signFile(sums, join(folder, "no-key"))).rejects.toThrow("ssh-keygen cannot sign with");
});

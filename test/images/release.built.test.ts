import { execFileSync, spawnSync } from "node:child_process";
import { appendFileSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { filesOf, VERSION } from "./layout.ts";

const ROOT = new URL("../../", import.meta.url).pathname;
const ARCHITECTURES = inject("architectures");
const folder = mkdtempSync(join(tmpdir(), "binnacle-release-"));
const [first, second, key] = [join(folder, "first"), join(folder, "second"), join(folder, "key")];
afterAll(() => rmSync(folder, { recursive: true }));

/** One that knows no file of this checkout, so that it does not matter how the checkout came here. */
const repository = join(folder, "repository");
const git = (...args: string[]) =>
  execFileSync("git", args, { encoding: "utf8", env: { ...process.env, GIT_DIR: repository, GIT_WORK_TREE: folder } });

beforeAll(() => {
  git("init", "--quiet");
  git(
    "-c",
    "user.name=Releaser",
    "-c",
    "user.email=releaser@example.com",
    "commit",
    "--quiet",
    "--allow-empty",
    "--message=all",
  );
  execFileSync("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-C", "releaser@example.com", "-f", key]);
  writeFileSync(join(folder, "allowed_signers"), `releaser@example.com ${readFileSync(`${key}.pub`, "utf8")}`);
  dryRun(ROOT, first, inject("images"), {});
  dryRun(inject("elsewhere"), second, inject("imagesElsewhere"), inject("environmentElsewhere"));
});

function dryRun(from: string, output: string, images: string, env: Record<string, string>): void {
  const args = ["run", "--silent", "release", "--", "--dry-run", "--output", output, "--images", images, "--key", key];
  const ofGit = { GIT_DIR: repository, GIT_WORK_TREE: from };
  execFileSync("npm", args, { cwd: from, env: { ...process.env, ...ofGit, ...env }, stdio: "pipe" });
}

const read = (path: string) => readFileSync(join(first, path), "utf8");
const sums = () =>
  new Map(
    read("SHA256SUMS")
      .trim()
      .split("\n")
      .map((line) => line.split("  ").reverse() as [string, string]),
  );

test("[SU2107] a release has images, charts, packages, executables, bills of materials, notes and provenance, all in its checksums", () => {
  const outsideImages = [...sums().keys()].filter((path) => !path.startsWith("images/"));
  expect(outsideImages).toEqual(
    [
      "RELEASE-NOTES.md",
      `charts/binnacle-${VERSION}.tgz`,
      `charts/binnacle-operator-${VERSION}.tgz`,
      ...ARCHITECTURES.map((architecture) => `cli/binnacle-linux-${architecture}`),
      "cli/binnacle.mjs",
      `packages/binnacle-cli-${VERSION}.tgz`,
      `packages/binnacle-client-${VERSION}.tgz`,
      "provenance.intoto.json",
      "sbom/binnacle-cli.cdx.json",
      "sbom/binnacle-operator.cdx.json",
      "sbom/binnacle-registry.cdx.json",
      "sbom/binnacle-server.cdx.json",
      "sbom/binnacle.cdx.json",
    ].sort(),
  );
  expect(existsSync(join(first, "images/server/index.json"))).toBe(true);
  for (const architecture of ARCHITECTURES) {
    const path = join(first, `cli/binnacle-linux-${architecture}`);
    const inImage = filesOf("cli", architecture).get("usr/local/bin/binnacle");
    expect(inImage?.type === "file" && readFileSync(path).equals(inImage.content)).toBe(true);
    expect(statSync(path).mode & 0o777).toBe(0o755);
  }
});

test("[SU2108] two dry runs of one commit write the same bytes, in other folders, on another date, and tag nothing", () => {
  expect(readFileSync(join(second, "SHA256SUMS"), "utf8")).toBe(read("SHA256SUMS"));
  expect(readFileSync(join(second, "SHA256SUMS.sig"), "utf8")).toBe(read("SHA256SUMS.sig"));
  expect([git("tag"), git("rev-list", "--count", "HEAD").trim()]).toEqual(["", "1"]);
});

test("[SU2109] the provenance names every file of the release and the image that clusters pull", () => {
  const { subject } = JSON.parse(read("provenance.intoto.json"));
  const digests = new Map<string, string>(
    subject.map(({ name, digest }: { name: string; digest: { sha256: string } }) => [name, digest.sha256]),
  );
  for (const [path, digest] of sums())
    if (path !== "provenance.intoto.json") expect([path, digests.get(path)]).toEqual([path, digest]);
  const { manifests } = JSON.parse(read("images/operator/index.json"));
  expect(`sha256:${digests.get(`binnacle/operator:${VERSION}`)}`).toBe(manifests[0].digest);
});

/** As the guide has it. */
const verified = () => {
  const signer = ["-f", join(folder, "allowed_signers"), "-I", "releaser@example.com", "-n", "binnacle-release"];
  const input = readFileSync(join(first, "SHA256SUMS"));
  const signature = spawnSync("ssh-keygen", ["-Y", "verify", ...signer, "-s", join(first, "SHA256SUMS.sig")], {
    input,
  });
  const files = spawnSync("sha256sum", ["--check", "--quiet", "SHA256SUMS"], { cwd: first, encoding: "utf8" });
  return { signature: signature.status === 0, files: files.status === 0, said: files.stdout };
};

test("[SU2110] a release verifies by the commands of the guide, and a changed file does not", () => {
  expect(verified()).toEqual({ signature: true, files: true, said: "" });
  const chart = `charts/binnacle-${VERSION}.tgz`;
  const whole = readFileSync(join(first, chart));
  appendFileSync(join(first, chart), "x");
  expect(verified()).toEqual({ signature: true, files: false, said: `${chart}: FAILED\n` });
  writeFileSync(join(first, chart), whole);
  appendFileSync(join(first, "SHA256SUMS"), `${"0".repeat(64)}  added\n`);
  expect(verified().signature).toBe(false);
});

test("[SU2111] the package of the command line needs no other package and names its Node.js", () => {
  const archive = join(first, `packages/binnacle-cli-${VERSION}.tgz`);
  const contents = execFileSync("tar", ["-tzf", archive], { encoding: "utf8" }).trim().split("\n").sort();
  expect(contents).toEqual(
    ["LICENSE", "THIRD-PARTY-LICENSES.txt", "binnacle.mjs", "package.json"].map((name) => `package/${name}`),
  );
  const manifest = JSON.parse(execFileSync("tar", ["-xzOf", archive, "package/package.json"], { encoding: "utf8" }));
  expect(manifest).toMatchObject({ bin: { binnacle: "binnacle.mjs" }, engines: { node: ">=20.12" } });
  expect(manifest).not.toHaveProperty("dependencies");
});

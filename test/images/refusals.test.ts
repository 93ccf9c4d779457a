import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { folder, serve } from "../../packages/charts/src/chart.fixture.ts";
import { IMAGES } from "../../scripts/images/definitions.ts";
import { debianFile, npmArchive } from "../../scripts/images/downloads.adapter.ts";
import { platformParts } from "../../scripts/images/layers.adapter.ts";

const ROOT = new URL("../../", import.meta.url).pathname;
const PATH = "debian/pool/main/x/x_1_amd64.deb";
const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");

let cache = "";
beforeEach(() => {
  cache = mkdtempSync(join(tmpdir(), "binnacle-cache-"));
  vi.stubEnv("XDG_CACHE_HOME", cache);
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(cache, { recursive: true });
});

test("[IM5] a Debian package is downloaded once and kept, from a mirror that does not have to be trusted", async () => {
  const mirror = await serve(folder({ [`/${PATH}`]: "package" }));
  vi.stubEnv("DEBIAN_MIRROR", `${mirror.url}/`);
  const pinned = { path: PATH, sha256: sha256("package") };
  expect([String(await debianFile(pinned)), String(await debianFile(pinned))]).toEqual(["package", "package"]);
  expect(mirror.asked).toEqual([`/${PATH}`]);
  mirror.stop();
});

test("[IM5] a download with another digest than the pinned one is refused and not kept", async () => {
  const mirror = await serve(folder({ [`/${PATH}`]: "forged" }));
  vi.stubEnv("DEBIAN_MIRROR", mirror.url);
  const download = debianFile({ path: PATH, sha256: sha256("package") });
  await expect(download).rejects.toThrow(`${PATH} does not have its sha256 digest ${sha256("package")}.`);
  expect(readdirSync(cache)).toEqual([]);
  mirror.stop();
});

test("[IM5] a mirror that does not have a package is named, with what to do", async () => {
  const mirror = await serve(folder({}));
  vi.stubEnv("DEBIAN_MIRROR", mirror.url);
  const download = debianFile({ path: PATH, sha256: sha256("package") });
  await expect(download).rejects.toThrow(/Set DEBIAN_MIRROR to a mirror that has it\.\nhttp.*x_1_amd64\.deb: 404/);
  mirror.stop();
});

test("[IM5] an npm package with another digest than the lockfile's is refused and not kept", async () => {
  // It is started in the folder that the archive goes to.
  writeFileSync(join(cache, "npm"), "#!/bin/sh\nprintf forged >x.tgz && echo x.tgz\n", { mode: 0o755 });
  vi.stubEnv("PATH", `${cache}:${process.env["PATH"]}`);
  const locked = { path: "node_modules/x", name: "x", version: "1.0.0", license: "MIT", integrity: "sha512-AQID" };
  await expect(npmArchive(locked)).rejects.toThrow("x@1.0.0 does not have its sha512 digest 010203.");
  await expect(npmArchive({ ...locked, integrity: null })).rejects.toThrow("The lockfile has no digest of x.");
  expect(readdirSync(join(cache, "binnacle/images"))).toEqual([]);
});

test("[IM5] a Helm that is missing or another than the pinned one is refused, with the command that builds it", async () => {
  const operator = IMAGES.find(({ hasHelm }) => hasHelm);
  if (!operator) throw new Error("No image has Helm.");
  const helm = () => platformParts({ lockfile: { packages: {} }, helm: cache }, "arm64", operator)[1]?.entries();
  await expect(helm()).rejects.toThrow(
    "Build it by test/kube/build.sh helm-linux-arm64, or name its folder by --helm.",
  );
  writeFileSync(join(cache, "helm-linux-arm64"), "forged");
  await expect(helm()).rejects.toThrow(`has the SHA-256 ${sha256("forged")}, not `);
});

const images = (options: readonly string[], ...node: string[]) =>
  spawnSync(process.execPath, [...node, "scripts/images.ts", ...options], { cwd: ROOT, encoding: "utf8" });

test("[IM13] another Node.js than the pinned one builds no image, because it may compress to other bytes", () => {
  const older = "Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '24.0.0' } })";
  const { status, stderr } = images(["--output", cache], "--import", `data:text/javascript,${older}`);
  expect([status, stderr]).toEqual([
    1,
    expect.stringMatching(/^Images are built by Node\.js .*, and this is 24\.0\.0\./),
  ]);
});

test("[IM13] a build without a folder to write to, or of an image that is not there, says so", () => {
  expect(images([]).stderr).toBe("Name the folder to write to: npm run images -- --output <folder>\n");
  expect(images(["--output", cache, "--only", "hub"]).stderr).toBe(
    "There is no image hub; there are server, operator, cli.\n",
  );
});

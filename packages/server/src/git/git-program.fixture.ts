import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { GitObject } from "./object.ts";
import { packOf } from "./pack.ts";

/** Nothing of the machine's own configuration. */
const ENV = { PATH: process.env["PATH"] ?? "", HOME: "/nonexistent", GIT_CONFIG_NOSYSTEM: "1" };

export interface GitFolder {
  readonly folder: string;
  /** Runs `git`, and throws with what it prints where it fails. */
  readonly git: (args: readonly string[], input?: Buffer | string) => string;
  readonly write: (objects: readonly GitObject[]) => void;
}

export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "git-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** The real `git` on a bare repository of the test. */
export function gitFolder(folder = temporaryFolder()): GitFolder {
  const git = (args: readonly string[], input: Buffer | string = "") => {
    const run = spawnSync("git", ["-C", folder, ...args], { env: ENV, input, maxBuffer: 2 ** 28 });
    if (run.status !== 0) throw new Error(`git ${args[0]} failed: ${run.stdout.toString()}${run.stderr.toString()}`);
    return run.stdout.toString("utf8");
  };
  git(["init", "--quiet", "--bare", "--initial-branch=main"]);
  return {
    folder,
    git,
    write: (objects) => void git(["index-pack", "--stdin", "--strict"], packOf(objects)),
  };
}

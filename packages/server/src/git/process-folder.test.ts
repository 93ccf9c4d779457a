import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { openGitAccess } from "../gitops/git-access.adapter.ts";
import { temporaryFolder } from "./git-program.fixture.ts";
import { processFolder, removeLeftovers } from "./process-folder.adapter.ts";

const MODULE = fileURLToPath(new URL("process-folder.adapter.ts", import.meta.url));

/** A process that has a key in its folder below `root`, and goes on until it is ended. */
async function processIn(root: string) {
  const script = `
    const { processFolder } = await import(${JSON.stringify(MODULE)});
    const { writeFileSync } = await import("node:fs");
    writeFileSync(processFolder() + "/key", "secret", { mode: 0o600 });
    console.log(processFolder());
    process.on("SIGTERM", () => process.exit());
    setInterval(() => undefined, 1e9);`;
  const child = spawn(process.execPath, ["--input-type=module", "--eval", script], {
    env: { ...process.env, TMPDIR: root },
    stdio: ["ignore", "pipe", "inherit"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const [line] = (await once(child.stdout, "data")) as [Buffer];
  return {
    folder: line.toString().trim(),
    async end(signal: NodeJS.Signals) {
      const ended = once(child, "exit");
      child.kill(signal);
      await ended;
    },
  };
}

describe("the folder of a process for Git", () => {
  test("[GI47] what a killed process has left is removed, and what one has that runs stays", async () => {
    const root = temporaryFolder();
    const [killed, running] = await Promise.all([processIn(root), processIn(root)]);
    await removeLeftovers(root);
    expect([killed, running].map(({ folder }) => existsSync(join(folder, "key")))).toEqual([true, true]);
    expect(statSync(killed.folder).mode & 0o777).toBe(0o700);
    await killed.end("SIGKILL");
    expect(existsSync(join(killed.folder, "key"))).toBe(true);
    await removeLeftovers(root);
    expect(existsSync(killed.folder)).toBe(false);
    expect(existsSync(join(running.folder, "key"))).toBe(true);
    await running.end("SIGTERM");
    expect(readdirSync(root)).toEqual([]);
  });

  test("[GI47] a folder that answers nobody is removed once it is ten minutes old", async () => {
    const root = temporaryFolder();
    const folder = mkdtempSync(join(root, "binnacle-git-"));
    const at = statSync(folder).mtimeMs;
    await removeLeftovers(root, at + 9 * 60_000);
    expect(existsSync(folder)).toBe(true);
    await removeLeftovers(root, at + 11 * 60_000);
    expect(existsSync(folder)).toBe(false);
  });

  test("[GI47] links and folders with other names are left alone", async () => {
    const root = temporaryFolder();
    mkdirSync(join(root, "other"));
    writeFileSync(join(root, "other/file"), "");
    symlinkSync(join(root, "other"), join(root, "binnacle-git-link"));
    writeFileSync(join(root, "binnacle-git-file"), "");
    await removeLeftovers(root, Date.now() + 3_600_000);
    expect(readdirSync(root).toSorted()).toEqual(["binnacle-git-file", "binnacle-git-link", "other"]);
    expect(existsSync(join(root, "other/file"))).toBe(true);
  });

  test("[GI47] a server removes at its start what a killed one has left", async () => {
    const folder = mkdtempSync(join(tmpdir(), "binnacle-git-"));
    writeFileSync(join(folder, "key"), "secret");
    utimesSync(folder, 0, 0);
    openGitAccess({ gitHosts: [] });
    await vi.waitFor(() => expect(existsSync(folder)).toBe(false), { timeout: 10_000 });
    expect(existsSync(processFolder())).toBe(true);
  });
});

import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { inject, onTestFinished, vi } from "vitest";
import { freePort } from "../world/free-port.ts";
import { startWorld } from "../world/world.ts";

const BUILT = join(process.env["XDG_CACHE_HOME"] || join(homedir(), ".cache"), "binnacle/kube/bin");
/** Where programs are looked for. */
export const PATHS = [BUILT, ...(process.env["PATH"] ?? "").split(":")];

/** The path of a program that was built or installed; null where it is missing. */
const programPath = (name: string): string | null =>
  PATHS.map((folder) => join(folder, name)).find((path) => existsSync(path)) ?? null;

/** Skips the test, and says how to get the program. */
export function requireProgram(name: string, skip: (note: string) => void): void {
  if (programPath(name)) return;
  const isBuilt = ["helm", "helm3", "crane", "regctl"].includes(name);
  skip(`${name} is missing: ${isBuilt ? `test/kube/build.sh ${name}` : `apt-get install ${name}`}`);
}

/** Runs a client of registries, which keeps what it stores in the folder, and returns what it prints. */
export async function runClient(folder: string, name: string, ...args: readonly string[]): Promise<string> {
  const env = { PATH: process.env["PATH"], HOME: folder, TMPDIR: folder, HELM_PLUGINS: join(folder, "none") };
  return (await promisify(execFile)(programPath(name) ?? name, args, { env })).stdout;
}

/** Starts a control plane that serves the images that were built; returns its host and port. */
export async function serveImages(): Promise<string> {
  const world = await startWorld({ env: { BINNACLE_ROLES: "api", BINNACLE_IMAGES_DIR: inject("images") } });
  onTestFinished(() => world.stop());
  return new URL(world.url).host;
}

/** The user `robot` with the password `hush-robot`, as htpasswd would write it. */
export const HTPASSWD = "robot:$2b$04$kgN450o5ekMRJe3raMeeA.EB9RFq02Hmct/P6R7F/L/4JYWF3LlJW\n";

/** Starts the registry of the distribution project, which takes pushes of one user; returns its host and port. */
export async function startDistribution(folder: string): Promise<string> {
  const host = `127.0.0.1:${await freePort()}`;
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "htpasswd"), HTPASSWD);
  const config = {
    version: 0.1,
    log: { accesslog: { disabled: true }, level: "error" },
    storage: { filesystem: { rootdirectory: join(folder, "data") } },
    http: { addr: host },
    auth: { htpasswd: { realm: "test", path: join(folder, "htpasswd") } },
  };
  writeFileSync(join(folder, "config.yml"), JSON.stringify(config));
  const child = spawn("docker-registry", ["serve", join(folder, "config.yml")], { stdio: "ignore" });
  onTestFinished(async () => {
    const ended = once(child, "exit");
    if (child.kill("SIGKILL")) await ended;
  });
  await vi.waitFor(() => fetch(`http://${host}/v2/`), { timeout: 20_000, interval: 50 });
  return host;
}

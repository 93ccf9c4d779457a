import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { databaseProcesses, takenBytes } from "./crew.adapter.ts";

const MAIN = fileURLToPath(new URL("../../packages/server/src/main.ts", import.meta.url));

/** The control plane that is rehearsed with. */
export interface ControlPlane {
  readonly url: string;
  /** Null where it is not ours to kill. */
  readonly kill: (() => Promise<void>) | null;
  restart(): Promise<void>;
  /** Memory of its process and its database; null where they are not ours. */
  memory(): Promise<{ readonly serverBytes: number; readonly databaseBytes: number } | null>;
  /** Says how to go on with what is kept. */
  stop(isKept: boolean): Promise<string | null>;
}

export const existingControlPlane = (url: string): ControlPlane => ({
  url,
  kill: null,
  restart: async () => undefined,
  memory: async () => null,
  stop: async () => null,
});

/** A control plane of our own, as `npm start` runs it, on a fresh data folder. */
export async function startControlPlane(): Promise<ControlPlane> {
  const folder = await mkdtemp(join(tmpdir(), "binnacle-fleet-"));
  // Open to the user that PostgreSQL runs as when this runs as root.
  await chmod(folder, 0o755);
  let server = serving(folder, "0");
  const { url } = await server.catch(async (error: unknown) => {
    await rm(folder, { recursive: true, force: true });
    throw error;
  });
  /** One that starts again is waited for, so that it does not stay behind. */
  const end = async (signal: NodeJS.Signals) => {
    const child = (await server.catch(() => null))?.child;
    if (!child) return;
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill(signal);
    await once(child, "exit");
  };
  return {
    url,
    kill: () => end("SIGKILL"),
    async restart() {
      // On the same port, so that the operators find it again.
      server = serving(folder, new URL(url).port);
      await server;
    },
    async memory() {
      const { child } = await server;
      const ofDatabase = await Promise.all((await databaseProcesses(join(folder, "postgres"))).map(takenBytes));
      return {
        serverBytes: await takenBytes(child.pid ?? 0),
        databaseBytes: ofDatabase.reduce((sum, bytes) => sum + bytes, 0),
      };
    },
    async stop(isKept) {
      await end("SIGTERM");
      if (isKept)
        return `The control plane is kept in ${folder}: BINNACLE_DATA_DIR=${folder} npm start. Delete the folder to remove it.`;
      await rm(folder, { recursive: true, force: true });
      return null;
    },
  };
}

async function serving(folder: string, port: string): Promise<{ readonly child: ChildProcess; readonly url: string }> {
  const child = spawn(process.execPath, ["--max-semi-space-size=8", MAIN], {
    env: {
      PATH: process.env["PATH"],
      HOME: process.env["HOME"],
      NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"],
      BINNACLE_DATA_DIR: folder,
      BINNACLE_PORT: port,
      BINNACLE_SANDBOX: "off",
      BINNACLE_LOG_LEVEL: "error",
    },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  let printed = "";
  child.stdout.on("data", (chunk) => {
    if (printed.length < 100_000) printed += chunk;
    const url = /is serving at (\S+)/.exec(printed)?.[1];
    if (url) resolve(url);
  });
  child.once("exit", () => reject(new Error(`The control plane ended instead of serving:\n${printed}`)));
  return { child, url: await promise };
}

import { randomUUID } from "node:crypto";
import { cp, mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";

/** The folder of one run. Only this user can enter it, because variables and plans have secrets. */
export interface WorkFolder {
  readonly path: string;
  write(name: string, content: string): Promise<void>;
  /** Returns null where there is no such file. */
  read(name: string): Promise<string | null>;
  remove(): Promise<void>;
}

const LEFT_OUT = /^(\.terraform|.*\.tfstate(\.backup)?|.*\.tftest\.hcl|tests)$/;

const PREFIX = "binnacle-provisioning-";

/** The folders of this process. In a container each worker has the same process id as the one before it. */
const own = new Set<string>();

/** A worker that was killed has left its folders. */
async function removeAbandoned(): Promise<void> {
  for (const name of await readdir(tmpdir())) {
    const maker = name.startsWith(PREFIX) ? Number(name.slice(PREFIX.length).split("-")[0]) : 0;
    const isInUse = maker === process.pid ? own.has(join(tmpdir(), name)) : isRunning(maker);
    if (maker > 0 && !isInUse) await rm(join(tmpdir(), name), { recursive: true, force: true });
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== "ESRCH";
  }
}

/** Copies the module, so that runs share nothing and what a run writes goes with it. */
export async function makeWorkFolder(module: string): Promise<WorkFolder> {
  await removeAbandoned();
  // It is known before it exists: another run that begins meanwhile must not take it for abandoned.
  const path = join(tmpdir(), `${PREFIX}${process.pid}-${randomUUID()}`);
  own.add(path);
  await mkdir(path, { mode: 0o700 });
  await cp(module, path, { recursive: true, filter: (file) => file === module || !LEFT_OUT.test(basename(file)) });
  return {
    path,
    write: (name, content) => writeFile(join(path, name), content, { mode: 0o600 }),
    async read(name) {
      return readFile(join(path, name), "utf8").catch((error: NodeJS.ErrnoException) => {
        if (error.code === "ENOENT") return null;
        throw error;
      });
    },
    async remove() {
      await rm(path, { recursive: true, force: true, maxRetries: 3 });
      own.delete(path);
    },
  };
}

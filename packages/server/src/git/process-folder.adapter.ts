import { existsSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { lstat, readdir, rm } from "node:fs/promises";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

const PREFIX = "binnacle-git-";
/** A socket on which the process of the folder listens. The kernel ends that with the process, however it ends. */
const ALIVE = "alive";
/** A folder without a socket has just been made, or is one of an earlier release or of a temporary folder with a very long name. */
const LEFTOVER_AFTER_MS = 10 * 60_000;

let own: string | null = null;

/**
 * A folder that nobody else can read, for keys in use and copies of repositories. It ends with the process; what a killed one has
 * left is found by `removeLeftovers`.
 */
export function processFolder(): string {
  // The temporary folder may be cleaned by others.
  if (own !== null && existsSync(own)) return own;
  const made = mkdtempSync(join(tmpdir(), PREFIX));
  process.once("exit", () => rmSync(made, { recursive: true, force: true }));
  listenIn(made);
  own = made;
  return made;
}

function listenIn(folder: string): void {
  const server = createServer((socket) => socket.destroy());
  server.on("error", () => undefined);
  server.unref();
  // Under its name only once it answers, or a process that looks meanwhile would take the folder for a leftover.
  const unfinished = join(folder, `${ALIVE}.new`);
  server.listen(unfinished);
  if (existsSync(unfinished)) renameSync(unfinished, join(folder, ALIVE));
}

/** Removes what killed processes of this user have left. Folders of those that run stay. */
export async function removeLeftovers(root = tmpdir(), now = Date.now()): Promise<void> {
  const names = await readdir(root).catch(() => []);
  for (const name of names.filter((one) => one.startsWith(PREFIX))) {
    const folder = join(root, name);
    if (folder === own || !(await isLeftover(folder, now))) continue;
    // Whatever cannot be removed is tried again by the next sweep.
    await removed(folder).catch(() => undefined);
  }
}

/** Programs that were killed a moment ago may still write to a folder while it is removed. */
export const removed = (folder: string): Promise<void> =>
  rm(folder, { recursive: true, force: true, maxRetries: 3, retryDelay: 100 });

async function isLeftover(folder: string, now: number): Promise<boolean> {
  const found = await lstat(folder).catch(() => null);
  // A link, or a folder of somebody else with such a name, is none of ours.
  if (!found?.isDirectory() || found.uid !== process.getuid?.()) return false;
  const answer = await answerOf(join(folder, ALIVE));
  return answer === "refused" || (answer === "no socket" && now - found.mtimeMs > LEFTOVER_AFTER_MS);
}

function answerOf(socket: string): Promise<"alive" | "no socket" | "refused"> {
  return new Promise((done) => {
    const connection = connect(socket);
    connection.once("connect", () => {
      connection.destroy();
      done("alive");
    });
    connection.once("error", ({ code }: NodeJS.ErrnoException) => {
      const isNone = code === "ENOENT" || code === "EINVAL" || code === "ENOTSOCK" || code === "ENAMETOOLONG";
      done(code === "ECONNREFUSED" ? "refused" : isNone ? "no socket" : "alive");
    });
  });
}

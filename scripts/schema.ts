import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { connected } from "../packages/server/src/database/command.adapter.ts";
import { migrate } from "../packages/server/src/database/migrate.ts";
import { schemaFile, schemaText } from "./release/schema.ts";

/**
 * Keeps the schema of this checkout as that of a release, from which the tests upgrade: `npm run schema -- <version>`. It takes an empty
 * database in DATABASE_URL, and pg_dump of the same PostgreSQL or a newer one.
 */
const ROOT = new URL("../", import.meta.url);
const [version] = process.argv.slice(2);
const url = process.env["DATABASE_URL"];
try {
  if (!version || !url)
    throw new Error("Say which release, and an empty database: DATABASE_URL=… npm run schema -- <version>");
  const applied = await connected({ url }, (database) => migrate(database.kysely));
  if (applied.length === 0) throw new Error("The database is not empty. Name one that is.");
  // Rows too: some migrations write one.
  const dump = execFileSync("pg_dump", ["--inserts", "--no-owner", "--no-privileges", url], { encoding: "utf8" });
  writeFileSync(new URL(schemaFile(version), ROOT), schemaText(version, dump));
  process.stdout.write(`${schemaFile(version)} has ${applied.length} migrations.\n`);
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`);
  process.exitCode = 1;
}

export const MIGRATIONS = "packages/server/src/database/migrations";

/** Where the schema of a release is kept. A patch release has no migrations, so its schema is that of its minor release. */
export const schemaFile = (version: string): string => `${MIGRATIONS}/releases/${version.replace(/\d+$/, "0")}.sql`;

/** What pg_dump wrote, without what depends on who wrote it and with which version. */
export function schemaText(version: string, dump: string): string {
  const isKept = (line: string) => !/^(--|SET |SELECT pg_catalog\.|\\)/.test(line);
  const text = dump.split("\n").filter(isKept).join("\n");
  const head = `-- The schema of release ${version}, as pg_dump wrote it, with the record of its migrations. It stays as it is.\n\n`;
  return `${head}${text.replaceAll(/\n{3,}/g, "\n\n").trim()}\n`;
}

/** Throws unless the kept schema, null where there is none, is that of these migrations. `files` are those of their folder. */
export function requireSchema(version: string, kept: string | null, files: readonly string[]): void {
  const names = files.flatMap((file) => /^(\d{4}_\w+)\.ts$/.exec(file)?.[1] ?? []);
  const missing = names.filter((name) => !kept?.includes(`VALUES ('${name}'`));
  if (kept !== null && missing.length === 0) return;
  const what = kept === null ? "is missing" : `lacks ${missing.join(", ")}`;
  throw new Error(
    `${schemaFile(version)} ${what}. Write it from an empty database, and commit it: DATABASE_URL=… npm run schema -- ${version}`,
  );
}

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startWorld } from "@binnacle/world";
import { restoredDatabase } from "@binnacle/world/database";
import { runServerCommand, runServerLine } from "@binnacle/world/server-command";
import { beforeEach, expect, onTestFinished, test } from "vitest";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "binnacle-command-"));
  return () => rmSync(folder, { recursive: true });
});

test("[BK8] a backup goes through a pipe from the standard output to the standard input of a restore", async () => {
  const world = await startWorld({ env: { BINNACLE_ROLES: "api" } });
  onTestFinished(() => world.stop());
  await world.org("Kept in a pipe");
  const target = await restoredDatabase("select 1");
  onTestFinished(() => target.drop());
  const env = { BINNACLE_DATA_DIR: folder, FROM: world.databaseUrl, TO: target.url };
  const line = 'DATABASE_URL="$FROM" binnacle_server backup - | DATABASE_URL="$TO" binnacle_server restore -';
  const { stdout, stderr } = await runServerLine(env, line);
  expect([stdout, stderr]).toEqual(["", expect.stringContaining("The backup is restored")]);
  const { rows } = await target.database.pool.query("select name from orgs where name = 'Kept in a pipe'");
  expect(rows).toHaveLength(1);
}, 120_000);

test("[BK4] a restore of a file that is not there says so in one line", async () => {
  const restored = runServerCommand({ BINNACLE_DATA_DIR: folder }, "restore", join(folder, "none.gz"));
  const stderr = expect.stringMatching(/^ENOENT: no such file or directory, open '.*none\.gz'\n$/);
  await expect(restored).rejects.toMatchObject({ code: 1, stderr });
}, 120_000);

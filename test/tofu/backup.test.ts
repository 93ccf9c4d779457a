import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { s3PlaceOf } from "../../packages/server/src/backup/s3.adapter.ts";
import { restoredDatabase } from "../world/database.ts";
import { runServerCommand } from "../world/server-command.ts";
import { startWorld, type World } from "../world/world.ts";
import { type Cloud, startCloud } from "./cloud.ts";

const AWS = { AWS_ACCESS_KEY_ID: "AKIAEXAMPLE", AWS_SECRET_ACCESS_KEY: "secret", AWS_REGION: "eu-west-1" };

let world: World;
let cloud: Cloud;
let folder: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "moto-"));
  [world, cloud] = await Promise.all([startWorld({ env: { BINNACLE_ROLES: "api" } }), startCloud(folder)]);
  const { client } = s3PlaceOf("s3://backups/any", AWS);
  const body =
    "<CreateBucketConfiguration><LocationConstraint>eu-west-1</LocationConstraint></CreateBucketConfiguration>";
  expect((await client.fetch(`${cloud.endpoint}/backups`, { method: "PUT", body })).status).toBe(200);
});
afterAll(async () => {
  await world?.stop();
  await cloud?.stop();
  rmSync(folder, { recursive: true, force: true });
});

const run = (databaseUrl: string, ...args: readonly string[]) => {
  const storage = { AWS_ENDPOINT_URL: cloud.endpoint, ...AWS };
  return runServerCommand({ DATABASE_URL: databaseUrl, BINNACLE_DATA_DIR: folder, ...storage }, ...args);
};

test("[BK8] a backup goes to an S3-compatible storage, and comes back from there", async () => {
  await world.org("Kept in S3");
  await run(world.databaseUrl, "backup", "s3://backups/daily/one.gz");
  const target = await restoredDatabase("select 1");
  onTestFinished(() => target.drop());
  const { stderr } = await run(target.url, "restore", "s3://backups/daily/one.gz");
  expect(stderr).toMatch(/The backup is restored: \d+ rows/);
  const { rows } = await target.database.pool.query("select name from orgs where name = 'Kept in S3'");
  expect(rows).toHaveLength(1);
});

test("[BK8] a missing bucket or object is told by its name, without the key", async () => {
  const refused = run(world.databaseUrl, "backup", "s3://nowhere/one.gz");
  await expect(refused).rejects.toThrow("NoSuchBucket");
  await expect(refused).rejects.not.toThrow(AWS.AWS_SECRET_ACCESS_KEY);
  await expect(run(world.databaseUrl, "restore", "s3://backups/none.gz")).rejects.toThrow("NoSuchKey");
});

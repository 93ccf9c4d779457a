import { startWorld } from "@binnacle/world";
import { sql } from "kysely";
import { afterAll, expect, test } from "vitest";
import { insertCluster } from "../access/bindings.fixture.ts";
import { loadCatalog } from "../catalog/catalog.adapter.ts";
import { dispatchedKinds } from "../dispatched-kinds.ts";
import { localGit } from "./git-access.fixture.ts";
import { heldJob, repositoryOf, setGitops, statusOf } from "./gitops.fixture.ts";
import { wakeLooks } from "./look.store.ts";
import { syncCluster } from "./sync.runner.ts";

/** No worker: the test is the worker. */
const git = await localGit();
const world = await startWorld({ git, env: { BINNACLE_ROLES: "api" } });
const { kysely: db } = world.database;
const catalog = await loadCatalog();
const ports = {
  ...{ db, vault: world.vault, git, clock: world.clock.now },
  kindsWith: (vault: typeof world.vault) => dispatchedKinds(vault, catalog),
};
afterAll(async () => {
  await world.stop();
  await git.close();
});

/** An organization whose clusters have been written, and nothing is to be done. */
async function place(clusters: number) {
  const { org, admin } = await world.orgWithPeople();
  const ids: string[] = [];
  for (let made = 0; made < clusters; made++) ids.push(await insertCluster(db, org));
  await setGitops(admin, org);
  const run = async (cluster: string) => {
    const job = await heldJob(db, org, cluster);
    await syncCluster(ports, job, cluster, new AbortController().signal);
    await db.deleteFrom("jobs").where("id", "=", job.id).execute();
  };
  for (const id of ids) await run(id);
  await woken();
  /** The clusters that are to be looked at, as a worker takes them. */
  async function woken(): Promise<string[]> {
    const { rows } = await sql<{ cluster: string }>`
      delete from jobs where tenant_id = ${org} and status = 'pending' returning payload ->> 'cluster_id' as cluster
    `.execute(db);
    return rows.map(({ cluster }) => cluster);
  }
  /** As many minutes ago. */
  const isDue = (cluster: string, minutes: number) =>
    sql`update gitops_repositories set look_at = now() - ${minutes} * interval '1 minute' where cluster_id = ${cluster}`.execute(
      db,
    );
  return { org, admin, ids: ids as [string, string, string], run, woken, isDue };
}

test("[GO53] a repository that was seen is looked at again after an hour, more or less", async () => {
  const { org, ids, woken } = await place(12);
  await wakeLooks(db);
  expect(await woken()).toEqual([]);
  const { rows } = await sql<{ minutes: number }>`
    select extract(epoch from look_at - now())::float / 60 as minutes from gitops_repositories where org_id = ${org}`.execute(
    db,
  );
  const minutes = rows.map((row) => row.minutes);
  expect(minutes).toHaveLength(ids.length);
  expect(Math.min(...minutes)).toBeGreaterThan(40);
  expect(Math.max(...minutes)).toBeLessThan(75.1);
  expect(new Set(minutes.map(Math.round)).size).toBeGreaterThan(1);
});

test("[GO53] repositories of an organization are looked at one at a time, each after the other and the longest waiting first", async () => {
  const { ids, run, woken, isDue } = await place(3);
  const [first, second, third] = ids;
  await isDue(second, 30);
  await isDue(first, 20);
  await isDue(third, 10);
  const other = await place(1);
  await other.isDue(other.ids[0], 1);
  for (let time = 0; time < 2; time++) await wakeLooks(db);
  expect(await other.woken()).toEqual(other.ids);
  await other.run(other.ids[0]);
  expect(await woken()).toEqual([second]);
  await run(second);
  expect(await woken()).toEqual([first]);
  await run(first);
  expect(await woken()).toEqual([third]);
  await run(third);
  expect(await woken()).toEqual([]);
});

test("[GO53] a repository that fails is not green, and does not hold up the others", async () => {
  const { admin, ids, run, woken, isDue } = await place(2);
  const [broken, healthy] = ids;
  git.deployKeys.get(await repositoryOf(world, broken))?.clear();
  await isDue(broken, 90);
  await isDue(healthy, 10);
  await wakeLooks(db);
  expect(await woken()).toEqual([broken]);
  const before = (await statusOf(admin, broken)).observed_at;
  world.clock.advance(60_000);
  await run(broken);
  expect(await statusOf(admin, broken)).toMatchObject({
    ...{ state: "failing", error: { code: "denied" }, observed_at: before },
  });
  expect(await woken()).toEqual([healthy]);
  await sql`update gitops_repositories set next_try_at = now() where cluster_id = ${broken}`.execute(db);
  await wakeLooks(db);
  expect(await woken()).toEqual([healthy]);
  await run(healthy);
  expect((await statusOf(admin, healthy)).observed_at).toBe(world.clock.now().toISOString());
  expect(await woken()).toEqual([broken]);
});

test("[GO53] nothing is looked at while the host does not answer or GitOps is off, and what was not seen for hours is unknown", async () => {
  const { org, admin, ids, woken, isDue } = await place(1);
  await isDue(ids[0], 10);
  await sql`update gitops_settings set paused_until = now() + interval '1 minute' where org_id = ${org}`.execute(db);
  await wakeLooks(db);
  expect(await woken()).toEqual([]);
  expect((await statusOf(admin, ids[0])).state).toBe("in_sync");
  await sql`update gitops_repositories set observed_at = observed_at - interval '3 hours' where org_id = ${org}`.execute(
    db,
  );
  expect((await statusOf(admin, ids[0])).state).toBe("unknown");
  await sql`update gitops_settings set paused_until = null, is_on = false where org_id = ${org}`.execute(db);
  await wakeLooks(db);
  expect(await woken()).toEqual([]);
});

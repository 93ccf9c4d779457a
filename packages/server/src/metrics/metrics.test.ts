import { readFileSync } from "node:fs";
import { startWorld } from "@binnacle/world";
import { afterAll, beforeEach, expect, test } from "vitest";
import { openShop } from "../apps/app.fixture.ts";
import { enqueue } from "../jobs/job.store.ts";
import { pendingDispatches, pendingJobs } from "./backlog.store.ts";

const world = await startWorld({ provisions: false });
afterAll(() => world.stop());
const { kysely: db, pool } = world.database;

beforeEach(() => pool.query("delete from jobs"));

const text = async () => (await fetch(`${world.url}/metrics`)).text();
const page = (path: string) => readFileSync(new URL(`../../../../${path}`, import.meta.url), "utf8");
const documented = () =>
  [...page("docs/operations/metrics.md").matchAll(/^\| `(binnacle_\w+)`/gm)].map(([, name]) => name);

test("[OP67] every metric of Binnacle is in the guide, and the guide names no other", async () => {
  const served = [...(await text()).matchAll(/^# TYPE (binnacle_\w+)/gm)].map(([, name]) => name);
  expect(served.sort()).toEqual(documented().sort());
});

test.each(["files/rules.yaml", "files/dashboards/binnacle.json"])(
  "[OP67] %s of the chart asks for metrics that exist",
  (file) => {
    const asked = [...page(`deploy/charts/binnacle/${file}`).matchAll(/\bbinnacle_\w+/g)].map(([name]) => name);
    expect(asked.length).toBeGreaterThan(3);
    const names = asked.map((name) => name.replace(/_(bucket|count|sum)$/, ""));
    expect(names.filter((name) => !documented().includes(name))).toEqual([]);
  },
);

test("[OP68] a job that is due counts with its age, and a later one does not count", async () => {
  await enqueue(db, { kind: "unknown", payload: {}, runAt: new Date(Date.now() - 90_000) });
  await enqueue(db, { kind: "unknown", payload: {}, runAt: new Date(Date.now() + 90_000) });
  expect(await pendingJobs(db)).toEqual([{ kind: "unknown", count: 1, oldest_seconds: expect.closeTo(90, -1) }]);
  expect(await text()).toMatch(/binnacle_jobs_pending\{kind="unknown"\} 1\n/);
});

test("[OP68] provisioning jobs count by action and status, and the oldest that is not finished with its age", async () => {
  const { cluster, org } = await openShop(world);
  await pool.query(
    `insert into provisioning_jobs (id, cluster_id, org_id, action, status, phase, created_at, updated_at, finished_at)
     select gen_random_uuid(), $1, $2, action, status, 'apply', now() - age, now(), ended
     from (values ('create', 'running', interval '10 minutes', null), ('create', 'pending', interval '2 minutes', null),
       ('scale', 'failed', interval '1 hour', now()), ('destroy', 'succeeded', interval '3 days', now() - interval '2 days')
     ) as given (action, status, age, ended)`,
    [cluster, org],
  );
  const served = await text();
  expect(served).toContain('binnacle_provisioning_jobs{action="create",status="running"} 1\n');
  expect(served).toContain('binnacle_provisioning_jobs{action="scale",status="failed"} 1\n');
  expect(served).not.toContain('action="destroy"');
  const oldest = Number(/binnacle_provisioning_oldest_seconds\{action="create"\} (\S+)/.exec(served)?.[1]);
  expect(oldest).toBeCloseTo(600, -1);
  await pool.query("delete from provisioning_jobs");
});

test("[OP68] what a cluster has not confirmed counts while its operator is connected", async () => {
  const { cluster } = await openShop(world);
  const seen = async () => (await pendingDispatches(db)).map(({ kind, count }) => [kind, count]);
  await pool.query(
    `insert into desired_resources (cluster_id, kind, resource_id, key, generation, revision, updated_at)
     values ($1, 'project', gen_random_uuid(), 'project/shop', 1, 1, now())`,
    [cluster],
  );
  expect(await seen()).toEqual([]);
  await pool.query(
    `insert into cluster_sessions (cluster_id, hub_id, epoch, token_version, lease_until, started_at)
     values ($1, gen_random_uuid(), 1, 1, now() + interval '1 minute', now())`,
    [cluster],
  );
  expect(await seen()).toEqual([["project", 1]]);
  await pool.query("update cluster_sessions set lease_until = now() where cluster_id = $1", [cluster]);
  expect(await seen()).toEqual([]);
});

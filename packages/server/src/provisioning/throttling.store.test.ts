import { startWorld } from "@binnacle/world";
import { afterAll, expect, test } from "vitest";
import { provisionedCluster } from "../clusters/clusters.fixture.ts";
import { newId } from "../id.adapter.ts";
import { savePlan } from "./provisioning-run.store.ts";
import { readThrottles, waitForCloud } from "./throttling.store.ts";

const world = await startWorld({ env: { BINNACLE_ROLES: "api" } });
const db = world.database.kysely;
const { org, admin } = await world.orgWithPeople();
afterAll(() => world.stop());

/** A job that a worker runs. */
async function running() {
  const { id: cluster_id, provisioning_job_id: id } = await provisionedCluster(admin.api, org);
  const lease = { worker_id: newId(), lease_until: new Date(Date.now() + 60_000), started_at: new Date() };
  const claimed = { status: "running", fence: 1, attempts: 1, max_attempts: 5, ...lease } as const;
  const lane = db.updateTable("jobs").set(claimed).where("lane", "=", cluster_id);
  const queued = await lane.returning("id").executeTakeFirstOrThrow();
  return { job: { id, cluster_id }, hold: { id: queued.id, fence: 1 } };
}

const at = (minutes: number) => new Date(Date.UTC(2026, 10, 19, 12, minutes));

test("[PN173] the two hours of a throttled job begin anew where it came to its plan, and the count of its waits goes on", async () => {
  const { job, hold } = await running();
  await waitForCloud(db, hold, job, { until: at(1) }, at(0));
  await waitForCloud(db, hold, job, { until: at(3) }, at(2));
  expect(await readThrottles(db, job)).toEqual({ throttles: 2, throttled_since: at(0) });
  await savePlan(db, hold, job.id, { plan: {}, digest: "digest" }, { phase: "plan", percent: 10 });
  expect(await readThrottles(db, job)).toEqual({ throttles: 2, throttled_since: null });
  await waitForCloud(db, hold, job, { until: at(101) }, at(100));
  expect(await readThrottles(db, job)).toEqual({ throttles: 3, throttled_since: at(100) });
});

test("[PN176] the wait for a snapshot has a begin of its own, and takes nothing of what a throttled job may wait", async () => {
  const { job, hold } = await running();
  for (const minute of [0, 60])
    await waitForCloud(db, hold, job, { until: at(minute + 1), isForSnapshot: true }, at(minute));
  expect(await readThrottles(db, job)).toEqual({ throttles: 0, throttled_since: null });
  const stored = db.selectFrom("provisioning_jobs").select(["snapshot_wait_since", "status"]).where("id", "=", job.id);
  expect(await stored.executeTakeFirst()).toEqual({ snapshot_wait_since: at(0), status: "pending" });
});

import { TestClock } from "@binnacle/world/clock";
import { type FreshDatabase, freshDatabase } from "@binnacle/world/database";
import { sql } from "kysely";
import { afterAll, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { insertCluster } from "../access/bindings.fixture.ts";
import type { Bus } from "../bus/bus.ts";
import type { Queries } from "../database/transaction.ts";
import type { Event } from "../events/event.ts";
import { newId } from "../id.adapter.ts";
import { listeningLog, SOON } from "../jobs/jobs.fixture.ts";
import { startUpkeep } from "../jobs/upkeep.store.ts";
import { markUnconfirmed } from "./confirmation.store.ts";
import type { Lifecycle } from "./project.ts";

const WITHIN_SECONDS = 120;
const clock = new TestClock();
let fresh: FreshDatabase;
let db: Queries;
let org: string;
let cluster: string;
let heard: Event[];

const bus = { publish: (_topic: string, event: Event) => void heard.push(event) } as unknown as Bus;
const mark = () => markUnconfirmed({ db, bus, clock: clock.now, withinSeconds: WITHIN_SECONDS });
const ago = (seconds: number) => new Date(clock.now().getTime() - seconds * 1000);

beforeAll(async () => {
  fresh = await freshDatabase();
  db = fresh.database.kysely;
  org = newId();
  const times = { created_at: clock.now(), updated_at: clock.now() };
  await db
    .insertInto("orgs")
    .values({ id: org, name: "Demo", slug: "demo", description: null, settings: "{}", ...times })
    .execute();
});
afterAll(() => fresh.drop());
beforeEach(async () => {
  heard = [];
  await db.deleteFrom("projects").execute();
  cluster = await insertCluster(db, org);
});

async function project(lifecycle: Lifecycle["lifecycle"], at: Date, reason: Lifecycle["lifecycle_reason"] = null) {
  const id = newId();
  const fields = { id, org_id: org, cluster_id: cluster, name: id, namespace: id, lifecycle, lifecycle_reason: reason };
  await db
    .insertInto("projects")
    .values({ ...fields, lifecycle_message: null, created_at: at, updated_at: at })
    .execute();
  return id;
}

const lifecycleOf = (id: string) =>
  db.selectFrom("projects").select(["lifecycle", "lifecycle_reason"]).where("id", "=", id).executeTakeFirstOrThrow();

const connect = (until: Date) =>
  db
    .insertInto("cluster_sessions")
    .values({ cluster_id: cluster, hub_id: "hub", epoch: 1, token_version: 1, lease_until: until, started_at: ago(0) })
    .execute();

const UNREACHABLE = { lifecycle: "degraded", lifecycle_reason: "operator_unreachable" };
const STUCK = { lifecycle: "cleanup_pending", lifecycle_reason: "cleanup_degraded" };

test("[PR16] a project that nobody confirmed in time is degraded, and announced", async () => {
  const late = await project("pending", ago(WITHIN_SECONDS));
  const early = await project("pending", ago(WITHIN_SECONDS - 1));
  await mark();
  expect(await lifecycleOf(late)).toEqual(UNREACHABLE);
  expect(await lifecycleOf(early)).toEqual({ lifecycle: "pending", lifecycle_reason: null });
  expect(heard).toMatchObject([
    {
      id: expect.any(String),
      type: "project",
      time: clock.now().toISOString(),
      org_id: org,
      cluster_id: cluster,
      project_id: late,
      ...UNREACHABLE,
      lifecycle_message: "The cluster has not confirmed the project within 120 seconds.",
    },
  ]);
  clock.advance(1000);
  await mark();
  expect(await lifecycleOf(early)).toEqual(UNREACHABLE);
});

test.each([
  ["ready", null],
  ["degraded", "apply_failed"],
  ["degraded", "namespace_conflict"],
] as const)("[PR16] a project that is %s (%s) stays so, however old it is", async (lifecycle, reason) => {
  const id = await project(lifecycle, ago(100_000), reason);
  await mark();
  expect(await lifecycleOf(id)).toEqual({ lifecycle, lifecycle_reason: reason });
  expect(heard).toEqual([]);
});

test("[PR17] a cleanup that a disconnected cluster does not confirm in time is degraded, and goes on", async () => {
  const late = await project("cleanup_pending", ago(WITHIN_SECONDS));
  const early = await project("cleanup_pending", ago(WITHIN_SECONDS - 1));
  await mark();
  expect(await lifecycleOf(late)).toEqual(STUCK);
  expect(await lifecycleOf(early)).toEqual({ lifecycle: "cleanup_pending", lifecycle_reason: null });
  expect(heard).toMatchObject([{ type: "project", project_id: late, ...STUCK }]);
});

test("[PR17] a cleanup on a connected cluster is not degraded by time, until the connection is lost", async () => {
  const id = await project("cleanup_pending", ago(WITHIN_SECONDS));
  await connect(new Date(Date.now() + 3_600_000));
  await mark();
  expect(await lifecycleOf(id)).toEqual({ lifecycle: "cleanup_pending", lifecycle_reason: null });
  await db
    .updateTable("cluster_sessions")
    .set({ lease_until: new Date(Date.now() - 1) })
    .execute();
  await mark();
  expect(await lifecycleOf(id)).toEqual(STUCK);
});

test("[PR19] several workers that run at once mark and announce each unconfirmed project once", async () => {
  await sql`insert into projects (id, org_id, cluster_id, name, namespace, created_at, updated_at)
    select gen_random_uuid(), ${org}, ${cluster}, 'p' || n, 'p' || n, ${ago(WITHIN_SECONDS)}, ${ago(WITHIN_SECONDS)}
    from generate_series(1, 450) n`.execute(db);
  await Promise.all([mark(), mark(), mark()]);
  await mark();
  const marked = await db.selectFrom("projects").select("id").where("lifecycle", "=", "degraded").execute();
  expect(marked).toHaveLength(450);
  const projectIds = heard.map(({ project_id }) => project_id);
  expect(projectIds.toSorted()).toEqual(marked.map(({ id }) => id).toSorted());
});

test("[PR16] the upkeep marks unconfirmed projects on each run", async () => {
  const chores = [{ name: "unconfirmed projects", run: mark }];
  const upkeep = startUpkeep({ db, log: listeningLog(), everyMs: 10, chores });
  const id = await project("pending", ago(WITHIN_SECONDS));
  await vi.waitFor(async () => expect(await lifecycleOf(id)).toEqual(UNREACHABLE), SOON);
  await upkeep.stop();
});

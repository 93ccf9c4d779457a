import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { SOON } from "../jobs/jobs.fixture.ts";
import { type HubWorld, hubWorld, type RunningHub } from "./hub.fixture.ts";

let world: HubWorld;
let running: RunningHub;

beforeAll(async () => {
  world = await hubWorld();
  running = await world.start({ sweepMs: 100, tickMs: 50 });
});
afterAll(() => world?.close());

test("[HB51] a session survives an unreachable database, and its acknowledgements are stored afterwards", async () => {
  const cluster = await world.cluster();
  const operator = running.connect(cluster.token);
  await operator.greet();
  const id = await world.raise(cluster.id, "app/shop/web");
  const apply = await operator.next("apply");
  const giveBack = await world.takeDatabaseAway();
  operator.ack(apply);
  const failed = (what: RegExp) =>
    vi.waitFor(() => expect(world.log.warn).toHaveBeenCalledWith(expect.anything(), expect.stringMatching(what)), SOON);
  await failed(/delivering changes/);
  await failed(/background work/);
  await giveBack();
  await operator.next("sync_end", ({ revision }) => revision === 1);
  const row = await world.db
    .selectFrom("desired_resources")
    .select("acked_generation")
    .where("resource_id", "=", id)
    .executeTakeFirst();
  expect([row?.acked_generation, operator.closed]).toEqual([1, null]);
  expect(operator.all("apply")).toHaveLength(1);
});

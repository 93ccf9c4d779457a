import { CLOSE, type OperatorFrames } from "@binnacle/contract";
import { afterAll, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { newId } from "../id.adapter.ts";
import { SOON } from "../jobs/jobs.fixture.ts";
import { type HubWorld, hubWorld, type RunningHub } from "./hub.fixture.ts";
import type { TestOperator } from "./operator.fixture.ts";

let world: HubWorld;
let running: RunningHub;
let operator: TestOperator;

beforeAll(async () => {
  world = await hubWorld();
  running = await world.start();
});
afterAll(() => world?.close());
beforeEach(async () => {
  world.taken.length = 0;
  world.beforeTake = async () => undefined;
  operator = running.connect((await world.cluster()).token);
  await operator.greet();
});

function report(key: string, generation = 1, message = "Fine."): string {
  const id = newId();
  const report = { state: "ready", message };
  operator.say({ type: "status", id, key, resource_id: newId(), generation, report });
  return id;
}
/** The same resource again and again. */
function reports(count: number): string[] {
  const resource_id = newId();
  return Array.from({ length: count }, (_, generation) => {
    const id = newId();
    operator.say({
      type: "status",
      id,
      key: "project/shop",
      resource_id,
      generation,
      report: { state: "ready", message: null },
    });
    return id;
  });
}
const noted = () => operator.all("noted").flatMap(({ refs }) => refs);
const away = () => Promise.reject(Object.assign(new Error("away"), { code: "ECONNREFUSED" }));

test("[HB60] a report is answered with noted once it is stored, and not before", async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  world.beforeTake = () => promise;
  const id = report("project/shop");
  operator.say({ type: "heartbeat" });
  await vi.waitFor(() => expect(operator.heard.length).toBeGreaterThan(1), SOON);
  expect(noted()).toEqual([]);
  resolve();
  await vi.waitFor(() => expect(noted()).toEqual([id]), SOON);
});

test("[HB60] while one batch is stored, the newest report on each subject is gathered for the next", async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const batches: OperatorFrames["status"][][] = [];
  world.beforeTake = (given) => {
    batches.push([...given]);
    return batches.length === 1 ? promise : Promise.resolve();
  };
  const ids = reports(10);
  const last = report("project/other");
  await vi.waitFor(() => expect(batches).toHaveLength(1), SOON);
  resolve();
  await vi.waitFor(() => expect(new Set(noted())).toEqual(new Set([...ids, last])), SOON);
  expect(batches.length).toBeLessThanOrEqual(4);
  expect(world.taken.some(({ id }) => id === ids.at(-1))).toBe(true);
});

test("[HB61] while the database is unreachable reports are retried and the session stays", async () => {
  let tries = 0;
  world.beforeTake = () => {
    tries += 1;
    return tries < 3 ? away() : Promise.resolve();
  };
  const ids = [report("project/shop"), report("project/other")];
  await vi.waitFor(() => expect(noted().sort()).toEqual(ids.sort()), SOON);
  expect([tries >= 3, operator.closed]).toEqual([true, null]);
  expect(world.log.warn).toHaveBeenCalledWith(expect.anything(), expect.stringContaining("storing the reports"));
});

test("[DB600] reports that come while the disk of the database is full wait for room, and none is taken for one that can never be stored", async () => {
  let tries = 0;
  world.beforeTake = async () => {
    tries += 1;
    if (tries < 3) throw Object.assign(new Error("could not extend file"), { code: "53100" });
  };
  const ids = [report("project/shop"), report("project/other")];
  await vi.waitFor(() => expect(noted().sort()).toEqual(ids.sort()), SOON);
  expect(world.log.error).not.toHaveBeenCalled();
});

test("[HB61] a session that has more reports than can be kept ends with 4429", async () => {
  world.beforeTake = away;
  const fields = Array.from({ length: 100 }, () => ({
    object: { kind: "Deployment", name: "web" },
    pointer: "/spec",
    desired: "x".repeat(15_000),
  }));
  for (let n = 0; n < 8; n++) {
    const drift = { state: "drifted", summary: null, fields, detected_at: null };
    const report = { phase: "running", reason: null, message: null, components: [], drift };
    operator.say({ type: "status", id: newId(), key: `app/shop/x${n}`, resource_id: newId(), generation: 1, report });
  }
  expect(await operator.closeCode()).toBe(CLOSE.busy);
  expect(JSON.parse(operator.closed?.reason ?? "")).toEqual({ retry_after_seconds: expect.any(Number) });
});

test("[HB62] a report that can never be stored does not hold up the others", async () => {
  world.beforeTake = async (given) => {
    if (given.some(({ key }) => key === "project/poison")) throw new Error("never");
  };
  const poison = report("project/poison");
  const fine = [report("project/shop"), report("project/other")];
  await vi.waitFor(() => expect(noted().sort()).toEqual(fine.sort()), SOON);
  expect(noted()).not.toContain(poison);
  expect(world.log.error).toHaveBeenCalledTimes(1);
});

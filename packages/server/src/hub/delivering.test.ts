import { LINK_LIMITS } from "@binnacle/contract";
import { sql } from "kysely";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { inTransaction } from "../database/transaction.ts";
import { dispatchResources } from "../dispatch/dispatch.store.ts";
import { conflict } from "../fault.ts";
import { newId } from "../id.adapter.ts";
import { SOON } from "../jobs/jobs.fixture.ts";
import { type HubWorld, hubWorld, type RunningHub } from "./hub.fixture.ts";
import { digestOf, entryOf, hashOf, type TestOperator } from "./operator.fixture.ts";

let world: HubWorld;
let running: RunningHub;
let cluster: { readonly id: string; readonly token: string };
let operator: TestOperator;
const plainBody = ({ key, generation }: { key: string; generation: number }) => ({
  spec: { key, generation },
  secret: {},
});

beforeAll(async () => {
  world = await hubWorld();
  running = await world.start({ sweepMs: 100, tickMs: 50 });
});
afterAll(() => world?.close());
beforeEach(async () => {
  world.bodyOf = plainBody;
  cluster = await world.cluster();
  operator = running.connect(cluster.token);
});
// What it still hears would be answered by the operator of the next test.
afterEach(() => operator.leave());

const rowOf = (resourceId: string) =>
  world.db.selectFrom("desired_resources").selectAll().where("resource_id", "=", resourceId).executeTakeFirstOrThrow();
const acked = (resourceId: string, generation: number | null) =>
  vi.waitFor(async () => expect((await rowOf(resourceId)).acked_generation).toBe(generation), SOON);
const retire = (resourceId: string, key: string) =>
  inTransaction(world.db, (tx) =>
    dispatchResources(tx, cluster.id, [{ kind: "app", resourceId, key, isRemoved: true }], world.clock.now()),
  );
const setRevision = (revision: number) =>
  world.db.updateTable("clusters").set({ revision }).where("id", "=", cluster.id).execute();
const waitingForLocks = async () => {
  const { rows } = await sql<{ count: number }>`
    select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'
  `.execute(world.db);
  return rows[0]?.count;
};
const synced = (revision: number, by = operator) => by.next("sync_end", (frame) => frame.revision === revision);

describe("a change", () => {
  test("[HB40] a change reaches its cluster after a hint, its acknowledgement is stored, and sync_end follows", async () => {
    await operator.greet();
    await synced(0);
    const id = await world.raise(cluster.id, "app/shop/web");
    const apply = await operator.next("apply");
    expect(apply).toMatchObject({ key: "app/shop/web", kind: "app", resource_id: id, generation: 1 });
    expect(apply.hash).toBe(hashOf(apply.body));
    expect(operator.all("sync_end")).toHaveLength(1);
    operator.ack(apply);
    await synced(1);
    expect(await rowOf(id)).toMatchObject({ acked_generation: 1, acked_hash: apply.hash });
  });

  test("[HB68] a change does not wait for an acknowledgement of another cluster that is being stored", async () => {
    const other = await world.cluster();
    const neighbour = running.connect(other.token);
    await Promise.all([operator.greet(), neighbour.greet()]);
    const id = await world.raise(cluster.id, "app/shop/web");
    const apply = await operator.next("apply");
    await inTransaction(world.db, async (tx) => {
      await tx.selectFrom("desired_resources").select("key").where("resource_id", "=", id).forUpdate().execute();
      operator.ack(apply);
      await vi.waitFor(async () => expect(await waitingForLocks()).toBe(1), SOON);
      await world.raise(other.id, "app/shop/api");
      expect(await neighbour.next("apply")).toMatchObject({ key: "app/shop/api" });
    });
    await acked(id, 1);
    await synced(1);
    expect(operator.all("apply")).toHaveLength(1);
  });

  test("[HB40] [FA8] a change reaches its cluster without a hint too", async () => {
    await operator.storesAll().greet();
    await synced(0);
    const id = await world.raise(cluster.id, "app/shop/web", { isSilent: true });
    await acked(id, 1);
  });

  test("[BU1534] a change whose hint was lost reaches its cluster as soon as the hub knows that hints were lost", async () => {
    let missed: () => void = () => undefined;
    const onMissed: HubWorld["bus"]["onMissed"] = (handler) => {
      missed = handler;
      return () => undefined;
    };
    const slow = await world.start({ sweepMs: 600_000, bus: { ...world.bus, onMissed } });
    const distant = slow.connect(cluster.token).storesAll();
    await distant.greet();
    await synced(0, distant);
    const id = await world.raise(cluster.id, "app/shop/web", { isSilent: true });
    missed();
    await acked(id, 1);
    await distant.leave();
    await slow.stop();
  });

  test("[HB41] a change waits for the acknowledgement of the one before on its key, and at most 32 frames are in flight", async () => {
    await operator.greet();
    const id = await world.raise(cluster.id, "app/shop/web");
    const first = await operator.next("apply");
    await world.raise(cluster.id, "app/shop/web", { resourceId: id });
    for (let n = 0; n < 33; n++) await world.raise(cluster.id, `app/shop/x${n}`);
    await vi.waitFor(() => expect(operator.all("apply")).toHaveLength(LINK_LIMITS.inFlight), SOON);
    expect(operator.all("apply").filter(({ key }) => key === "app/shop/web")).toHaveLength(1);
    operator.ack(first);
    await operator.next("apply", ({ key, generation }) => key === "app/shop/web" && generation === 2);
    operator.storesAll();
    for (const frame of operator.all("apply")) operator.ack(frame);
    await synced(35);
  });

  test("[HB42] a change is acknowledged once, by the id, key and generation of the frame that carried it", async () => {
    await operator.greet();
    const id = await world.raise(cluster.id, "app/shop/web");
    const apply = await operator.next("apply");
    operator.ack({ ...apply, id: newId() });
    operator.ack({ ...apply, generation: 2 });
    operator.ack({ ...apply, key: "app/shop/other" });
    await world.raise(cluster.id, "app/shop/second");
    operator.ack(await operator.next("apply", ({ key }) => key === "app/shop/second"));
    await vi.waitFor(async () => {
      const untold = await sql<{ n: number }>`select count(*) n from desired_resources
        where cluster_id = ${cluster.id} and acked_generation is null`.execute(world.db);
      expect(untold.rows[0]?.n).toBe(1);
    }, SOON);
    expect((await rowOf(id)).acked_generation).toBeNull();
    operator.ack(apply);
    operator.ack(apply);
    await synced(2);
  });

  test("[HB50] a change that is too large for a frame is reported as failed and not sent", async () => {
    await operator.storesAll().greet();
    world.bodyOf = (row) => ({ ...plainBody(row), secret: { values: "x".repeat(LINK_LIMITS.frameBytes) } });
    const id = await world.raise(cluster.id, "app/shop/large");
    await vi.waitFor(() => expect(world.taken.find(({ resource_id }) => resource_id === id)).toBeDefined(), SOON);
    expect(world.taken.find(({ resource_id }) => resource_id === id)?.report).toMatchObject({ phase: "invalid" });
    await synced(1);
    expect(operator.all("apply")).toEqual([]);
  });

  test("[HB50] a change that can never be sent as it is gets reported as failed with the reason and is not sent", async () => {
    await operator.storesAll().greet();
    world.bodyOf = () => conflict("The addon's definition is no longer in the catalog.");
    const id = await world.raise(cluster.id, "app/shop/orphan");
    await vi.waitFor(() => expect(world.taken.find(({ resource_id }) => resource_id === id)).toBeDefined(), SOON);
    expect(world.taken.find(({ resource_id }) => resource_id === id)?.report).toMatchObject({
      phase: "invalid",
      message: "The addon's definition is no longer in the catalog.",
    });
    await synced(1);
    expect(operator.all("apply")).toEqual([]);
  });
});

describe("a refusal", () => {
  test("[HB44] a change that the operator refuses as unable is sent again with the next sweep", async () => {
    operator.onFrame = (frame) => {
      if (frame.type !== "apply") return;
      if (operator.all("apply").length < 2) operator.nack(frame, "unable");
      else operator.ack(frame);
    };
    await operator.greet();
    const id = await world.raise(cluster.id, "app/shop/web");
    await acked(id, 1);
    expect(operator.all("apply")).toHaveLength(3);
  });

  test("[HB44] a change that the operator refuses as invalid is recorded, and nothing is sent before the resource changes", async () => {
    operator.onFrame = (frame) => {
      if (frame.type !== "apply") return;
      if (frame.generation === 1) operator.nack(frame, "invalid", "The name is taken.");
      else operator.ack(frame);
    };
    await operator.greet();
    const id = await world.raise(cluster.id, "project/shop");
    await synced(1);
    await vi.waitFor(
      () =>
        expect(world.taken.find(({ resource_id }) => resource_id === id)).toMatchObject({
          generation: 1,
          report: { state: "apply_failed", message: "The name is taken." },
        }),
      SOON,
    );
    await world.raise(cluster.id, "project/shop", { resourceId: id });
    await acked(id, 2);
    expect(operator.all("apply").map(({ generation }) => generation)).toEqual([1, 2]);
  });

  test("[HB44] a change that the operator refuses as stale is issued again in higher and higher generations", async () => {
    operator.onFrame = (frame) => {
      if (frame.type !== "apply") return;
      if (frame.generation < 20) operator.nack(frame, "stale");
      else operator.ack(frame);
    };
    await operator.greet();
    const id = await world.raise(cluster.id, "app/shop/web");
    await vi.waitFor(async () => expect((await rowOf(id)).acked_generation).toBeGreaterThanOrEqual(20), SOON);
    expect(operator.all("apply").length).toBeLessThan(20);
  });
});

describe("a removal", () => {
  test("[HB65] a removal that the operator refuses as invalid is sent again with the next sweep", async () => {
    operator.onFrame = (frame) => {
      if (frame.type === "apply") operator.ack(frame);
      if (frame.type !== "remove") return;
      if (operator.all("remove").length < 2) operator.nack(frame, "invalid", "Not now.");
      else operator.ack(frame);
    };
    await operator.greet();
    const id = await world.raise(cluster.id, "app/shop/web");
    await acked(id, 1);
    await retire(id, "app/shop/web");
    await acked(id, 2);
    expect(operator.all("remove").length).toBeGreaterThan(1);
  });

  test("[HB45] a removal is sent until it is acknowledged, and then once in each session", async () => {
    await operator.storesAll().greet();
    const id = await world.raise(cluster.id, "app/shop/web");
    await acked(id, 1);
    await retire(id, "app/shop/web");
    expect(await operator.next("remove")).toMatchObject({ key: "app/shop/web", resource_id: id, generation: 2 });
    await acked(id, 2);
    expect(await rowOf(id)).toMatchObject({ acked_hash: null });
    await synced(2);
    expect(operator.all("remove")).toHaveLength(1);
    const again = running.connect(cluster.token).storesAll();
    expect(await again.greet()).toMatchObject({ resume: "digest" });
    await again.next("remove", ({ generation }) => generation === 2);
    await synced(2, again);
    expect(again.all("remove")).toHaveLength(1);
  });

  test("[HB45] a removal is sent before a new resource of the same name", async () => {
    await operator.greet();
    const old = await world.raise(cluster.id, "app/shop/web");
    operator.ack(await operator.next("apply"));
    await acked(old, 1);
    await retire(old, "app/shop/web");
    const fresh = await world.raise(cluster.id, "app/shop/web");
    const removal = await operator.next("remove");
    expect(operator.all("apply")).toHaveLength(1);
    operator.ack(removal);
    expect(await operator.next("apply", ({ resource_id }) => resource_id === fresh)).toMatchObject({ generation: 1 });
  });
});

describe("coming back", () => {
  async function storedApps(count: number) {
    await operator.storesAll().greet();
    const ids: string[] = [];
    for (let n = 0; n < count; n++) ids.push(await world.raise(cluster.id, `app/shop/x${n}`));
    await synced(count);
    await operator.leave();
    return { ids, entries: operator.all("apply").map(entryOf) };
  }

  test("[HB46] an operator that reconnects with the same digest is sent nothing that it has, in less than 1 KB", async () => {
    const { entries } = await storedApps(20);
    const again = running.connect(cluster.token);
    expect(await again.greet(entries, 20)).toMatchObject({ resume: "digest" });
    await synced(20, again);
    expect(again.heard.map(({ type }) => type)).toEqual(["welcome", "sync_end"]);
    expect(again.heardBytes).toBeLessThan(1_000);
  });

  test("[HB46] an operator that reconnects with the same digest is sent what is new", async () => {
    const { entries } = await storedApps(2);
    const id = await world.raise(cluster.id, "app/shop/new");
    const again = running.connect(cluster.token).storesAll();
    expect(await again.greet(entries, 2)).toMatchObject({ resume: "digest" });
    await acked(id, 1);
    expect(again.all("apply")).toHaveLength(1);
  });

  test("[HB47] the inventory of an operator with another digest is compared in both directions", async () => {
    const { ids, entries } = await storedApps(3);
    const stray = { key: "app/shop/stray", resource_id: newId(), generation: 4, hash: "b".repeat(64) };
    const [kept, changed] = entries;
    if (!kept || !changed) throw new Error("too few");
    const held = [kept, { ...changed, hash: "c".repeat(64) }, stray];
    const again = running.connect(cluster.token).storesAll();
    expect(await again.greet(held, 3)).toMatchObject({ resume: "inventory" });
    await synced(3, again);
    expect(
      again
        .all("apply")
        .map(({ key }) => key)
        .sort(),
    ).toEqual(["app/shop/x1", "app/shop/x2"]);
    expect(again.all("remove")).toEqual([]);
    expect(world.log.warn).toHaveBeenCalledWith(
      expect.objectContaining({ cluster_id: cluster.id, keys: ["app/shop/stray"] }),
      expect.any(String),
    );
    for (const id of ids) expect(await rowOf(id)).toMatchObject({ generation: 1, acked_generation: 1 });
  });

  test("[HB47] an operator with another digest sends its inventory in pages", async () => {
    const { entries } = await storedApps(3);
    const again = await running.connect(cluster.token).storesAll().opened();
    again.hello({ digest: digestOf([]), revision: 3 });
    expect((await again.next("welcome")).resume).toBe("inventory");
    for (const [index, entry] of entries.entries()) again.say({ type: "inventory", entries: [entry], more: index < 2 });
    await synced(3, again);
    expect(again.all("apply")).toEqual([]);
  });

  test("[HB48] after a restore of the database nothing is removed, and what the cluster has in a later generation is issued again", async () => {
    const { ids, entries } = await storedApps(2);
    const stray = { key: "app/shop/stray", resource_id: newId(), generation: 4, hash: "b".repeat(64) };
    const held = entries.map((entry) => (entry.key === "app/shop/x0" ? { ...entry, generation: 7 } : entry));
    await setRevision(1);
    const again = running.connect(cluster.token).storesAll();
    expect(await again.greet([...held, stray], 9)).toMatchObject({ resume: "inventory" });
    const apply = await again.next("apply");
    expect(apply).toMatchObject({ key: "app/shop/x0", generation: 8 });
    await acked(ids[0] ?? "", 8);
    expect([again.all("remove"), again.all("sync_end"), again.all("apply")]).toEqual([[], [], [apply]]);
    expect(world.log.warn).toHaveBeenCalledWith(
      expect.objectContaining({ cluster_id: cluster.id, unknown: 1, reissued: 1 }),
      expect.any(String),
    );
  });
});

describe("a slow operator", () => {
  test("[HB49] [FA10] an operator that does not read is sent no more until it reads, and other operators are not affected", async () => {
    world.bodyOf = (row) => ({ ...plainBody(row), secret: { values: "x".repeat(1_000_000) } });
    await operator.storesAll().greet();
    operator.socket.pause();
    for (let n = 0; n < 30; n++) await world.raise(cluster.id, `app/shop/x${n}`);
    const other = await world.cluster();
    const quick = running.connect(other.token).storesAll();
    await quick.greet();
    world.bodyOf = plainBody;
    const id = await world.raise(other.id, "app/shop/web");
    await acked(id, 1);
    operator.socket.resume();
    await synced(30);
    expect(operator.closed).toBeNull();
  });
});

import { randomBytes } from "node:crypto";
import { type FreshDatabase, freshDatabase } from "@binnacle/world/database";
import pino from "pino";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { ACCESS_TOPIC } from "../access/access-change.ts";
import type { ChangeRecord, Place } from "../audit/audit.ts";
import { createMemoryBus } from "../bus/bus.adapter.ts";
import { changeFor } from "../http/change.runner.ts";
import { newId } from "../id.adapter.ts";
import { createVault } from "../vault/vault.ts";
import { EVENTS_TOPIC } from "./event.ts";
import { eventOf } from "./events.fixture.ts";

let fresh: FreshDatabase;
beforeAll(async () => {
  fresh = await freshDatabase();
});
afterAll(() => fresh?.drop());

const [orgId, clusterId, projectId] = [newId(), newId(), newId()];
const recordOf = (place?: Place): ChangeRecord => ({
  action: "app.update",
  resource: { type: "app", id: newId(), name: "shop" },
  orgId,
  ...(place ? { place } : {}),
});

/** A request for a change about the place, and what is told of it. */
function request(place: Place | null) {
  const bus = createMemoryBus(pino({ level: "silent" }));
  const told = vi.fn();
  for (const topic of [EVENTS_TOPIC, ACCESS_TOPIC]) bus.subscribe(topic, told);
  const ports = {
    db: fresh.database.kysely,
    vault: createVault([{ id: "test", key: randomBytes(32) }]),
    clock: () => new Date(),
    bus,
  };
  const actor = { id: null, email: null, via: "user" } as const;
  const change = changeFor(ports, { actor, sourceAddress: "127.0.0.1", requestId: newId(), place, idempotency: null });
  return { change, told: () => told.mock.calls.map(([event]) => event) };
}

test("[EV5] each entry of a change is told once it is committed, before what the change itself announces", async () => {
  const { change, told } = request(null);
  const announced = eventOf();
  await change(async ({ record, announce }) => {
    announce(announced);
    record(recordOf());
    record(recordOf());
    await new Promise((resolve) => setImmediate(resolve));
    expect(told()).toEqual([]);
  });
  await vi.waitFor(() => expect(told().map(({ type }) => type)).toEqual(["activity", "activity", "app"]));
});

test("[EV18] a change of access is announced before everything else that the change announces", async () => {
  const { change, told } = request(null);
  const userId = newId();
  await change(async ({ record, announce, accessChanged }) => {
    announce(eventOf());
    record(recordOf());
    accessChanged({ user_id: userId });
  });
  await vi.waitFor(() => expect(told()).toHaveLength(3));
  expect(told()[0]).toEqual({ user_id: userId });
});

test("[EV5] a change that fails tells nothing", async () => {
  const { change, told } = request(null);
  const failing = change(async ({ record, accessChanged }) => {
    record(recordOf());
    accessChanged({ user_id: newId() });
    throw new Error("no");
  });
  await expect(failing).rejects.toThrow("no");
  await new Promise((resolve) => setImmediate(resolve));
  expect(told()).toEqual([]);
});

test("[EV14] an entry is about what the request is about, unless it says otherwise", async () => {
  const { change, told } = request({ clusterId });
  await change(async ({ record }) => {
    record(recordOf());
    record(recordOf({ clusterId, projectId }));
  });
  await vi.waitFor(() => expect(told()).toHaveLength(2));
  expect(told()[0]).toMatchObject({ org_id: orgId, cluster_id: clusterId });
  expect(told()[0]).not.toHaveProperty("project_id");
  expect(told()[1]).toMatchObject({ org_id: orgId, cluster_id: clusterId, project_id: projectId });
});

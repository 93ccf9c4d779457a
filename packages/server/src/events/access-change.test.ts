import { randomBytes } from "node:crypto";
import { type FreshDatabase, freshDatabase } from "@binnacle/world/database";
import pino from "pino";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { ACCESS_TOPIC } from "../access/access-change.ts";
import type { Location } from "../access/place.ts";
import type { ChangeRecord } from "../audit/audit.ts";
import { createMemoryBus } from "../bus/bus.adapter.ts";
import { UNWATCHED } from "../dispatch/dispatch-watch.fixture.ts";
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
const recordOf = (place?: Location): ChangeRecord => ({
  action: "app.update",
  resource: { type: "app", id: newId(), name: "shop" },
  orgId,
  ...(place ? { place } : {}),
});

/** A request for a change about the place, and what is told of it. */
function request(place: Location | null) {
  const bus = createMemoryBus(pino({ level: "silent" }));
  const published = vi.fn();
  for (const topic of [EVENTS_TOPIC, ACCESS_TOPIC]) bus.subscribe(topic, published);
  const ports = {
    db: fresh.database.kysely,
    vault: createVault([{ id: "test", key: randomBytes(32) }]),
    clock: () => new Date(),
    bus,
  };
  const actor = { id: null, email: null, via: "user" } as const;
  const change = changeFor(
    { ...ports, dispatchWatch: UNWATCHED },
    { actor, sourceAddress: "127.0.0.1", requestId: newId(), place, idempotency: null },
  );
  return { change, published: () => published.mock.calls.map(([event]) => event) };
}

test("[EV5] each audit entry of a change is sent after the commit, before what the change itself announces", async () => {
  const { change, published } = request(null);
  const announced = eventOf({ org_id: orgId });
  await change(async ({ record, announce }) => {
    announce(announced);
    record(recordOf());
    record(recordOf());
    await new Promise((resolve) => setImmediate(resolve));
    expect(published()).toEqual([]);
  });
  await vi.waitFor(() => expect(published().map(({ type }) => type)).toEqual(["activity", "activity", "app"]));
});

test("[EV18] a change of access is announced before everything else that the change announces", async () => {
  const { change, published } = request(null);
  const userId = newId();
  await change(async ({ record, announce, accessChanged }) => {
    announce(eventOf({ org_id: orgId }));
    record(recordOf());
    accessChanged({ user_id: userId });
  });
  await vi.waitFor(() => expect(published()).toHaveLength(3));
  expect(published()[0]).toEqual({ user_id: userId });
});

test("[EV5] a change that fails sends nothing", async () => {
  const { change, published } = request(null);
  const failing = change(async ({ record, accessChanged }) => {
    record(recordOf());
    accessChanged({ user_id: newId() });
    throw new Error("no");
  });
  await expect(failing).rejects.toThrow("no");
  await new Promise((resolve) => setImmediate(resolve));
  expect(published()).toEqual([]);
});

test("[EV14] an audit entry has the place of its request, unless it names another one", async () => {
  const { change, published } = request({ clusterId });
  await change(async ({ record }) => {
    record(recordOf());
    record(recordOf({ clusterId, projectId }));
  });
  await vi.waitFor(() => expect(published()).toHaveLength(2));
  expect(published()[0]).toMatchObject({ org_id: orgId, cluster_id: clusterId });
  expect(published()[0]).not.toHaveProperty("project_id");
  expect(published()[1]).toMatchObject({ org_id: orgId, cluster_id: clusterId, project_id: projectId });
});

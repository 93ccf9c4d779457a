import type { AddonReport, AppReport, OperatorFrames } from "@binnacle/contract";
import type { World } from "@binnacle/world";
import type { Shop } from "../apps/app.fixture.ts";
import type { Bus } from "../bus/bus.ts";
import { loadCatalog } from "../catalog/catalog.adapter.ts";
import type { Queries } from "../database/transaction.ts";
import { DISPATCH_TOPIC } from "../dispatch/dispatch.ts";
import { dispatchedKinds } from "../dispatched-kinds.ts";
import { EVENTS_TOPIC, type Event } from "../events/event.ts";
import { newId } from "../id.adapter.ts";
import { createVault } from "../vault/vault.ts";
import type { Fence, ReportSink } from "./ports.ts";
import { createReportSink } from "./reports.store.ts";

type Status = OperatorFrames["status"];
type Said = Pick<Status, "key" | "resource_id" | "generation" | "report">;

/** The registered session of a cluster. Its lease is over: nobody would answer what is asked of its operator. */
export async function registerSession({ database: { kysely }, clock }: World, clusterId: string): Promise<Fence> {
  const [hubId, epoch] = [newId(), 7];
  const until = new Date(clock.now().getTime() - 1);
  await kysely
    .insertInto("cluster_sessions")
    .values({ cluster_id: clusterId, hub_id: hubId, epoch, token_version: 1, lease_until: until, started_at: until })
    .execute();
  return { clusterId, hubId, epoch };
}

export interface ListeningSink extends ReportSink {
  /** Returns the events that were announced since the last call. */
  heard(): Event[];
  /** Returns the clusters that were hinted at since the last call. */
  hinted(): unknown[];
}

/** A sink whose announcements can be looked at. */
export async function listeningSink(world: World, db: Queries = world.database.kysely): Promise<ListeningSink> {
  const published: { topic: string; message: object }[] = [];
  const bus = { publish: (topic: string, message: object) => void published.push({ topic, message }) };
  const catalog = await loadCatalog();
  const taken = (wanted: string) => {
    const found = published.filter(({ topic }) => topic === wanted).map(({ message }) => message);
    published.splice(0, published.length, ...published.filter(({ topic }) => topic !== wanted));
    return found;
  };
  return {
    ...createReportSink({
      db,
      bus: bus as Bus,
      clock: world.clock.now,
      kinds: dispatchedKinds(createVault([{ id: "k", key: new Uint8Array(32) }]), catalog),
    }),
    heard: () => taken(EVENTS_TOPIC) as Event[],
    hinted: () => taken(DISPATCH_TOPIC),
  };
}

export const status = (said: Said): Status => ({ type: "status", id: newId(), session: newId(), ...said });

export const appReport = (facts: Partial<AppReport> = {}): AppReport => ({
  phase: "running",
  reason: "RolloutComplete",
  message: "All replicas are ready.",
  components: [{ name: "web", ready_replicas: 2 }],
  drift: { state: "in_sync", summary: null, fields: [], detected_at: null },
  ...facts,
});

export const addonReport = (facts: Partial<AddonReport> = {}): AddonReport => ({
  phase: "ready",
  reason: "Installed",
  message: "The release is deployed.",
  exports: {},
  ...facts,
});

/** A new app of the shop, which its cluster has confirmed to hold. */
export async function heldApp({ database: { kysely: db } }: World, shop: Shop, components?: readonly object[]) {
  const name = await shop.app(components);
  const { id } = await db.selectFrom("apps").select("id").where("name", "=", name).executeTakeFirstOrThrow();
  await confirmHeld(db, id);
  const key = `app/${shop.namespace}/${name}`;
  return {
    id,
    name,
    key,
    said: (generation: number, report: Status["report"]) => status({ key, resource_id: id, generation, report }),
    row: () => db.selectFrom("apps").selectAll().where("id", "=", id).executeTakeFirst(),
    deployments: () =>
      db.selectFrom("app_deployments").selectAll().where("app_id", "=", id).orderBy("revision").execute(),
  };
}

/** As the hub does once the operator has said so. */
export const confirmHeld = (db: Queries, resourceId: string) =>
  db
    .updateTable("desired_resources")
    .set((row) => ({ acked_generation: row.ref("generation"), acked_hash: "0".repeat(64) }))
    .where("resource_id", "=", resourceId)
    .execute();

export const desiredRowOf = (db: Queries, resourceId: string) =>
  db.selectFrom("desired_resources").selectAll().where("resource_id", "=", resourceId).executeTakeFirst();

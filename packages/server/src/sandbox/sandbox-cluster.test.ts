import { type FreshDatabase, freshDatabase } from "@binnacle/world/database";
import { afterAll, beforeAll, expect, test } from "vitest";
import { appendAudit } from "../audit/audit.store.ts";
import { auditRow } from "../audit/audit.ts";
import { newId } from "../id.adapter.ts";
import { sandboxCluster } from "./sandbox-cluster.store.ts";

let fresh: FreshDatabase;
beforeAll(async () => {
  fresh = await freshDatabase();
});
afterAll(() => fresh?.drop());

test("[SB8] a cluster `sandbox` that somebody has abandoned does not come back, and is not cleaned up by the sandbox", async () => {
  const { kysely: db } = fresh.database;
  const [orgId, now] = [newId(), new Date()];
  const times = { created_at: now, updated_at: now };
  await db
    .insertInto("orgs")
    .values({ id: orgId, name: "demo", slug: "demo", settings: "{}", ...times })
    .execute();
  const made = await sandboxCluster(db, now);
  expect(await sandboxCluster(db, now)).toEqual(made);
  await db.updateTable("clusters").set({ abandoned_at: now }).execute();
  const resource = { type: "cluster", id: made?.id ?? null, name: "sandbox" };
  const context = { actor: { id: null, email: null, via: "user" as const }, sourceAddress: null, requestId: null };
  await appendAudit(db, [auditRow({ action: "cluster.abandon", resource, orgId }, context, newId(), now)]);
  expect(await sandboxCluster(db, now)).toBeNull();
});

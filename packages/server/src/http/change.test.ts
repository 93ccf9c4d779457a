import { randomBytes } from "node:crypto";
import { type FreshDatabase, freshDatabase } from "@binnacle/world/database";
import { sql } from "kysely";
import pino from "pino";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import type { ChangeRecord } from "../audit/audit.ts";
import { createMemoryBus } from "../bus/bus.adapter.ts";
import { UNWATCHED } from "../dispatch/dispatch-watch.fixture.ts";
import { newId } from "../id.adapter.ts";
import { createVault } from "../vault/vault.ts";
import { type Change, changeFor, fingerprintOf } from "./change.runner.ts";

const vault = createVault([{ id: "test", key: randomBytes(32) }]);
const actor = { id: newId(), email: "ann@example.com", via: "user" } as const;
const tierMade = (name: string): ChangeRecord => ({
  action: "tier.create",
  resource: { type: "tier", id: null, name },
  orgId: null,
});

let fresh: FreshDatabase;

beforeAll(async () => {
  fresh = await freshDatabase();
  const now = new Date();
  const { kysely: db } = fresh.database;
  await db.insertInto("tiers").values({ name: "free", created_at: now, updated_at: now }).execute();
  const ann = { name: "Ann", username: "ann", email: actor.email, password_hash: "", profile_image_url: null };
  await db
    .insertInto("users")
    .values({ id: actor.id, ...ann, tier_name: "free", created_at: now, updated_at: now })
    .execute();
});
afterAll(() => fresh?.drop());

function request(key: string | null = null, { isDryRun = false } = {}): { change: Change; requestId: string } {
  const requestId = newId();
  const idempotency = key === null ? null : { userId: actor.id, key, fingerprint: fingerprintOf("makeTier", {}, {}) };
  const ports = {
    db: fresh.database.kysely,
    vault,
    clock: () => new Date(),
    bus: createMemoryBus(pino({ level: "silent" })),
  };
  return {
    change: changeFor(
      { ...ports, dispatchWatch: UNWATCHED },
      { actor, sourceAddress: "127.0.0.1", requestId, idempotency, isDryRun },
    ),
    requestId,
  };
}

/** Some change: any row will do. */
const makeTier =
  (name: string, end: () => unknown = () => undefined): Parameters<Change>[0] =>
  async ({ db, record }) => {
    const now = new Date();
    await db.insertInto("tiers").values({ name, created_at: now, updated_at: now }).execute();
    record(tierMade(name));
    await end();
    return { name };
  };

async function isMade(name: string): Promise<boolean> {
  const { kysely: db } = fresh.database;
  return (await db.selectFrom("tiers").select("name").where("name", "=", name).execute()).length === 1;
}

async function entriesOf(requestId: string): Promise<string[]> {
  const { kysely: db } = fresh.database;
  const rows = await db.selectFrom("audit_log").select("action").where("request_id", "=", requestId).execute();
  return rows.map(({ action }) => action);
}

function fail(): never {
  throw new Error("It did not work.");
}

describe("a change", () => {
  test("[AL3] a change commits with its audit entry", async () => {
    const { change, requestId } = request();
    await change(makeTier("recorded"));
    expect(await isMade("recorded")).toBe(true);
    expect(await entriesOf(requestId)).toEqual(["tier.create"]);
  });

  test("[AL3] a change that fails leaves neither itself nor its audit entry", async () => {
    const { change, requestId } = request();
    await expect(change(makeTier("failed", fail))).rejects.toThrow("It did not work.");
    expect(await isMade("failed")).toBe(false);
    expect(await entriesOf(requestId)).toEqual([]);
  });

  test("[DB1049] a change for a cluster that is gone leaves neither itself nor the audit entry that is sent with its dispatch", async () => {
    const { change, requestId } = request();
    const refused = change(async (unit) => {
      unit.dispatch(newId(), [{ kind: "project", resourceId: newId(), key: "project/gone" }]);
      return makeTier("gone")(unit);
    });
    await expect(refused).rejects.toThrow("Cluster");
    expect([await isMade("gone"), await entriesOf(requestId)]).toEqual([false, []]);
  });

  test("[AP2901] a dry run ends with the work: it locks no cluster and writes nothing that would end the change", async () => {
    const { change, requestId } = request(null, { isDryRun: true });
    const find = vi.fn(async () => []);
    const answer = await change(async (unit) => {
      unit.write({ text: "select no_such_function()", values: [] });
      unit.dispatch(newId(), find);
      return makeTier("dry")(unit);
    });
    expect(answer).toEqual({ name: "dry" });
    expect(find).not.toHaveBeenCalled();
    expect([await isMade("dry"), await entriesOf(requestId)]).toEqual([false, []]);
  });

  test("[AL5] a change that records no audit entry is not made", async () => {
    const { change } = request();
    const silent = change((unit) => makeTier("silent")({ ...unit, record: () => undefined }));
    await expect(silent).rejects.toThrow("A change was made that leaves no audit entry.");
    expect(await isMade("silent")).toBe(false);
  });

  test("[AL11] a change is the only one of its request", async () => {
    const { change, requestId } = request();
    await change(makeTier("first"));
    await expect(change(makeTier("second"))).rejects.toThrow("A request makes one change.");
    expect(await isMade("second")).toBe(false);
    expect(await entriesOf(requestId)).toEqual(["tier.create"]);
  });

  test("[TA8] a change notifies others once it has been committed, and never when it was not", async () => {
    const announced: string[] = [];
    const telling = (name: string, end?: () => unknown) =>
      request().change(async (unit) => {
        unit.afterCommit(() => announced.push(name));
        await makeTier(name, end)(unit);
        expect(announced).toEqual([]);
      });
    await expect(telling("untold", fail)).rejects.toThrow();
    await telling("told");
    expect(announced).toEqual(["told"]);
  });
});

describe("two changes under one key", () => {
  /** Begins a change, and a second one under its key that waits for it. */
  async function holdBack(name: string) {
    const gate = Promise.withResolvers<void>();
    const hasBegun = Promise.withResolvers<void>();
    const first = request(name).change(
      makeTier(`${name} 1`, () => {
        hasBegun.resolve();
        return gate.promise;
      }),
    );
    await hasBegun.promise;
    const second = request(name).change(makeTier(`${name} 2`));
    await vi.waitFor(async () => {
      const waiting = await sql`select from pg_locks where not granted`.execute(fresh.database.kysely);
      expect(waiting.rows).toHaveLength(1);
    });
    return { first, second, letGo: gate.resolve, failFirst: () => gate.reject(new Error("It did not work.")) };
  }

  test("[ID5] two changes under one key are carried out once: the second waits and gets the first one's answer", async () => {
    const { first, second, letGo } = await holdBack("succeeds");
    letGo();
    expect(await first).toEqual({ name: "succeeds 1" });
    expect(await second).toEqual({ name: "succeeds 1" });
    expect(await isMade("succeeds 2")).toBe(false);
  });

  test("[ID5] of two changes under one key the second is carried out when the first fails", async () => {
    const { first, second, failFirst } = await holdBack("fails");
    failFirst();
    await expect(first).rejects.toThrow("It did not work.");
    expect(await second).toEqual({ name: "fails 2" });
    expect(await isMade("fails 1")).toBe(false);
  });
});

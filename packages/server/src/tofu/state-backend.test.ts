import { request } from "node:http";
import { Server } from "node:net";
import { type FreshDatabase, freshDatabase } from "@binnacle/world/database";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import type { Queries } from "../database/transaction.ts";
import { newId } from "../id.adapter.ts";
import { enqueue, lockHeld } from "../jobs/job.store.ts";
import { createVault } from "../vault/vault.ts";
import { loadState, type StateOwner, saveState } from "./infrastructure-state.store.ts";
import { createStateBackend, type OpenedState } from "./state-backend.adapter.ts";

const vault = createVault([{ id: "k", key: Buffer.alloc(32, 7) }]);
const NOW = new Date("2026-11-01T10:00:00Z");

let fresh: FreshDatabase;
let db: Queries;
beforeAll(async () => {
  fresh = await freshDatabase();
  db = fresh.database.kysely;
});
afterAll(() => fresh?.drop());

/** A cluster whose job is held in the queue with the fence 1. */
async function heldRun(): Promise<StateOwner> {
  const [org_id, clusterId, jobId] = [newId(), newId(), newId()];
  const times = { created_at: NOW, updated_at: NOW };
  await db
    .insertInto("orgs")
    .values({ id: org_id, name: org_id, slug: org_id, settings: "{}", ...times })
    .execute();
  await db
    .insertInto("clusters")
    .values({ id: clusterId, org_id, name: "c", ...times })
    .execute();
  const id = await enqueue(db, { kind: "provisioning", lane: clusterId, payload: {} });
  await db
    .updateTable("jobs")
    .set({ status: "running", fence: 1, worker_id: newId(), lease_until: NOW, max_attempts: 5, attempts: 1 })
    .where("id", "=", id)
    .execute();
  return { clusterId, jobId, hold: { id, fence: 1 } };
}

const stateText = (serial: number, lineage = "l") => JSON.stringify({ version: 4, serial, lineage, resources: [] });
const statesOf = (clusterId: string) =>
  db
    .selectFrom("infrastructure_states")
    .selectAll()
    .where("cluster_id", "=", clusterId)
    .orderBy("serial")
    .orderBy("id")
    .execute();

let owner: StateOwner;
let opened: OpenedState;
const onStale = vi.fn();
const backend = createStateBackend(10_000);

beforeEach(async () => {
  owner = await heldRun();
  onStale.mockClear();
  opened = await backend.open({
    load: () => loadState(db, vault, owner.clusterId),
    save: (text) => saveState(db, vault, owner, text, NOW),
    onStale,
  });
});
afterEach(() => opened.close());

interface Answer {
  readonly status: number;
  readonly body: string;
}

function send(method: string, body = "", options: { password?: string; query?: string; path?: string } = {}) {
  const url = new URL(`${options.path ?? opened.env["TF_HTTP_ADDRESS"]}${options.query ?? ""}`);
  const auth = `binnacle:${options.password ?? opened.env["TF_HTTP_PASSWORD"]}`;
  return new Promise<Answer>((resolve, reject) => {
    const sent = request(url, { method, auth, agent: false }, (response) => {
      let body = "";
      response.on("data", (chunk) => (body += String(chunk)));
      response.on("end", () => resolve({ status: response.statusCode ?? 0, body }));
      response.on("error", reject);
    });
    sent.on("error", reject);
    sent.end(body);
  });
}

describe("states", () => {
  test("[PN5] every state that OpenTofu writes is stored sealed, and the newest is given back", async () => {
    expect(await send("GET")).toEqual({ status: 404, body: "" });
    for (const serial of [1, 2, 3]) expect((await send("POST", stateText(serial))).status).toBe(200);
    expect(await send("GET")).toEqual({ status: 200, body: stateText(3) });
    const rows = await statesOf(owner.clusterId);
    expect(rows.map(({ serial, lineage, job_id }) => [serial, lineage, job_id])).toEqual(
      [1, 2, 3].map((serial) => [serial, "l", owner.jobId]),
    );
    for (const row of rows) expect(row.sealed_state).toMatch(/^v1\.k\./);
  });

  test("[PN5] a state with the same serial may be written again, as after an answer that was lost", async () => {
    for (const _ of [1, 2]) expect((await send("POST", stateText(1))).status).toBe(200);
  });

  test.each([
    ["a lower serial", stateText(4), 409],
    ["another lineage", stateText(6, "other"), 409],
    ["no state", "{}", 400],
    ["no JSON", "state", 400],
    ["nothing", "", 400],
  ])("[PN5] %s is refused as a state and changes nothing", async (_, text, status) => {
    await send("POST", stateText(5));
    expect((await send("POST", text)).status).toBe(status);
    expect(await statesOf(owner.clusterId)).toHaveLength(1);
    expect(onStale).not.toHaveBeenCalled();
  });

  test("[PN6] a run whose job another worker has claimed is refused, and nothing is stored", async () => {
    await send("POST", stateText(1));
    await db.updateTable("jobs").set({ fence: 2 }).where("id", "=", owner.hold.id).execute();
    expect((await send("POST", stateText(2))).status).toBe(409);
    expect(onStale).toHaveBeenCalledOnce();
    expect((await statesOf(owner.clusterId)).map(({ serial }) => serial)).toEqual([1]);
  });

  test.each(["pending", "succeeded", "failed"] as const)(
    "[PN6] a run whose job is %s is refused, and nothing is stored",
    async (status) => {
      await db
        .updateTable("jobs")
        .set({ status, lease_until: null, worker_id: null, finished_at: status === "pending" ? null : NOW })
        .where("id", "=", owner.hold.id)
        .execute();
      expect((await send("POST", stateText(1))).status).toBe(409);
      expect(await statesOf(owner.clusterId)).toEqual([]);
    },
  );

  test("[PN6] a claim waits for a state that is being written, so that the new holder reads it", async () => {
    const order: string[] = [];
    let claimed: Promise<unknown> = Promise.resolve();
    await db.transaction().execute(async (tx) => {
      expect(await lockHeld(tx, owner.hold)).toBe(true);
      claimed = db
        .updateTable("jobs")
        .set({ fence: 2 })
        .where("id", "=", owner.hold.id)
        .execute()
        .then(() => order.push("claimed"));
      await vi.waitFor(async () => {
        const { rows } = await fresh.database.pool.query(
          "select 1 from pg_stat_activity where wait_event_type = 'Lock'",
        );
        expect(rows).toHaveLength(1);
      });
      order.push("written");
    });
    await claimed;
    expect(order).toEqual(["written", "claimed"]);
  });

  test("[PN7] the newest 50 OpenTofu states of a cluster are kept", async () => {
    for (let serial = 1; serial <= 53; serial++) await send("POST", stateText(serial));
    const serials = (await statesOf(owner.clusterId)).map(({ serial }) => serial);
    expect([serials.length, serials.at(0), serials.at(-1)]).toEqual([50, 4, 53]);
  });

  test("[PN5] an outage of the database is a 503 of the state backend, which OpenTofu repeats", async () => {
    const load = () => Promise.reject(new Error("no database"));
    const run = await backend.open({ load, save: load, onStale });
    const password = run.password;
    expect((await send("GET", "", { path: run.env["TF_HTTP_ADDRESS"] ?? "", password })).status).toBe(503);
    await run.close();
  });
});

describe("access", () => {
  const everyMethod = ["GET", "POST", "LOCK", "UNLOCK", "DELETE"];

  test.each(everyMethod)(
    "[PN8] %s on the state backend with a wrong password is a 401 and changes nothing",
    async (method) => {
      expect((await send(method, stateText(1), { password: "wrong" })).status).toBe(401);
      expect(await statesOf(owner.clusterId)).toEqual([]);
    },
  );

  test("[PN8] the password of one run does not open the state of another", async () => {
    const other = await backend.open({ load: async () => "secret", save: async () => "saved", onStale });
    expect((await send("GET", "", { path: other.env["TF_HTTP_ADDRESS"] ?? "" })).status).toBe(401);
    expect((await send("GET", "", { path: `${opened.env["TF_HTTP_ADDRESS"]}x` })).status).toBe(401);
    await other.close();
  });

  test("[PN8] the state backend listens on 127.0.0.1", () => {
    expect(opened.env["TF_HTTP_ADDRESS"]).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/[0-9a-f]{32}$/);
  });

  test("[PN9] a state that is too long is a 413 and changes nothing", async () => {
    const text = JSON.stringify({ version: 4, serial: 1, lineage: "l", resources: [], more: "x".repeat(20_000) });
    const answer = await send("POST", text).catch((error: NodeJS.ErrnoException) => error.code);
    expect([{ status: 413, body: "" }, "ECONNRESET", "EPIPE"]).toContainEqual(answer);
    expect(await statesOf(owner.clusterId)).toEqual([]);
  });

  test("[PN9] a state of 64 MiB is stored, and one that is a byte longer is not", async () => {
    const saved: number[] = [];
    const another = createStateBackend();
    const save = async (text: string) => {
      saved.push(text.length);
      return "saved" as const;
    };
    const run = await another.open({ load: async () => null, save, onStale });
    const to = { path: run.env["TF_HTTP_ADDRESS"] ?? "", password: run.password };
    const longest = 64 * 1_048_576;
    expect((await send("POST", stateText(1).padEnd(longest), to)).status).toBe(200);
    const answer = await send("POST", stateText(2).padEnd(longest + 1), to).catch(({ code }) => code);
    expect([{ status: 413, body: "" }, "ECONNRESET", "EPIPE"]).toContainEqual(answer);
    expect(saved).toEqual([longest]);
    await run.close();
  });

  test.each(["DELETE", "PUT", "PATCH", "PROPFIND", "HEAD"])(
    "[PN9] %s on the state backend is a 405 and changes nothing",
    async (method) => {
      expect((await send(method)).status).toBe(405);
      expect(await statesOf(owner.clusterId)).toEqual([]);
    },
  );
});

describe("the lock", () => {
  const info = (ID: string) => JSON.stringify({ ID, Operation: "apply", Who: "somebody" });

  test("[PN10] one process holds the lock of a run, and others are told by whom it is held", async () => {
    expect((await send("LOCK", info("a"))).status).toBe(200);
    expect(await send("LOCK", info("b"))).toEqual({ status: 423, body: info("a") });
    expect(await send("UNLOCK", info("b"))).toEqual({ status: 423, body: info("a") });
    expect((await send("POST", stateText(1), { query: "?ID=b" })).status).toBe(423);
    expect((await send("POST", stateText(1), { query: "?ID=a" })).status).toBe(200);
    expect((await send("UNLOCK", info("a"))).status).toBe(200);
    expect((await send("LOCK", info("b"))).status).toBe(200);
  });

  test.each(["", "{}", "null", '{"ID":""}', "x"])("[PN10] %j is refused as a lock", async (text) => {
    expect((await send("LOCK", text)).status).toBe(400);
  });
});

test("[PN11] the state backend listens while a run is open and not longer", async () => {
  const another = createStateBackend();
  const keeper = { load: async () => null, save: async () => "saved" as const, onStale };
  const [first, second] = [await another.open(keeper), await another.open(keeper)];
  const reach = ({ env, password }: OpenedState) => send("GET", "", { path: env["TF_HTTP_ADDRESS"] ?? "", password });
  await first.close();
  expect((await reach(second)).status).toBe(404);
  await second.close();
  await expect(reach(second)).rejects.toThrow("ECONNREFUSED");
  const third = await another.open(keeper);
  expect((await reach(third)).status).toBe(404);
  await third.close();
});

test("[PN11] a state backend that could not listen for one run listens for the next", async () => {
  const another = createStateBackend();
  const keeper = { load: async () => null, save: async () => "saved" as const, onStale };
  const listen = vi.spyOn(Server.prototype, "listen").mockImplementationOnce(function (this: Server) {
    queueMicrotask(() => this.emit("error", new Error("EMFILE: too many open files")));
    return this;
  });
  await expect(another.open(keeper)).rejects.toThrow("EMFILE");
  listen.mockRestore();
  const next = await another.open(keeper);
  const { env, password } = next;
  expect((await send("GET", "", { path: env["TF_HTTP_ADDRESS"] ?? "", password })).status).toBe(404);
  await next.close();
});

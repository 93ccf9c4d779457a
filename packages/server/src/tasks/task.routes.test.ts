import { startWorld } from "@binnacle/world";
import { sql } from "kysely";
import { afterAll, describe, expect, test, vi } from "vitest";
import { openShop } from "../apps/app.fixture.ts";
import { inTransaction } from "../database/transaction.ts";
import { newId } from "../id.adapter.ts";
import { enqueue } from "../jobs/job.store.ts";

const world = await startWorld();
const person = await world.person();
afterAll(() => world.stop());

const queuePing = async () => (await person.api.post("/tasks/task", { kind: "ping" })).body.id as string;

/** The database refuses audit entries of tasks while the work runs. */
async function whileTasksCannotBeRecorded(work: () => Promise<void>): Promise<void> {
  const { kysely: db } = world.database;
  await sql`alter table audit_log add constraint no_tasks check (action <> 'task.create') not valid`.execute(db);
  try {
    await work();
  } finally {
    await sql`alter table audit_log drop constraint no_tasks`.execute(db);
  }
}

describe("POST /tasks/task", () => {
  test("[TA1] POST /tasks/task queues a job and answers with its id", async () => {
    const queued = await person.api.post("/tasks/task", { kind: "ping", payload: { note: "hello" } });
    expect(queued).toMatchObject({ status: 201, body: { id: expect.any(String) } });
    expect(Object.keys(queued.body)).toEqual(["id"]);
    const job = await world.database.kysely
      .selectFrom("jobs")
      .select(["kind", "payload", "created_by"])
      .where("id", "=", queued.body.id)
      .executeTakeFirst();
    expect(job).toEqual({ kind: "task.ping", payload: { note: "hello" }, created_by: person.id });
  });

  test("[RQ11] resync_cluster is for editors of the cluster that it names", async () => {
    const shop = await openShop(world);
    const task = (cluster_id: unknown) => ({ kind: "resync_cluster", payload: { cluster_id } });
    expect((await world.admin.api.post("/tasks/task", task(shop.cluster))).status).toBe(201);
    expect((await shop.viewer.api.post("/tasks/task", task(shop.cluster))).status).toBe(403);
    expect((await shop.stranger.api.post("/tasks/task", task(shop.cluster))).status).toBe(404);
    expect((await world.admin.api.post("/tasks/task", task(newId()))).status).toBe(404);
    expect(await world.admin.api.post("/tasks/task", task("no id"))).toMatchObject({
      status: 422,
      body: { detail: [{ loc: ["body", "payload", "cluster_id"] }] },
    });
  });

  test("[RQ11] resync_cluster stores the cluster's id as it is on record, however the id is written", async () => {
    const { cluster } = await openShop(world);
    const payload = { cluster_id: cluster.toUpperCase() };
    const { id } = (await world.admin.api.post("/tasks/task", { kind: "resync_cluster", payload })).body;
    const job = world.database.kysely.selectFrom("jobs").select("payload").where("id", "=", id).executeTakeFirst();
    expect(await job).toEqual({ payload: { cluster_id: cluster } });
    const entry = world.database.kysely.selectFrom("audit_log").select("changes").where("resource_id", "=", id);
    expect(await entry.executeTakeFirst()).toEqual({ changes: { cluster_id: cluster } });
  });

  test("[TA2] a task that cannot be recorded in the audit log leaves no job and does not count against the rate limit", async () => {
    const { kysely: db } = world.database;
    const unlucky = await world.person();
    await whileTasksCannotBeRecorded(async () => {
      expect((await unlucky.api.post("/tasks/task", { kind: "ping" })).status).toBe(500);
    });
    expect(await db.selectFrom("jobs").select("id").where("created_by", "=", unlucky.id).execute()).toEqual([]);
    expect(await db.selectFrom("rate_usage").select("spent").where("user_id", "=", unlucky.id).execute()).toEqual([]);
  });

  test("[TA2] a task in a transaction that is rolled back is not queued", async () => {
    const { kysely: db } = world.database;
    const id = newId();
    const rolledBack = inTransaction(db, async (tx) => {
      await enqueue(tx, { id, kind: "task.ping", payload: {} });
      throw new Error("The rest did not work.");
    });
    await expect(rolledBack).rejects.toThrow("The rest did not work.");
    expect(await db.selectFrom("jobs").select("id").where("id", "=", id).execute()).toEqual([]);
  });

  test.each([
    [{}, "kind", "missing"],
    [{ kind: "reboot" }, "kind", "enum"],
    [{ kind: "ping", payload: [] }, "payload", "dict_type"],
    [{ kind: "ping", at: "noon" }, "at", "extra_forbidden"],
  ])("[TA7] POST /tasks/task with %j is a 422", async (body, field, type) => {
    expect(await person.api.post("/tasks/task", body)).toMatchObject({
      status: 422,
      body: { detail: [{ loc: ["body", field], type }] },
    });
  });

  test("[AC1] POST /tasks/task needs a signed-in user", async () => {
    expect((await world.anyone.post("/tasks/task", { kind: "ping" })).status).toBe(401);
  });
});

describe("GET /tasks/task/{id}", () => {
  test("[TA3] GET /tasks/task/{id} shows a task to its creator and to superusers, and to nobody else", async () => {
    const id = await queuePing();
    const other = await world.person();
    expect((await person.api.get(`/tasks/task/${id}`)).status).toBe(200);
    expect((await world.admin.api.get(`/tasks/task/${id}`)).status).toBe(200);
    expect(await other.api.get(`/tasks/task/${id}`)).toMatchObject({
      status: 404,
      body: { detail: "Task not found." },
    });
    expect((await person.api.get(`/tasks/task/${newId()}`)).status).toBe(404);
  });

  test("[TA4] GET /tasks/task/{id} is a 404 for a job that is not a task", async () => {
    const id = await enqueue(world.database.kysely, { kind: "elsewhere", payload: {}, createdBy: person.id });
    expect((await person.api.get(`/tasks/task/${id}`)).status).toBe(404);
    expect((await world.admin.api.get(`/tasks/task/${id}`)).status).toBe(404);
  });

  test("[TA6] a ping succeeds with pong once a worker has taken it", async () => {
    const id = await queuePing();
    await vi.waitFor(
      async () => expect((await person.api.get(`/tasks/task/${id}`)).body.status).toBe("succeeded"),
      10_000,
    );
    expect((await person.api.get(`/tasks/task/${id}`)).body).toEqual({
      id,
      kind: "ping",
      status: "succeeded",
      attempts: 1,
      result: { pong: true },
      error_message: null,
      created_at: expect.any(String),
      updated_at: expect.any(String),
      started_at: expect.any(String),
      finished_at: expect.any(String),
    });
  });
});

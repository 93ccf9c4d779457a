import { startWorld, type World } from "@binnacle/world";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { ChangeRecord } from "../audit/audit.ts";
import type { Bus } from "../bus/bus.ts";
import { runTogether } from "../database/prepared.adapter.ts";
import { inTransaction } from "../database/transaction.ts";
import type { Announcement, Event } from "../events/event.ts";
import { newId } from "../id.adapter.ts";
import { listeningLog } from "../jobs/jobs.fixture.ts";
import { createVault } from "../vault/vault.ts";
import { openShop, type Shop, someName, WEB } from "./app.fixture.ts";
import { failOverdueDeployments } from "./deployment.store.ts";
import { createApp } from "./operate.runner.ts";

// No worker: its upkeep would come before the test's own.
let world: World;
let shop: Shop;

// The tests outlive access tokens, so each has a world of its own.
beforeEach(async () => {
  world = await startWorld({ env: { BINNACLE_ROLES: "api" } });
  shop = await openShop(world);
});
afterEach(() => world?.stop());

/** As a change of another slice does, within its own transaction. */
async function deployedBy(timeoutSeconds?: number): Promise<string> {
  const { kysely: db } = world.database;
  const project = await db.selectFrom("projects").selectAll().where("id", "=", shop.project).executeTakeFirstOrThrow();
  const ports = {
    vault: createVault([{ id: "k", key: new Uint8Array(32) }]),
    clock: world.clock.now,
    findDefinition: () => undefined,
    chartHosts: [],
    deploymentTimeoutSeconds: 900,
  };
  const records: ChangeRecord[] = [];
  const announced: Announcement[] = [];
  const written: Promise<unknown>[] = [];
  const app = await inTransaction(db, async (tx) => {
    const made = await createApp(
      {
        db: tx,
        record: (entry) => void records.push(entry),
        announce: (announcement) => void announced.push(announcement),
        write: (statement) => void written.push(runTogether(tx, [statement])),
        unchanged: () => undefined,
        afterCommit: () => undefined,
        accessChanged: () => undefined,
        dispatch: () => undefined,
      },
      ports,
      {
        project: { ...project, last_heartbeat: null, session_lease_until: null },
        name: someName(),
        description: null,
        components: [WEB],
        createdBy: "ada@example.com",
        isOrgAdmin: false,
        ...(timeoutSeconds === undefined ? {} : { timeoutSeconds }),
      },
    );
    await Promise.all(written);
    return made;
  });
  expect([records.length, announced.length]).toEqual([1, 1]);
  return app.name;
}

const deployments = (name: string) =>
  world.database.kysely
    .selectFrom("app_deployments")
    .innerJoin("apps", "apps.id", "app_deployments.app_id")
    .select(["app_deployments.status", "app_deployments.message", "app_deployments.finished_at"])
    .where("apps.name", "=", name)
    .orderBy("app_deployments.revision", "desc")
    .execute();
let heard: Event[] = [];
const log = listeningLog();
const fail = () => {
  const bus = { publish: (_topic: string, event: Event) => void heard.push(event) } as unknown as Bus;
  return failOverdueDeployments({ db: world.database.kysely, bus, clock: world.clock.now, log });
};
const newest = async (name: string) => (await deployments(name))[0];

test("[AP59] a deployment that is still pending at its deadline has failed", async () => {
  const [soon, late, without] = [await deployedBy(60), await deployedBy(3600), await deployedBy()];
  world.clock.advance(59_000);
  await fail();
  expect((await newest(soon))?.status).toBe("pending");

  world.clock.advance(1_000);
  await fail();
  expect(await newest(soon)).toMatchObject({
    status: "failed",
    message: "The app was not running in time: the operator of the cluster is not connected.",
    finished_at: world.clock.now(),
  });
  for (const name of [late, without]) expect((await newest(name))?.status).toBe("pending");
});

test("[AP59] a deployment that was superseded before its deadline does not fail", async () => {
  const name = await deployedBy(60);
  await shop.editor.api.post(shop.path(name, "/redeploy"));
  world.clock.advance(60_000);
  await fail();
  expect((await deployments(name)).map(({ status }) => status)).toEqual(["pending", "superseded"]);
});

test.each(["/redeploy", "/pause"])(
  "[AP80] a deployment by %s fails too when the configured time has passed, with the cause",
  async (operation) => {
    const name = await shop.app();
    const { body } = await shop.editor.api.post(shop.path(name, operation));
    await world.database.kysely
      .updateTable("apps")
      .set({
        phase: "degraded",
        phase_reason: "ImagePullBackOff",
        phase_message: "web: The image nginx:does-not-exist cannot be pulled: not found",
        observed_generation: body.generation,
      })
      .where("id", "=", body.id)
      .execute();
    world.clock.advance(899_000);
    await fail();
    expect((await newest(name))?.status).toBe("pending");
    world.clock.advance(1_000);
    await fail();
    expect(await newest(name)).toMatchObject({
      status: "failed",
      message: "The app was not running in time: web: The image nginx:does-not-exist cannot be pulled: not found",
      finished_at: world.clock.now(),
    });
  },
);

test.each(["project", "cluster"] as const)(
  "[SN6] deployments in a suspended %s do not fail by their deadline, and have their whole time afterwards",
  async (scope) => {
    const name = await deployedBy(900);
    const path = `/${scope}s/${scope === "project" ? shop.project : shop.cluster}`;
    world.clock.advance(300_000);
    expect((await shop.admin.api.post(`${path}/suspend`)).status).toBe(200);
    world.clock.advance(601_000);
    await fail();
    expect((await newest(name))?.status).toBe("pending");
    expect((await shop.admin.api.post(`${path}/unsuspend`)).status).toBe(200);
    world.clock.advance(899_000);
    await fail();
    expect((await newest(name))?.status).toBe("pending");
    world.clock.advance(1_000);
    await fail();
    expect((await newest(name))?.status).toBe("failed");
  },
);

test("[AP80] more overdue deployments than one batch holds all fail in one run", async () => {
  const name = await shop.app();
  const { kysely: db } = world.database;
  const first = await db
    .selectFrom("app_deployments")
    .selectAll("app_deployments")
    .innerJoin("apps", "apps.id", "app_deployments.app_id")
    .where("apps.name", "=", name)
    .executeTakeFirstOrThrow();
  const more = Array.from({ length: 250 }, (_, index) => ({
    ...first,
    id: newId(),
    revision: 100 + index,
    spec: JSON.stringify(first.spec),
    changes: JSON.stringify(first.changes),
  }));
  await db.insertInto("app_deployments").values(more).execute();
  world.clock.advance(900_000);
  await fail();
  expect(new Set((await deployments(name)).map(({ status }) => status))).toEqual(new Set(["failed"]));
});

test("[DS30] a deployment that has failed by its deadline is announced once", async () => {
  const name = await deployedBy(60);
  heard = [];
  world.clock.advance(60_000);
  await fail();
  await fail();
  expect(heard).toMatchObject([
    {
      type: "app",
      time: world.clock.now().toISOString(),
      project_id: shop.project,
      resource: { name },
      phase: "pending",
      deployment: { revision: 1, status: "failed" },
    },
  ]);
});

test("[OP31] a deployment that has failed by its deadline is logged once, with its app and the cause", async () => {
  const app = await deployedBy(60);
  world.clock.advance(60_000);
  log.warn.mockClear();
  await fail();
  await fail();
  const logged = { app, namespace: expect.any(String), cluster_id: expect.any(String), revision: 1, outcome: "failed" };
  expect(log.warn).toHaveBeenCalledExactlyOnceWith(
    expect.objectContaining({
      ...logged,
      cause: expect.stringContaining("the operator of the cluster is not connected"),
    }),
    "a deployment has failed",
  );
});

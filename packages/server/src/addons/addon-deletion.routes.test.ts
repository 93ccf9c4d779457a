import { randomBytes } from "node:crypto";
import type { InventoryEntry } from "@binnacle/contract";
import { Client, type ProjectWithPeople, startWorld } from "@binnacle/world";
import { afterAll, afterEach, describe, expect, test, vi } from "vitest";
import { placeStore } from "../access/place.store.ts";
import { createTokens } from "../accounts/tokens.adapter.ts";
import { UNWATCHED } from "../dispatch/dispatch-watch.fixture.ts";
import { startEdge } from "../http/edge.fixture.ts";
import { rowsOf } from "../http/rows.fixture.ts";
import { API_BASE, registerApi } from "../http/server.adapter.ts";
import { entryOf, operatorFor, type TestOperator } from "../hub/operator.fixture.ts";
import { noOperatorConnected, type OperatorRequests } from "../hub/operator-requests.ts";
import { desiredRowOf } from "../hub/reports.fixture.ts";
import { SOON } from "../jobs/jobs.fixture.ts";
import { createVault, parseVaultKeys } from "../vault/vault.ts";
import { addonIn, POSTGRESQL } from "./addon.fixture.ts";
import { addonDeletionRoutes } from "./addon-deletion.routes.ts";

const SIGNING_KEY = randomBytes(32).toString("base64url");
const VAULT_KEYS = `test:${randomBytes(32).toString("base64")}`;

let isConnected: boolean;
const open: TestOperator[] = [];

const world = await startWorld({ env: { BINNACLE_SECRET_KEY: SIGNING_KEY, BINNACLE_VAULT_KEYS: VAULT_KEYS } });
const { kysely: db } = world.database;
const clock = world.clock.now;
const vault = createVault(parseVaultKeys(VAULT_KEYS));
const ports = {
  db,
  bus: world.bus,
  clock,
  vault,
  tokens: await createTokens(SIGNING_KEY, clock),
  places: placeStore(world.database),
  dispatchWatch: UNWATCHED,
};
const observe = async () => {
  throw noOperatorConnected();
};
const operators = { isConnected: async () => isConnected, observe } as unknown as OperatorRequests;
const routes = addonDeletionRoutes({ ...ports, operators, confirmWithinMs: 0 });
/** The same API on the same database. It does not wait for a confirmation, and the test says whether the operator is connected. */
const edge = await startEdge((app) => registerApi(app, routes, ports));
afterEach(async () => {
  for (const operator of open.splice(0)) await operator.leave();
});
afterAll(async () => {
  await edge.app.close();
  await world.stop();
});

async function instanceIn(place: ProjectWithPeople) {
  isConnected = true;
  const { id } = await addonIn(place);
  return { id, path: `/addon-instances/${id}`, key: `addon_instance/project-${place.project}/db` };
}

/** An operator of the place's cluster that does what the test tells it. */
async function operatorOf(
  { cluster }: ProjectWithPeople,
  prepare: (operator: TestOperator) => unknown,
  held: readonly InventoryEntry[] = [],
): Promise<TestOperator> {
  const operator = await operatorFor(world, SIGNING_KEY, cluster);
  open.push(operator);
  prepare(operator);
  await operator.greet(held);
  return operator;
}

const impatient = ({ token }: ProjectWithPeople["editor"]) =>
  new Client(`${edge.url}${API_BASE}`, { authorization: `Bearer ${token}` });
const desiredRow = (id: string) => desiredRowOf(world.database.kysely, id);

describe("a deletion without an operator", () => {
  const unreachable = {
    status: 502,
    body: { detail: "The operator of the cluster cannot be reached; the addon instance was not deleted." },
  };

  test("[AD29] deleting an addon instance without an operator is a 502 and changes nothing", async () => {
    const place = await world.projectWithPeople();
    const { path } = await instanceIn(place);
    const before = await rowsOf(world);
    expect(await place.editor.api.delete(path)).toMatchObject(unreachable);
    expect(await rowsOf(world)).toEqual(before);
    expect((await place.editor.api.get(path)).body.phase).toBe("pending");
  });

  test("[AD29] deleting an addon instance is a 502 after the operator has left, and works again when it is back", async () => {
    const place = await world.projectWithPeople();
    const { path } = await instanceIn(place);
    const operator = await operatorOf(place, (it) => it.storesAll());
    await operator.leave();
    open.splice(0);
    const refusal = await vi.waitUntil(async () => {
      return (await sessionOf(place.cluster)) === undefined && place.editor.api.delete(path);
    }, SOON);
    expect(refusal).toMatchObject(unreachable);
    await operatorOf(place, (it) => it.storesAll());
    expect((await place.editor.api.delete(path)).status).toBe(204);
  });

  test("[AD29] deleting an addon instance is refused to those who may not, before the operator is looked up", async () => {
    const place = await world.projectWithPeople();
    const { id, path } = await instanceIn(place);
    const before = await rowsOf(world);
    expect((await impatient(place.viewer).delete(path)).status).toBe(403);
    expect((await impatient(place.member).delete(path)).status).toBe(404);
    expect((await new Client(`${edge.url}${API_BASE}`).delete(path)).status).toBe(401);
    expect((await impatient(place.editor).delete("/addon-instances/db")).status).toBe(422);
    const stale = { headers: { "if-match": `"${id}.7"` } };
    expect((await impatient(place.editor).send("DELETE", path, stale)).status).toBe(412);
    expect(await rowsOf(world)).toEqual(before);
  });
});

const sessionOf = (clusterId: string) =>
  world.database.kysely
    .selectFrom("cluster_sessions")
    .select("lease_until")
    .where("cluster_id", "=", clusterId)
    .executeTakeFirst();

describe("a deletion with an operator", () => {
  test("[AD30] deleting an addon instance is a 204 once the cluster has confirmed it, and leaves a tombstone", async () => {
    const place = await world.projectWithPeople();
    const { id, path, key } = await instanceIn(place);
    const operator = await operatorOf(place, (it) => it.storesAll());
    const answer = await place.editor.api.delete(path);
    expect([answer.status, answer.body]).toEqual([204, ""]);
    expect(operator.all("remove")).toMatchObject([{ key, resource_id: id, generation: 2 }]);
    expect((await place.viewer.api.get(path)).body).toMatchObject({
      phase: "deleting",
      generation: 2,
      revision_number: 1,
    });
    expect(await desiredRow(id)).toMatchObject({ key, generation: 2, acked_generation: 2 });
    expect((await desiredRow(id))?.removed_at).toEqual(world.clock.now());
  });

  const deletionsOnRecord = async (path: string) =>
    (
      await world.database.kysely
        .selectFrom("audit_log")
        .select("id")
        .where("action", "=", "addon_instance.delete")
        .where("resource_id", "=", path.split("/").at(-1) ?? "")
        .execute()
    ).length;

  test("[AD30] [AL44] the name of a deleted addon instance stays taken, and deleting it again is a 204 without an operator", async () => {
    const place = await world.projectWithPeople();
    const { path } = await instanceIn(place);
    const operator = await operatorOf(place, (it) => it.storesAll());
    expect((await place.editor.api.delete(path)).status).toBe(204);
    isConnected = false;
    expect((await impatient(place.editor).delete(path)).status).toBe(204);
    expect(operator.all("remove")).toHaveLength(1);
    expect(await deletionsOnRecord(path)).toBe(1);
    const body = { name: "db", project_id: place.project, addon_definition_id: POSTGRESQL };
    expect((await place.editor.api.post("/addon-instances", body)).status).toBe(409);
  });

  test("[AD30] an addon instance that is changed and deleted at the same instant is deleted", async () => {
    const place = await world.projectWithPeople();
    const { path } = await instanceIn(place);
    await operatorOf(place, (it) => it.storesAll());
    const changes = Array.from({ length: 4 }, () => place.editor.api.patch(path, { values: {} }));
    const [deletion, ...answers] = await Promise.all([place.editor.api.delete(path), ...changes]);
    expect(deletion.status).toBe(204);
    const made = answers.filter(({ status }) => status === 200).length;
    expect(answers.every(({ status }) => status === 200 || status === 409)).toBe(true);
    const { body } = await place.editor.api.get(path);
    expect(body).toMatchObject({ phase: "deleting", revision_number: 1 + made, generation: 2 + made });
  });

  test("[AD31] an addon instance that is being deleted accepts no other change", async () => {
    const place = await world.projectWithPeople();
    const { path } = await instanceIn(place);
    const { name } = (await place.editor.api.get(path)).body;
    await operatorOf(place, (it) => it.storesAll());
    await place.editor.api.delete(path);
    const before = await rowsOf(world);
    const ended = { status: 409, body: { detail: `The addon instance ${name} is being deleted.` } };
    expect(await place.editor.api.patch(path, { values: {} })).toMatchObject(ended);
    expect(await place.editor.api.patch(path, { chart_version: "0.10.0" })).toMatchObject(ended);
    expect(await place.editor.api.post(`${path}/rollback`, { revision_number: 1 })).toMatchObject(ended);
    expect(await rowsOf(world)).toEqual(before);
  });
});

describe("a deletion that the cluster does not confirm", () => {
  const recorded = {
    status: 504,
    body: {
      detail:
        "The deletion is recorded and goes on, but the cluster has not confirmed it yet. Read the instance to follow it.",
    },
  };

  test("[AD36] a deletion that the cluster does not confirm is a 504, also when repeated, and goes on", async () => {
    const place = await world.projectWithPeople();
    const { id, path } = await instanceIn(place);
    expect(await impatient(place.editor).delete(path)).toMatchObject(recorded);
    expect(await impatient(place.editor).delete(path)).toMatchObject(recorded);
    expect((await place.editor.api.get(path)).body).toMatchObject({ phase: "deleting", generation: 2 });
    expect(await desiredRow(id)).toMatchObject({ generation: 2, acked_generation: null });
    await operatorOf(place, (it) => it.storesAll());
    await vi.waitUntil(async () => (await desiredRow(id))?.acked_generation === 2, SOON);
    expect((await impatient(place.editor).delete(path)).status).toBe(204);
  });

  test("[AD35] a deletion is stored before it is sent, so that the operator's report of the absence ends it", async () => {
    const place = await world.projectWithPeople();
    const { id, path, key } = await instanceIn(place);
    await operatorOf(place, (it) => {
      it.onFrame = (frame) => {
        if (frame.type === "apply") it.ack(frame);
        if (frame.type !== "remove") return;
        it.say({ type: "status", id: frame.id, key, resource_id: id, generation: 2, report: { state: "gone" } });
      };
    });
    expect((await place.editor.api.delete(path)).status).toBe(204);
    expect((await place.editor.api.get(path)).status).toBe(404);
  });

  test("[AD35] a deletion survives a lost session: the next session is sent it, and the caller gets a 204", async () => {
    const place = await world.projectWithPeople();
    const { id, path, key } = await instanceIn(place);
    const lost = await operatorOf(place, (it) => {
      it.onFrame = (frame) => {
        if (frame.type === "apply") it.ack(frame);
        if (frame.type === "remove") it.socket.terminate();
      };
    });
    await vi.waitUntil(async () => (await desiredRow(id))?.acked_generation === 1, SOON);
    const deletion = place.editor.api.delete(path);
    await lost.closeCode();
    expect((await place.editor.api.get(path)).body.phase).toBe("deleting");
    expect(await desiredRow(id)).toMatchObject({ generation: 2, acked_generation: 1 });
    const back = await operatorOf(place, (it) => it.storesAll(), lost.all("apply").map(entryOf));
    expect(await back.next("remove")).toMatchObject({ key, resource_id: id, generation: 2 });
    expect((await deletion).status).toBe(204);
  });
});

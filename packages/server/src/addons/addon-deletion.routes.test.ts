import { randomBytes } from "node:crypto";
import { Client, startWorld, type World } from "@binnacle/world";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { placeStore } from "../access/place.store.ts";
import { createTokens } from "../accounts/tokens.ts";
import { loadCatalog } from "../catalog/catalog.adapter.ts";
import { type Edge, startEdge } from "../http/edge.fixture.ts";
import { rowsOf } from "../http/rows.fixture.ts";
import { API_BASE, registerApi } from "../http/server.ts";
import { createVault, parseVaultKeys } from "../vault/vault.ts";
import { addonIn, type Place, POSTGRESQL, projectWithPeople } from "./addon.fixture.ts";
import { addonChangeRoutes } from "./addon-change.routes.ts";
import { operatorUnreachable, type RemovedAddon } from "./addon-removal.ts";

const SIGNING_KEY = randomBytes(32).toString("base64url");
const VAULT_KEYS = `test:${randomBytes(32).toString("base64")}`;

let world: World;
/** The same API on the same database, with an operator that answers. */
let edge: Edge;
let taken: RemovedAddon[];
let isReachable: boolean;

beforeAll(async () => {
  world = await startWorld({
    env: { BINNACLE_ROLES: "api", BINNACLE_SECRET_KEY: SIGNING_KEY, BINNACLE_VAULT_KEYS: VAULT_KEYS },
  });
  const { kysely: db, pool } = world.database;
  const clock = world.clock.now;
  const vault = createVault(parseVaultKeys(VAULT_KEYS));
  const ports = {
    db,
    bus: world.bus,
    clock,
    vault,
    tokens: await createTokens(SIGNING_KEY, clock),
    places: placeStore(pool),
  };
  const removal = {
    async handOver(removed: RemovedAddon) {
      if (!isReachable) throw operatorUnreachable();
      taken.push(removed);
    },
  };
  const { addons } = await loadCatalog();
  edge = await startEdge((app) => registerApi(app, addonChangeRoutes({ ...ports, removal }, addons), ports));
});
afterAll(async () => {
  await edge?.app.close();
  await world?.stop();
});

async function instanceIn(place: Place) {
  [taken, isReachable] = [[], true];
  const { id } = await addonIn(place);
  return { id, path: `/addon-instances/${id}` };
}

const withOperator = ({ token }: Place["editor"]) =>
  new Client(`${edge.url}${API_BASE}`, { authorization: `Bearer ${token}` });

describe("a deletion that no operator takes", () => {
  const unreachable = {
    status: 502,
    body: { detail: "The operator of the cluster cannot be reached; the addon instance was not deleted." },
  };

  test("[AD29] is a 502 of the control plane without a hub, and nothing changes", async () => {
    const place = await projectWithPeople(world);
    const { path } = await instanceIn(place);
    const before = await rowsOf(world);
    expect(await place.editor.api.delete(path)).toMatchObject(unreachable);
    expect(await rowsOf(world)).toEqual(before);
    expect((await place.editor.api.get(path)).body.phase).toBe("pending");
  });

  test("[AD29] is a 502 while the operator is away, and can be asked for again", async () => {
    const place = await projectWithPeople(world);
    const { path } = await instanceIn(place);
    isReachable = false;
    const before = await rowsOf(world);
    expect(await withOperator(place.editor).delete(path)).toMatchObject(unreachable);
    expect(await rowsOf(world)).toEqual(before);
    isReachable = true;
    expect((await withOperator(place.editor).delete(path)).status).toBe(204);
  });

  test("[AD29] does not reach the operator for those who may not delete", async () => {
    const place = await projectWithPeople(world);
    const { id, path } = await instanceIn(place);
    expect((await withOperator(place.viewer).delete(path)).status).toBe(403);
    expect((await withOperator(place.member).delete(path)).status).toBe(404);
    expect((await new Client(`${edge.url}${API_BASE}`).delete(path)).status).toBe(401);
    expect((await withOperator(place.editor).delete("/addon-instances/db")).status).toBe(422);
    const stale = { headers: { "if-match": `"${id}.7"` } };
    expect((await withOperator(place.editor).send("DELETE", path, stale)).status).toBe(412);
    expect(taken).toEqual([]);
  });
});

describe("a deletion that the operator takes", () => {
  test("[AD30] [AD35] is a 204, reads as deleting and leaves the cluster a tombstone of the generation that was handed over", async () => {
    const place = await projectWithPeople(world);
    const { id, path } = await instanceIn(place);
    const answer = await withOperator(place.editor).delete(path);
    expect([answer.status, answer.body]).toEqual([204, ""]);
    const key = `addon_instance/project-${place.project}/db`;
    expect(taken).toEqual([{ clusterId: place.cluster, addonInstanceId: id, key, generation: 2 }]);
    expect((await place.viewer.api.get(path)).body).toMatchObject({
      phase: "deleting",
      generation: 2,
      revision_number: 1,
    });
    const desired = await world.database.kysely
      .selectFrom("desired_resources")
      .selectAll()
      .where("resource_id", "=", id)
      .executeTakeFirstOrThrow();
    expect(desired).toMatchObject({ key, generation: 2, removed_at: world.clock.now() });
  });

  test("[AD30] keeps its name taken, and asked for again is a 204 without asking the operator again", async () => {
    const place = await projectWithPeople(world);
    const { path } = await instanceIn(place);
    await withOperator(place.editor).delete(path);
    expect((await withOperator(place.editor).delete(path)).status).toBe(204);
    expect((await place.editor.api.delete(path)).status).toBe(204);
    expect(taken).toHaveLength(1);
    const body = { name: "db", project_id: place.project, addon_definition_id: POSTGRESQL };
    expect((await place.editor.api.post("/addon-instances", body)).status).toBe(409);
  });

  test("[AD30] holds for an instance that is changed at the same instant", async () => {
    const place = await projectWithPeople(world);
    const { path } = await instanceIn(place);
    const changes = Array.from({ length: 4 }, () => place.editor.api.patch(path, { values: {} }));
    const [deletion, ...answers] = await Promise.all([withOperator(place.editor).delete(path), ...changes]);
    expect(deletion.status).toBe(204);
    const made = answers.filter(({ status }) => status === 200).length;
    expect(answers.every(({ status }) => status === 200 || status === 409)).toBe(true);
    const { body } = await place.editor.api.get(path);
    expect(body).toMatchObject({ phase: "deleting", revision_number: 1 + made, generation: 2 + made });
  });

  test("[AD31] ends all other changes", async () => {
    const place = await projectWithPeople(world);
    const { path } = await instanceIn(place);
    await withOperator(place.editor).delete(path);
    const before = await rowsOf(world);
    const ended = { status: 409, body: { detail: "The addon instance is being deleted." } };
    expect(await place.editor.api.patch(path, { values: {} })).toMatchObject(ended);
    expect(await place.editor.api.patch(path, { chart_version: "0.10.0" })).toMatchObject(ended);
    expect(await place.editor.api.post(`${path}/rollback`, { revision_number: 1 })).toMatchObject(ended);
    expect(await rowsOf(world)).toEqual(before);
  });
});

import { type Person, startWorld, type World } from "@binnacle/world";
import { decodeJwt } from "jose";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { bindRole } from "../access/bindings.fixture.ts";
import type { Queries } from "../database/transaction.ts";
import { FLOOR_HELD_TOPIC, FLOOR_RAISED_TOPIC } from "../hub/ports.ts";
import { newId } from "../id.adapter.ts";
import { connectOperator, registeredCluster } from "./clusters.fixture.ts";

let world: World;
let db: Queries;
let org: string;
let admin: Person;
let member: Person;
let stranger: Person;

beforeAll(async () => {
  world = await startWorld({ env: { BINNACLE_ROLES: "api", BINNACLE_PUBLIC_URL: "https://binnacle.example.com" } });
  db = world.database.kysely;
  org = await world.org();
  admin = await world.person({ org, role: "admin" });
  member = await world.person({ org });
  stranger = await world.person();
});
afterAll(() => world?.stop());

const tokensOf = (id: string) =>
  db.selectFrom("clusters").select(["token_version", "token_floor"]).where("id", "=", id).executeTakeFirstOrThrow();

const auditOf = (id: string, action: string) =>
  db
    .selectFrom("audit_log")
    .select("changes")
    .where("resource_id", "=", id)
    .where("action", "=", action)
    .orderBy("id")
    .execute();

describe("GET /clusters/{id}/install-instructions", () => {
  test("[CL30] says where to connect, and nothing secret", async () => {
    const { id, connection_token } = await registeredCluster(admin.api, org);
    const { status, body } = await member.api.get(`/clusters/${id}/install-instructions`);
    expect([status, body]).toEqual([
      200,
      {
        status: "pending",
        cli_command: null,
        hub_url: "wss://binnacle.example.com/hub/v1",
        namespace: "binnacle-system",
        chart_ref: "https://binnacle.example.com/charts/binnacle-operator-0.1.0.tgz",
        docs_url: "https://binnacle.example.com/charts/README.md",
      },
    ]);
    expect(JSON.stringify(body)).not.toContain(connection_token);
    expect((await stranger.api.get(`/clusters/${id}/install-instructions`)).status).toBe(404);
    expect((await world.anyone.get(`/clusters/${id}/install-instructions`)).status).toBe(401);
  });
});

describe("GET /clusters/{id}/install-command", () => {
  test("[CL31] is gone for everyone who is signed in", async () => {
    const { id } = await registeredCluster(admin.api, org);
    for (const { api } of [admin, member, stranger]) {
      for (const cluster of [id, newId()]) {
        const answer = await api.get(`/clusters/${cluster}/install-command`);
        expect([answer.status, typeof answer.body.detail]).toEqual([410, "string"]);
      }
    }
    expect((await world.anyone.get(`/clusters/${id}/install-command`)).status).toBe(401);
  });
});

describe("POST /clusters/{id}/agent-credentials", () => {
  test("[CL35] mints a token of the next version, and earlier ones keep working", async () => {
    const { id, connection_token } = await registeredCluster(admin.api, org);
    expect(decodeJwt(connection_token)).toMatchObject({ sub: id, ver: 1, aud: "binnacle:agent" });
    const first = await admin.api.post(`/clusters/${id}/agent-credentials`);
    const second = await admin.api.post(`/clusters/${id}/agent-credentials`);
    expect([first.status, second.status]).toEqual([201, 201]);
    expect([first.body.agent_jwt.token_version, second.body.agent_jwt.token_version]).toEqual([2, 3]);
    expect(decodeJwt(second.body.agent_jwt.token)).toMatchObject({ sub: id, ver: 3 });
    expect(await tokensOf(id)).toEqual({ token_version: 3, token_floor: 0 });
    expect((await auditOf(id, "cluster.mint_agent_credentials")).map(({ changes }) => changes)).toEqual([
      { token_version: 2 },
      { token_version: 3 },
    ]);
  });

  test("[CL35] gives each of many that come at once a version of its own", async () => {
    const { id } = await registeredCluster(admin.api, org);
    const mint = () => admin.api.post(`/clusters/${id}/agent-credentials`);
    const answers = await Promise.all(Array.from({ length: 5 }, mint));
    expect(answers.map(({ body }) => body.agent_jwt.token_version).sort()).toEqual([2, 3, 4, 5, 6]);
  });

  test("[CL34] says when the token ends, [CL36] and that there is no repository", async () => {
    const { id } = await registeredCluster(admin.api, org);
    await admin.api.patch(`/org/settings?org_id=${org}`, { settings: { gitops: { repo_url: "git@example.com:a/b" } } });
    const { body } = await admin.api.post(`/clusters/${id}/agent-credentials`);
    const expiresAtMs = Date.parse(body.agent_jwt.expires_at);
    expect(decodeJwt(body.agent_jwt.token).exp).toBe(expiresAtMs / 1000);
    expect(Math.ceil((expiresAtMs - world.clock.now().getTime()) / 86_400_000)).toBe(365);
    expect(body).toEqual({
      cluster_id: id,
      agent_jwt: { ...body.agent_jwt, hub_url: "wss://binnacle.example.com/hub/v1" },
      repo_credential: null,
      operator: {
        namespace: "binnacle-system",
        chart_ref: "https://binnacle.example.com/charts/binnacle-operator-0.1.0.tgz",
      },
    });
  });

  test("[CL35] is for administrators of the cluster", async () => {
    const { id } = await registeredCluster(admin.api, org);
    const [operator, editor] = [await world.person({ org }), await world.person({ org })];
    await bindRole(db, operator.id, "admin", { cluster: id });
    await bindRole(db, editor.id, "editor", { cluster: id });
    const path = `/clusters/${id}/agent-credentials`;
    expect((await operator.api.post(path)).status).toBe(201);
    expect((await editor.api.post(path)).status).toBe(403);
    expect((await stranger.api.post(path)).status).toBe(404);
    expect((await world.anyone.post(path)).status).toBe(401);
  });
});

describe("POST /clusters/{id}/rotate-token", () => {
  test("[CL37] answers the command that deploys the new token, as the registration did", async () => {
    const { id, connection_token, install_command } = await registeredCluster(admin.api, org);
    const { body } = await admin.api.post(`/clusters/${id}/rotate-token`);
    expect(body.token).not.toBe(connection_token);
    expect(body.install_command).toBe(install_command.replace(connection_token, body.token));
  });

  test("[CL37] raises the floor to the new token's version", async () => {
    const { id } = await registeredCluster(admin.api, org);
    await admin.api.post(`/clusters/${id}/agent-credentials`);
    const rotated = await admin.api.post(`/clusters/${id}/rotate-token`);
    expect(rotated).toMatchObject({ status: 200, body: { token_version: 3, enforcement: "in_force" } });
    expect(Object.keys(rotated.body).sort()).toEqual(["enforcement", "install_command", "token", "token_version"]);
    expect(decodeJwt(rotated.body.token)).toMatchObject({ sub: id, ver: 3 });
    expect(await tokensOf(id)).toEqual({ token_version: 3, token_floor: 3 });
    expect(await auditOf(id, "cluster.rotate_token")).toEqual([{ changes: { token_version: 3, token_floor: 3 } }]);
  });

  test("[CL37] takes no CLI token, and is for administrators of the cluster", async () => {
    const { id } = await registeredCluster(admin.api, org);
    const path = `/clusters/${id}/rotate-token`;
    const { body } = await admin.api.post("/cli-tokens", { name: "x", scopes: ["clusters:register"] });
    const token = world.anyone.with({ authorization: `Bearer ${body.token}` });
    expect((await token.post(path)).status).toBe(403);
    expect((await member.api.post(path)).status).toBe(403);
    expect((await stranger.api.post(path)).status).toBe(404);
    expect(await tokensOf(id)).toEqual({ token_version: 1, token_floor: 0 });
  });

  test("[CL38] is in force where the hub that holds the session says so", async () => {
    const { id } = await registeredCluster(admin.api, org);
    await connectOperator(db, id, world.clock.now());
    const unsubscribe = world.bus.subscribe(FLOOR_RAISED_TOPIC, (message) => {
      const { ask, cluster_id, floor } = message as { ask: string; cluster_id: string; floor: number };
      if (cluster_id === id && floor === 2) world.bus.publish(FLOOR_HELD_TOPIC, { ask });
    });
    expect((await admin.api.post(`/clusters/${id}/rotate-token`)).body.enforcement).toBe("in_force");
    unsubscribe();
  });

  test("[CL38] is pending where the hub does not answer, and has happened all the same", async () => {
    const { id } = await registeredCluster(admin.api, org);
    await connectOperator(db, id, world.clock.now());
    expect((await admin.api.post(`/clusters/${id}/rotate-token`)).body).toMatchObject({
      token_version: 2,
      enforcement: "pending",
    });
    expect(await tokensOf(id)).toEqual({ token_version: 2, token_floor: 2 });
  });
});

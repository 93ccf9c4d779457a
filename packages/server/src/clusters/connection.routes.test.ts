import { startWorld } from "@binnacle/world";
import { decodeJwt } from "jose";
import { afterAll, describe, expect, test } from "vitest";
import { bindRole } from "../access/bindings.fixture.ts";
import { FLOOR_HELD_TOPIC, FLOOR_RAISED_TOPIC } from "../hub/ports.ts";
import { newId } from "../id.adapter.ts";
import { productVersion } from "../product-version.adapter.ts";
import { connectOperator, registeredCluster } from "./clusters.fixture.ts";

const world = await startWorld({ env: { BINNACLE_ROLES: "api", BINNACLE_PUBLIC_URL: "https://binnacle.example.com" } });
const db = world.database.kysely;
const { org, admin, member, stranger } = await world.orgWithPeople();
afterAll(() => world.stop());

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
  test("[CL30] GET /clusters/{id}/install-instructions says where to connect, and has no secret", async () => {
    const { id, connection_token } = await registeredCluster(admin.api, org);
    const { status, body } = await member.api.get(`/clusters/${id}/install-instructions`);
    expect([status, body]).toEqual([
      200,
      {
        status: "pending",
        cli_command: null,
        hub_url: "wss://binnacle.example.com/hub/v1",
        namespace: "binnacle-system",
        chart_ref: `https://binnacle.example.com/charts/binnacle-operator-${await productVersion()}.tgz`,
        operator_image: `registry.example.com/binnacle/operator:${await productVersion()}`,
        docs_url: "https://binnacle.example.com/charts/README.md",
        upgrade_command: expect.stringMatching(/^helm upgrade binnacle-operator /),
      },
    ]);
    expect(JSON.stringify(body)).not.toContain(connection_token);
    expect((await stranger.api.get(`/clusters/${id}/install-instructions`)).status).toBe(404);
    expect((await world.anyone.get(`/clusters/${id}/install-instructions`)).status).toBe(401);
  });
});

describe("GET /clusters/{id}/install-command", () => {
  test("[CL31] GET /clusters/{id}/install-command is a 410 for every signed-in user", async () => {
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
  test("[CL35] agent-credentials returns a token of the next version, and earlier tokens keep working", async () => {
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

  test("[CL35] concurrent requests for agent-credentials get a version each", async () => {
    const { id } = await registeredCluster(admin.api, org);
    const mint = () => admin.api.post(`/clusters/${id}/agent-credentials`);
    const answers = await Promise.all(Array.from({ length: 5 }, mint));
    expect(answers.map(({ body }) => body.agent_jwt.token_version).sort()).toEqual([2, 3, 4, 5, 6]);
  });

  test("[CL34] [CL36] agent-credentials says when the token expires, and has no repository credential", async () => {
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
        chart_ref: `https://binnacle.example.com/charts/binnacle-operator-${await productVersion()}.tgz`,
      },
    });
  });

  test("[CL35] agent-credentials is for administrators of the cluster", async () => {
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
  test("[CL37] rotate-token answers with the install command of the registration with the new token", async () => {
    const { id, connection_token, install_command } = await registeredCluster(admin.api, org);
    const { body } = await admin.api.post(`/clusters/${id}/rotate-token`);
    expect(body.token).not.toBe(connection_token);
    expect(body.install_command).toBe(install_command.replace(connection_token, body.token));
  });

  test("[CL37] rotate-token raises the floor to the new token's version", async () => {
    const { id } = await registeredCluster(admin.api, org);
    await admin.api.post(`/clusters/${id}/agent-credentials`);
    const rotated = await admin.api.post(`/clusters/${id}/rotate-token`);
    expect(rotated).toMatchObject({ status: 200, body: { token_version: 3, enforcement: "in_force" } });
    expect(Object.keys(rotated.body).sort()).toEqual(["enforcement", "install_command", "token", "token_version"]);
    expect(decodeJwt(rotated.body.token)).toMatchObject({ sub: id, ver: 3 });
    expect(await tokensOf(id)).toEqual({ token_version: 3, token_floor: 3 });
    expect(await auditOf(id, "cluster.rotate_token")).toEqual([{ changes: { token_version: 3, token_floor: 3 } }]);
  });

  test("[CL37] rotate-token takes no CLI token, and is for administrators of the cluster", async () => {
    const { id } = await registeredCluster(admin.api, org);
    const path = `/clusters/${id}/rotate-token`;
    const { body } = await admin.api.post("/cli-tokens", { name: "x", scopes: ["clusters:register"] });
    const token = world.anyone.with({ authorization: `Bearer ${body.token}` });
    expect((await token.post(path)).status).toBe(403);
    expect((await member.api.post(path)).status).toBe(403);
    expect((await stranger.api.post(path)).status).toBe(404);
    expect(await tokensOf(id)).toEqual({ token_version: 1, token_floor: 0 });
  });

  test("[CL38] rotate-token is in_force when the hub that holds the session confirms the floor", async () => {
    const { id } = await registeredCluster(admin.api, org);
    await connectOperator(db, id, world.clock.now());
    const unsubscribe = world.bus.subscribe(FLOOR_RAISED_TOPIC, (message) => {
      const { ask, cluster_id, floor } = message as { ask: string; cluster_id: string; floor: number };
      if (cluster_id === id && floor === 2) world.bus.publish(FLOOR_HELD_TOPIC, { ask });
    });
    expect((await admin.api.post(`/clusters/${id}/rotate-token`)).body.enforcement).toBe("in_force");
    unsubscribe();
  });

  test("[CL38] rotate-token is pending when the hub does not answer, and the floor is raised all the same", async () => {
    const { id } = await registeredCluster(admin.api, org);
    await connectOperator(db, id, world.clock.now());
    expect((await admin.api.post(`/clusters/${id}/rotate-token`)).body).toMatchObject({
      token_version: 2,
      enforcement: "pending",
    });
    expect(await tokensOf(id)).toEqual({ token_version: 2, token_floor: 2 });
  });
});

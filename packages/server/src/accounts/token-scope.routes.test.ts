import type { Scope } from "@binnacle/contract";
import { type Client, type Person, startWorld } from "@binnacle/world";
import { afterAll, describe, expect, test } from "vitest";
import { AWS_KEYS } from "../clusters/clusters.fixture.ts";
import { newId } from "../id.adapter.ts";

const world = await startWorld({ env: { BINNACLE_ROLES: "api" } });
const { org, cluster, project, admin: ada } = await world.projectWithPeople();
afterAll(() => world.stop());

const bearer = (token: string) => world.anyone.with({ authorization: `Bearer ${token}` });
async function tokenOf({ api }: Person, ...scopes: Scope[]): Promise<Client> {
  return bearer((await api.post("/cli-tokens", { name: "ci", scopes })).body.token);
}

const word = () => `w${newId().slice(-12)}`;
const appBody = () => ({
  name: word(),
  project_id: project,
  components: [{ name: "web", workload_spec: { image: "nginx:1.29" } }],
});

const NO_TOKEN = "This operation takes no CLI token; sign in as a user.";

describe("the scope `read`", () => {
  test("[CT35] a CLI token with the scope `read` permits every read of its user, and /user/me", async () => {
    const token = await tokenOf(ada, "read");
    expect(await token.get("/user/me")).toMatchObject({
      status: 200,
      body: { id: ada.id, organizations: [{ id: org }] },
    });
    for (const path of ["/bundles", "/orgs", "/projects", "/apps", `/clusters/${cluster}`, `/orgs/${org}/audit-log`]) {
      expect({ path, status: (await token.get(path)).status }).toEqual({ path, status: 200 });
    }
  });

  test("[CT35] a CLI token with the scope `read` changes nothing", async () => {
    const token = await tokenOf(ada, "read");
    const body = appBody();
    const refused = await token.post("/apps", body);
    expect(refused).toMatchObject({ status: 403, body: { detail: "The CLI token lacks the scope write." } });
    expect((await ada.api.get(`/apps?project_id=${project}`)).body.data).not.toContainEqual(
      expect.objectContaining({ name: body.name }),
    );
  });

  test("[CT35] a CLI token with the scopes `read` and `write` sees no more than its user", async () => {
    const stranger = await world.person();
    const token = await tokenOf(stranger, "read", "write");
    expect((await token.get(`/projects/${project}`)).status).toBe(404);
    expect((await token.get(`/orgs/${org}`)).status).toBe(403);
  });

  test("[CT41] a superuser's CLI token with `read` and `write` gets no secret, no members and no role bindings", async () => {
    const token = await tokenOf(world.admin, "read", "write");
    for (const [method, path] of [
      ["GET", `/clusters/${cluster}/ssh-key`],
      ["POST", `/clusters/${cluster}/rotate-token`],
      ["GET", `/orgs/${org}/members`],
      ["GET", `/clusters/${cluster}/rbac`],
      ["GET", `/projects/${project}/rbac`],
      ["GET", "/sessions"],
      ["GET", "/cli-tokens"],
      ["GET", "/users"],
      ["GET", `/user/${world.admin.id}`],
      ["DELETE", `/user/${world.admin.id}`],
      ["GET", "/auth/cli/device/BCDF-GHJK"],
    ] as const) {
      expect({ path, ...(await token.send(method, path)) }).toMatchObject({
        path,
        status: 403,
        body: { detail: NO_TOKEN },
      });
    }
  });

  test.each([
    ["POST", "agent-credentials", "clusters:register", undefined],
    ["POST", "install-events", "install:report", { stage: "preflight", status: "started" }],
    ["PUT", "bundle", "install:report", { bundle_version: "1.3", profiles: [], ha_tier: "ha" }],
    ["GET", "bundle", "clusters:read or clusters:register", undefined],
  ])("[CT75] %s /clusters/{id}/%s takes neither `read` nor `write`, but the scope %s", async (...row) => {
    const [method, path, needed, body] = row;
    const token = await tokenOf(world.admin, "read", "write");
    const refused = await token.send(method, `/clusters/${cluster}/${path}`, { ...(body ? { body } : {}) });
    expect(refused).toMatchObject({ status: 403, body: { detail: `The CLI token lacks the scope ${needed}.` } });
  });

  test("[CT41] a superuser's CLI token with `read` and `write` creates no session, token, member or password", async () => {
    const token = await tokenOf(world.admin, "read", "write");
    const { user_code } = (await world.anyone.post("/auth/cli/device", { client_name: "thief", kind: "session" })).body;
    for (const [method, path, body] of [
      ["POST", "/auth/cli/device/approval", { user_code, approved: true }],
      ["POST", "/cli-tokens", { name: "mine", scopes: ["write"] }],
      ["POST", "/user", { name: "Thief", username: word(), email: `${word()}@example.com`, password: "a long secret" }],
      ["POST", `/orgs/${org}/members`, { user_id: ada.id, role: "admin" }],
      ["POST", `/projects/${project}/rbac`, { user_id: ada.id, role: "admin" }],
      ["PATCH", `/user/${world.admin.id}`, { password: "a new password", current_password: "binnacle" }],
      ["PATCH", `/user/${ada.id}/disabled`, { disabled: true }],
      ["POST", `/orgs/${org}/credentials`, { name: word(), ...AWS_KEYS }],
    ] as const) {
      const { status } = await token.send(method, path, { body });
      expect({ path, status }).toEqual({ path, status: 403 });
    }
  });
});

describe("the scope `write`", () => {
  test("[CT35] a CLI token with the scope `write` permits the changes of its user, and no read", async () => {
    const token = await tokenOf(ada, "write");
    expect((await token.post("/apps", appBody())).status).toBe(201);
    const detail = "The CLI token lacks the scope read.";
    for (const path of ["/apps", "/user/me"]) {
      expect(await token.get(path)).toMatchObject({ status: 403, body: { detail } });
    }
  });

  test("[CT35] a CLI token with the scope `write` is limited by the roles of its user", async () => {
    const member = await world.person({ org });
    const token = await tokenOf(member, "read", "write");
    expect((await token.post("/apps", appBody())).status).toBe(404);
    expect((await token.put(`/orgs/${org}`, { name: "taken over" })).status).toBe(403);
  });

  test("[CT35] a change with a CLI token is in the audit log with the user and via cli_token", async () => {
    const token = await tokenOf(ada, "write");
    const answer = await token.post("/apps", appBody());
    const entry = await world.database.kysely
      .selectFrom("audit_log")
      .select(["actor_id", "via"])
      .where("request_id", "=", answer.headers.get("x-request-id"))
      .executeTakeFirst();
    expect(entry).toEqual({ actor_id: ada.id, via: "cli_token" });
  });
});

describe("DELETE /cli-tokens/self", () => {
  test("[CT40] DELETE /cli-tokens/self revokes the token of the request, whatever its scopes, and no other", async () => {
    const person = await world.person();
    const [one, other] = [await tokenOf(person, "bundles:read"), await tokenOf(person, "read")];
    expect((await one.delete("/cli-tokens/self")).status).toBe(204);
    expect((await one.get("/version")).status).toBe(401);
    expect((await one.delete("/cli-tokens/self")).status).toBe(401);
    expect((await other.get("/user/me")).status).toBe(200);
  });

  test("[CT40] DELETE /cli-tokens/self with a session is a 403 and leaves the session open", async () => {
    const person = await world.person();
    expect((await person.api.delete("/cli-tokens/self")).status).toBe(403);
    expect((await person.api.get("/user/me")).status).toBe(200);
    expect((await world.anyone.delete("/cli-tokens/self")).status).toBe(401);
  });
});

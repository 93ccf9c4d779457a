import { SCOPES } from "@binnacle/contract";
import { type Client, type Person, startWorld } from "@binnacle/world";
import { afterAll, describe, expect, test } from "vitest";
import { newId } from "../id.adapter.ts";

const world = await startWorld({ env: { BINNACLE_ROLES: "api" } });
const replica = await startWorld({ beside: world });
const { org, admin, member, stranger } = await world.orgWithPeople();
afterAll(async () => {
  await replica.stop();
  await world.stop();
});

async function cliToken(person: Person, ...scopes: string[]): Promise<Client> {
  const { token } = (await person.api.post("/cli-tokens", { name: "laptop", scopes })).body;
  return world.anyone.with({ authorization: `Bearer ${token}` });
}

const MALFORMED = { name: 7, colour: "red" };
const TAKEN = { name: "demo" };

describe("the order of checks", () => {
  test("[AC3] a missing or revoked credential is reported before a malformed request", async () => {
    const gone = await world.person();
    await gone.api.delete(`/user/${gone.id}`);
    for (const api of [world.anyone, gone.api]) {
      const refused = await api.put(`/orgs/${org}`, MALFORMED);
      expect(refused).toMatchObject({ status: 401, body: { detail: "User not authenticated." } });
      expect(refused.headers.get("www-authenticate")).toBe("Bearer");
    }
  });

  test("[AC3] a malformed request is reported before what the caller may do", async () => {
    const token = await cliToken(admin, "clusters:read");
    for (const api of [stranger.api, member.api, token]) {
      const refused = await api.put(`/orgs/${org}`, MALFORMED);
      expect(refused.status).toBe(422);
      expect(refused.body.detail).toMatchObject([
        { loc: ["body", "colour"], type: "extra_forbidden" },
        { loc: ["body", "name"], type: "string_type" },
      ]);
    }
    expect((await stranger.api.put(`/orgs/${newId()}`, MALFORMED)).status).toBe(422);
    expect((await stranger.api.get("/orgs/ours")).status).toBe(422);
  });

  test("[AC3] what the caller may do is reported before a conflict", async () => {
    expect((await member.api.put(`/orgs/${org}`, TAKEN)).status).toBe(403);
    expect((await admin.api.put(`/orgs/${newId()}`, TAKEN)).status).toBe(404);
    expect((await admin.api.put(`/orgs/${org}`, TAKEN)).status).toBe(409);
  });
});

describe("an organization in the path", () => {
  test("[AC4] an organization in the path is a 404 where there is none, and a 403 for somebody who is not a member", async () => {
    const unknown = newId();
    for (const path of ["", "/members", "/audit-log"]) {
      expect(await stranger.api.get(`/orgs/${unknown}${path}`)).toMatchObject({
        status: 404,
        body: { detail: "Organization not found." },
      });
      expect(await stranger.api.get(`/orgs/${org}${path}`)).toMatchObject({
        status: 403,
        body: { detail: expect.stringMatching(/^Only (members|administrators) of the organization may do this\.$/) },
      });
    }
    expect((await world.admin.api.get(`/orgs/${unknown}`)).status).toBe(404);
  });
});

describe("a CLI token", () => {
  test("[AC10] a CLI token is refused where the operation accepts none, whatever its scopes", async () => {
    const token = await cliToken(world.admin, ...SCOPES);
    const refusal = { status: 403, body: { detail: "This operation takes no CLI token; sign in as a user." } };
    expect(await token.get(`/orgs/${org}/members`)).toMatchObject(refusal);
    expect(await token.get("/sessions")).toMatchObject(refusal);
    expect(await token.post("/cli-tokens", { name: "more", scopes: ["clusters:read"] })).toMatchObject(refusal);
  });

  test("[AC10] a refused CLI token is told which scope it lacks", async () => {
    const token = await cliToken(world.admin, "install:report");
    expect(await token.get("/version")).toMatchObject({
      status: 403,
      body: { detail: "The CLI token lacks the scope bundles:read." },
    });
    expect(await token.get("/orgs")).toMatchObject({
      status: 403,
      body: { detail: "The CLI token lacks the scope clusters:read or clusters:register or read." },
    });
  });

  test("[AC11] a CLI token sees what its user sees", async () => {
    const idsSeenBy = async (api: Client) =>
      (await api.get("/orgs")).body.data.map(({ id }: { id: string }) => id) as string[];
    expect(await idsSeenBy(await cliToken(member, "clusters:read"))).toEqual([org]);
    expect(await idsSeenBy(await cliToken(stranger, "clusters:register"))).toEqual([]);
  });
});

describe("a role that is taken away", () => {
  test("[AC12] a role that is taken away is gone with the next request, on every replica", async () => {
    const person = await world.person({ org, role: "admin" });
    const elsewhere = replica.anyone.with({ authorization: `Bearer ${person.token}` });
    expect((await elsewhere.get(`/orgs/${org}/audit-log`)).status).toBe(200);
    await admin.api.put(`/orgs/${org}/members/${person.id}`, { role: "member" });
    expect((await elsewhere.get(`/orgs/${org}/audit-log`)).status).toBe(403);
    expect((await elsewhere.get(`/orgs/${org}`)).status).toBe(200);
    await admin.api.delete(`/orgs/${org}/members/${person.id}`);
    expect((await elsewhere.get(`/orgs/${org}`)).status).toBe(403);
  });
});

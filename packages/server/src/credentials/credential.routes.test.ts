import { startWorld } from "@binnacle/world";
import { afterAll, describe, expect, test } from "vitest";
import { AWS_KEYS, provisionedCluster, storedCredential, uniqueName } from "../clusters/clusters.fixture.ts";
import { newId } from "../id.adapter.ts";
import { createVault, parseVaultKeys } from "../vault/vault.ts";

const VAULT_KEYS = `test:${Buffer.alloc(32, 7).toString("base64")}`;

const world = await startWorld({ env: { BINNACLE_ROLES: "api", BINNACLE_VAULT_KEYS: VAULT_KEYS } });
const db = world.database.kysely;
const { org, admin, member, stranger } = await world.orgWithPeople();
const credentials = `/orgs/${org}/credentials`;
afterAll(() => world.stop());

const secretOf = async (id: string) => {
  const row = await db.selectFrom("cloud_credentials").selectAll().where("id", "=", id).executeTakeFirstOrThrow();
  const place = { table: "cloud_credentials", row: id, column: "sealed_secret" };
  return { row, secret: createVault(parseVaultKeys(VAULT_KEYS)).open(row.sealed_secret ?? "", place) };
};

describe("POST /orgs/{id}/credentials", () => {
  test("[CR2] POST /orgs/{id}/credentials answers without the secret, [CR3] and with the key id masked", async () => {
    const name = uniqueName("aws");
    const created = await admin.api.post(credentials, { name, ...AWS_KEYS });
    const now = world.clock.now().toISOString();
    expect([created.status, created.body]).toEqual([
      201,
      {
        id: created.body.id,
        org_id: org,
        name,
        provider: "aws",
        region: "eu-central-1",
        access_key_id: "****MPLE",
        role_arn: null,
        snapshot_bucket: null,
        permissions_boundary: null,
        created_at: now,
        updated_at: now,
      },
    ]);
    expect((await admin.api.get(`/credentials/${created.body.id}`)).body).toEqual(created.body);
  });

  test("[CR4] POST /orgs/{id}/credentials seals the secret, and shows it nowhere", async () => {
    const name = uniqueName("aws");
    const created = await admin.api.post(credentials, { name, ...AWS_KEYS });
    const { row, secret } = await secretOf(created.body.id);
    expect(secret).toBe(AWS_KEYS.secret_access_key);
    const audit = await db.selectFrom("audit_log").selectAll().execute();
    const lists = await Promise.all([admin.api.get(credentials), admin.api.get(`/orgs/${org}/audit-log`)]);
    for (const said of [created.body, row, audit, lists.map(({ body }) => body), world.logged]) {
      expect(JSON.stringify(said)).not.toContain(AWS_KEYS.secret_access_key);
    }
  });

  test("[CR5] POST /orgs/{id}/credentials needs all fields of aws, and names all that are missing at once", async () => {
    const refused = await admin.api.post(credentials, { name: uniqueName("aws"), provider: "aws" });
    expect(refused.status).toBe(422);
    expect(refused.body.detail.map(({ loc, type }: { loc: string[]; type: string }) => [loc[1], type])).toEqual([
      ["region", "missing"],
      ["access_key_id", "missing"],
      ["secret_access_key", "missing"],
    ]);
  });

  test("[CR6] POST /orgs/{id}/credentials takes providers to come, and refuses unknown providers and unknown fields", async () => {
    expect((await admin.api.post(credentials, { name: uniqueName("do"), provider: "do" })).body).toMatchObject({
      provider: "do",
      region: null,
      access_key_id: null,
    });
    const body = { name: uniqueName("x"), ...AWS_KEYS };
    expect(await admin.api.post(credentials, { ...body, provider: "manual" })).toMatchObject({
      status: 422,
      body: { detail: [{ loc: ["body", "provider"], type: "enum" }] },
    });
    expect(await admin.api.post(credentials, { ...body, session_token: "x" })).toMatchObject({
      status: 422,
      body: { detail: [{ loc: ["body", "session_token"], type: "extra_forbidden" }] },
    });
  });

  test("[CR7] POST /orgs/{id}/credentials refuses a name that is taken", async () => {
    const name = uniqueName("aws");
    await admin.api.post(credentials, { name, ...AWS_KEYS });
    expect(await admin.api.post(credentials, { name, ...AWS_KEYS })).toMatchObject({
      status: 409,
      body: { detail: "A credential with this name already exists." },
    });
    expect((await admin.api.post(credentials, { name: "", ...AWS_KEYS })).status).toBe(422);
  });

  test("[CR1] POST /orgs/{id}/credentials is for administrators", async () => {
    const body = { name: uniqueName("aws"), ...AWS_KEYS };
    expect((await world.anyone.post(credentials, body)).status).toBe(401);
    expect((await member.api.post(credentials, body)).status).toBe(403);
    expect((await stranger.api.post(credentials, body)).status).toBe(403);
  });
});

describe("reading credentials", () => {
  test("[CR1] GET /orgs/{id}/credentials lists newest first for administrators, and is refused to everybody else", async () => {
    const own = await world.org();
    const operator = await world.person({ org: own, role: "admin" });
    const [older, newer] = [await storedCredential(operator.api, own), await storedCredential(operator.api, own)];
    const { status, body } = await operator.api.get(`/orgs/${own}/credentials`);
    expect([status, body.total_count, body.page, body.has_more]).toEqual([200, 2, 1, false]);
    expect(body.data.map(({ id }: { id: string }) => id)).toEqual([newer, older]);
    expect((await operator.api.get(`/orgs/${own}/credentials?page=2&items_per_page=1`)).body.data).toMatchObject([
      { id: older },
    ]);
    expect((await member.api.get(credentials)).status).toBe(403);
    expect((await stranger.api.get(credentials)).status).toBe(403);
    expect((await world.anyone.get(credentials)).status).toBe(401);
  });

  test("[CR8] reading, changing and deleting a credential is a 404 for members and strangers", async () => {
    const path = `/credentials/${await storedCredential(admin.api, org)}`;
    for (const { api } of [member, stranger]) {
      for (const answer of [await api.get(path), await api.patch(path, { name: "x" }), await api.delete(path)]) {
        expect(answer).toMatchObject({ status: 404, body: { detail: "Credential not found." } });
      }
    }
    expect((await admin.api.get(`/credentials/${newId()}`)).status).toBe(404);
    expect((await world.anyone.get(path)).status).toBe(401);
    expect((await world.admin.api.get(path)).status).toBe(200);
  });
});

describe("PATCH /credentials/{id}", () => {
  test("[CR9] PATCH /credentials/{id} renames and rotates, and keeps the fields that are left out", async () => {
    const id = await storedCredential(admin.api, org);
    const name = uniqueName("renamed");
    world.clock.advance(1000);
    expect((await admin.api.patch(`/credentials/${id}`, { name })).body).toMatchObject({
      name,
      region: "eu-central-1",
      access_key_id: "****MPLE",
      updated_at: world.clock.now().toISOString(),
    });
    const rotated = { access_key_id: "AKIAI44QH8DHBNEWNEW", secret_access_key: "another/secret" };
    expect(await admin.api.patch(`/credentials/${id}`, rotated)).toMatchObject({
      status: 200,
      body: { name, access_key_id: "****WNEW" },
    });
    const { row, secret } = await secretOf(id);
    expect([row.settings, secret]).toEqual([{ access_key_id: rotated.access_key_id }, rotated.secret_access_key]);
  });

  test("[CR9] PATCH /credentials/{id} refuses half a key, another provider and an unknown field", async () => {
    const path = `/credentials/${await storedCredential(admin.api, org)}`;
    expect(await admin.api.patch(path, { access_key_id: "AKIAI44QH8DHBEXAMPLE" })).toMatchObject({
      status: 422,
      body: { detail: [{ loc: ["body", "secret_access_key"], type: "missing" }] },
    });
    expect((await admin.api.patch(path, { provider: "gcp" })).status).toBe(422);
  });

  test("[CR7] PATCH /credentials/{id} refuses the name of another credential", async () => {
    const [one, other] = [await storedCredential(admin.api, org), await storedCredential(admin.api, org)];
    const { name } = (await admin.api.get(`/credentials/${other}`)).body;
    expect((await admin.api.patch(`/credentials/${one}`, { name })).status).toBe(409);
  });

  test("[CR11] PATCH /credentials/{id} is in the audit log, where the secret is named and not shown", async () => {
    const id = await storedCredential(admin.api, org);
    await admin.api.patch(`/credentials/${id}`, { secret_access_key: "another/secret" });
    await admin.api.delete(`/credentials/${id}`);
    const rows = await db
      .selectFrom("audit_log")
      .select(["action", "changes"])
      .where("resource_id", "=", id)
      .orderBy("id")
      .execute();
    expect(rows).toMatchObject([
      { action: "credential.create", changes: { provider: "aws", secret_access_key: "changed" } },
      { action: "credential.update", changes: { secret_access_key: "changed" } },
      { action: "credential.delete" },
    ]);
  });
});

describe("DELETE /credentials/{id}", () => {
  test("[CR10] DELETE /credentials/{id} deletes a credential that no cluster uses", async () => {
    const path = `/credentials/${await storedCredential(admin.api, org)}`;
    expect((await admin.api.delete(path)).status).toBe(204);
    expect((await admin.api.get(path)).status).toBe(404);
    expect((await admin.api.delete(path)).status).toBe(404);
  });

  test("[CR10] DELETE /credentials/{id} refuses a credential in use, and names the cluster", async () => {
    const id = await storedCredential(admin.api, org);
    const { name } = await provisionedCluster(admin.api, org, id);
    const refused = await admin.api.delete(`/credentials/${id}`);
    expect(refused.status).toBe(409);
    expect(refused.body.detail).toContain(name);
  });
});

test("[CR292] the API lists the providers that clusters can be made at, with the fields of their credentials", async () => {
  const { status, body } = await admin.api.get("/cloud-providers");
  expect(status).toBe(200);
  const aws = body.data.find(({ provider }: { provider: string }) => provider === "aws");
  expect(aws.name).toBe("AWS");
  const READ_WHOLE = { secret: false, masked: false, multiline: false, optional: false, hint: null };
  expect(aws.fields).toEqual([
    { name: "region", label: "Region", example: "eu-central-1", ...READ_WHOLE },
    { name: "access_key_id", label: "Access key id", example: "AKIAIOSFODNN7EXAMPLE", ...READ_WHOLE, masked: true },
    {
      name: "secret_access_key",
      label: "Secret access key",
      example: "<SECRET_ACCESS_KEY>",
      ...READ_WHOLE,
      secret: true,
    },
    {
      name: "role_arn",
      label: "Role",
      example: "arn:aws:iam::123456789012:role/binnacle",
      ...READ_WHOLE,
      optional: true,
      hint: expect.stringContaining("external id"),
    },
    {
      name: "snapshot_bucket",
      label: "Bucket for snapshots",
      example: "example-cluster-snapshots",
      ...READ_WHOLE,
      optional: true,
      hint: expect.stringContaining("snapshots"),
    },
    {
      name: "permissions_boundary",
      label: "Permissions boundary",
      example: "arn:aws:iam::123456789012:policy/binnacle-boundary",
      ...READ_WHOLE,
      optional: true,
      hint: expect.stringContaining("limits the roles"),
    },
  ]);
  expect(aws.instance_types).toContain(aws.default_instance_type);
  const given = Object.fromEntries(aws.fields.map(({ name, example }: Record<string, string>) => [name, example]));
  const credential = { name: "from the form", provider: "aws", ...given };
  expect((await admin.api.post(`/orgs/${org}/credentials`, credential)).status).toBe(201);
});

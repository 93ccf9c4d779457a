import { type Person, startWorld } from "@binnacle/world";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { type CloudAccess, CloudRefusal } from "../cloud/provider.ts";
import { AWS_KEYS, checkingCloud, storedCredential, uniqueName } from "../clusters/clusters.fixture.ts";
import { checkAccess } from "./credential-check.runner.ts";

type Check = Parameters<typeof checkingCloud>[0];
const SUFFICES = {
  identity: "arn:aws:iam::123456789012:user/binnacle",
  permissions: [
    { action: "ec2:RunInstances", allowed: true },
    { action: "iam:PassRole", allowed: null },
  ],
  quotas: [{ name: "vCPU", limit: 64, used: 12 }],
};

let admin: Person;
let check: Check;

const aws = checkingCloud((access, signal) => check(access, signal));
const world = await startWorld({ env: { BINNACLE_ROLES: "api" }, clouds: { aws } });
const org = await world.org();
afterAll(() => world.stop());
/** Everybody has their own number of checks. */
beforeEach(async () => {
  check = async () => SUFFICES;
  admin = await world.person({ org, role: "admin" });
});

const checked = async (api = admin.api) => api.post(`/credentials/${await storedCredential(admin.api, org)}/check`);

describe("POST /credentials/{id}/check", () => {
  test("[PV36] a check of a credential asks the provider with the opened key, and tells identity, permissions and quotas", async () => {
    let given: CloudAccess | undefined;
    check = async (access) => {
      given = access;
      return SUFFICES;
    };
    const { status, body } = await checked();
    expect([status, body]).toEqual([
      200,
      {
        ok: true,
        checked_at: world.clock.now().toISOString(),
        identity: SUFFICES.identity,
        error: null,
        permissions: SUFFICES.permissions,
        quotas: [{ name: "vCPU", limit: 64, used: 12, ok: true }],
      },
    ]);
    const { region, access_key_id, secret_access_key } = AWS_KEYS;
    expect(given).toEqual({ region, access_key_id, secret_access_key, organization_id: org });
  });

  test("[CR600] a role is assumed with the organization of the credential, which no request can choose", async () => {
    let given: CloudAccess | undefined;
    check = async (access) => {
      given = access;
      return SUFFICES;
    };
    const role_arn = "arn:aws:iam::123456789012:role/binnacle";
    const stored = { name: "by a role", ...AWS_KEYS, role_arn };
    for (const chosen of ["external_id", "organization_id"]) {
      const other = "0192f0c1-2d3e-7f45-8a6b-9c0d1e2f3a4b";
      const path = `/orgs/${org}/credentials`;
      expect(await admin.api.post(path, { ...stored, [chosen]: other })).toMatchObject({ status: 422 });
    }
    const { body, status } = await admin.api.post(`/orgs/${org}/credentials`, stored);
    expect([status, body.role_arn]).toEqual([201, role_arn]);
    expect((await admin.api.post(`/credentials/${body.id}/check`)).status).toBe(200);
    expect(given).toMatchObject({ role_arn, organization_id: org });
    expect((await admin.api.patch(`/credentials/${body.id}`, { organization_id: org })).status).toBe(422);
  });

  test.each([
    "binnacle",
    "arn:aws:iam::1:role/x",
    "arn:aws:iam::123456789012:user/x",
    "arn:aws:iam::123456789012:role/x\ny",
  ])("[CR600] the text %j is not a role, and is refused", async (role_arn) => {
    const stored = { name: "by no role", ...AWS_KEYS, role_arn };
    expect((await admin.api.post(`/orgs/${org}/credentials`, stored)).status).toBe(422);
  });

  test.each([
    ["a missing permission", { ...SUFFICES, permissions: [{ action: "ec2:RunInstances", allowed: false }] }],
    ["a quota that is used up", { ...SUFFICES, quotas: [{ name: "vCPU", limit: 5, used: 5 }] }],
  ])("[PV36] a check of a credential is not ok with %s", async (_, found) => {
    check = async () => found;
    expect((await checked()).body).toMatchObject({ ok: false, error: null, identity: SUFFICES.identity });
  });

  test("[PV37] a check of a credential tells why the provider has refused it, without the secret", async () => {
    const { secret_access_key: secret } = AWS_KEYS;
    check = () =>
      Promise.reject(new CloudRefusal({ code: "bad_credentials", message: `No key ${secret} here. Rotate it.` }));
    expect((await checked()).body).toMatchObject({
      ok: false,
      identity: null,
      error: { code: "bad_credentials", message: "No key **** here. Rotate it." },
    });
    check = () => Promise.reject(new Error(`request failed: ${secret}`));
    expect((await checked()).body).toMatchObject({ ok: false, error: { code: "failed" } });
    expect(world.logged.join("")).not.toContain(secret);
  });

  test("[PV37] a secret that is a part of ordinary words changes neither the code nor the sentence", async () => {
    const failure = { code: "unreachable", message: "AWS could not be reached." } as const;
    const log = { warn: () => undefined } as never;
    for (const secret_access_key of ["r", "unreachable"]) {
      const access = { region: "eu-west-1", access_key_id: "a", secret_access_key };
      const refusing = { check: () => Promise.reject(new CloudRefusal(failure)) };
      expect(await checkAccess(refusing, access, new AbortController().signal, log)).toEqual(failure);
    }
  });

  test("[PV38] a check of a credential ends at its deadline, also if the provider ignores it", async () => {
    const never = { check: () => new Promise<never>(() => undefined) };
    const access = { region: "r", access_key_id: "a", secret_access_key: "s" };
    const log = { warn: () => undefined } as never;
    const found = await checkAccess(never, access, new AbortController().signal, log, 1);
    expect(found).toMatchObject({ code: "timed_out" });
  });

  test("[PV39] a check of a credential is for administrators, and is a 422 for providers that are not supported yet", async () => {
    const member = await world.person({ org });
    expect((await checked(member.api)).status).toBe(404);
    const stored = await admin.api.post(`/orgs/${org}/credentials`, { name: uniqueName("gcp"), provider: "gcp" });
    const { status, body } = await admin.api.post(`/credentials/${stored.body.id}/check`);
    expect([status, body.detail[0].msg]).toEqual([422, expect.stringContaining("coming soon")]);
  });

  test("[CR295] a check of a credential that lacks a field of its provider is a 422 that names the field", async () => {
    const id = await storedCredential(admin.api, org);
    await world.database.kysely.updateTable("cloud_credentials").set({ settings: "{}" }).where("id", "=", id).execute();
    const { status, body } = await admin.api.post(`/credentials/${id}/check`);
    expect([status, body.detail[0].msg]).toEqual([422, expect.stringContaining("lacks access_key_id")]);
  });

  test("[PV40] a check of a credential is refused after twenty in a minute, and is in the audit log", async () => {
    const path = `/credentials/${await storedCredential(admin.api, org)}/check`;
    for (let checks = 0; checks < 20; checks++) expect((await admin.api.post(path)).status).toBe(200);
    expect((await admin.api.post(path)).status).toBe(429);
    const other = await world.person({ org, role: "admin" });
    expect((await other.api.post(path)).status).toBe(200);
    const { body } = await admin.api.get(`/orgs/${org}/audit-log?action=credential.check`);
    expect(body.data[0]).toMatchObject({ changes: { ok: true, error_code: null } });
  });
});

import { type Person, startWorld, type World } from "@binnacle/world";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
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

let world: World;
let org: string;
let admin: Person;
let check: Check;

beforeAll(async () => {
  const aws = checkingCloud((access, signal) => check(access, signal));
  world = await startWorld({ env: { BINNACLE_ROLES: "api" }, clouds: { aws } });
  org = await world.org();
});
afterAll(() => world?.stop());
/** Everybody has their own number of checks. */
beforeEach(async () => {
  check = async () => SUFFICES;
  admin = await world.person({ org, role: "admin" });
});

const checked = async (api = admin.api) => api.post(`/credentials/${await storedCredential(admin.api, org)}/check`);

describe("POST /credentials/{id}/check", () => {
  test("[PV36] asks the provider with the opened key, and tells identity, permissions and quotas", async () => {
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
    const { region, access_key_id: accessKeyId, secret_access_key: secretAccessKey } = AWS_KEYS;
    expect(given).toEqual({ region, accessKeyId, secretAccessKey });
  });

  test.each([
    ["a missing permission", { ...SUFFICES, permissions: [{ action: "ec2:RunInstances", allowed: false }] }],
    ["a quota that is used up", { ...SUFFICES, quotas: [{ name: "vCPU", limit: 5, used: 5 }] }],
  ])("[PV36] is not ok with %s", async (_, found) => {
    check = async () => found;
    expect((await checked()).body).toMatchObject({ ok: false, error: null, identity: SUFFICES.identity });
  });

  test("[PV37] tells why the provider has refused it, without the secret", async () => {
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

  test("[PV38] ends with the deadline, also if the provider ignores it", async () => {
    const never = { check: () => new Promise<never>(() => undefined) };
    const access = { region: "r", accessKeyId: "a", secretAccessKey: "s" };
    const log = { warn: () => undefined } as never;
    const found = await checkAccess(never, access, new AbortController().signal, log, 1);
    expect(found).toMatchObject({ code: "timed_out" });
  });

  test("[PV39] is for administrators, and coming soon for other providers", async () => {
    const member = await world.person({ org });
    expect((await checked(member.api)).status).toBe(404);
    const stored = await admin.api.post(`/orgs/${org}/credentials`, { name: uniqueName("gcp"), provider: "gcp" });
    const { status, body } = await admin.api.post(`/credentials/${stored.body.id}/check`);
    expect([status, body.detail[0].msg]).toEqual([422, expect.stringContaining("coming soon")]);
  });

  test("[PV40] is refused after twenty in a minute, and is in the audit log", async () => {
    const path = `/credentials/${await storedCredential(admin.api, org)}/check`;
    for (let checks = 0; checks < 20; checks++) expect((await admin.api.post(path)).status).toBe(200);
    expect((await admin.api.post(path)).status).toBe(429);
    const other = await world.person({ org, role: "admin" });
    expect((await other.api.post(path)).status).toBe(200);
    const { body } = await admin.api.get(`/orgs/${org}/audit-log?action=credential.check`);
    expect(body.data[0]).toMatchObject({ changes: { ok: true, error_code: null } });
  });
});

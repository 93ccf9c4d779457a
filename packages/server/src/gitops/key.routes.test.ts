import { startWorld } from "@binnacle/world";
import { afterAll, beforeEach, describe, expect, test, vi } from "vitest";
import { registeredCluster } from "../clusters/clusters.fixture.ts";
import { sshSigner } from "../git/ssh-signature.ts";
import { localGit } from "./git-access.fixture.ts";
import { inSync, setGitops, statusOf } from "./gitops.fixture.ts";

const git = await localGit();
const world = await startWorld({ git });
const { org, admin, member } = await world.orgWithPeople();
await setGitops(admin, org);
afterAll(async () => {
  await world.stop();
  await git.close();
});
beforeEach(() => {
  git.isDown = false;
  git.refusesPushes = false;
});

const mint = (cluster: string, api = admin.api) => api.post(`/clusters/${cluster}/agent-credentials`);
const cluster = async () => (await registeredCluster(admin.api, org)).id;
const keysAt = (url: string) => [...(git.deployKeys.get(/([^/]+)\.git$/.exec(url)?.[1] ?? "")?.values() ?? [])];
const states = async (id: string) => (await statusOf(admin, id)).keys.map(({ state }: { state: string }) => state);
const untilStates = (id: string, expected: string[]) =>
  vi.waitFor(async () => expect(await states(id)).toEqual(expected), { timeout: 40_000, interval: 50 });

describe("the key of an agent for the repository of its cluster", () => {
  test("[GO20] agent-credentials make the cluster's repository and a key that writes it, which is shown once", async () => {
    const id = await cluster();
    const minted = await mint(id);
    expect(minted).toMatchObject({
      status: 201,
      body: { repo_credential: { branch: "main", host_key_fingerprints: [git.hostKey.fingerprint], expires_at: null } },
    });
    const { repo_url, private_key, fingerprint, key_id } = minted.body.repo_credential;
    expect(sshSigner(private_key)(Buffer.from("x"))).toContain("SSH SIGNATURE");
    await inSync(admin, id);
    expect(keysAt(repo_url)).toHaveLength(2);
    const status = (await member.api.get(`/clusters/${id}/gitops`)).body;
    expect(status).toMatchObject({ url: repo_url, keys: [{ id: key_id, fingerprint }] });
    const log = JSON.stringify((await admin.api.get(`/orgs/${org}/audit-log`)).body.data);
    const secret = private_key.split("\n")[2];
    expect(JSON.stringify(status) + log + world.logged.join("")).not.toContain(secret);
    expect(log).toContain(fingerprint);
  });

  test.each([
    ["does not answer", 503],
    ["refuses the token", 502],
  ])("[GO21] agent-credentials are refused and nothing is changed while the host %s", async (_, status) => {
    const others = await world.orgWithPeople();
    await setGitops(others.admin, others.org);
    const { id } = await registeredCluster(others.admin.api, others.org);
    if (status === 502) await withToken(others.org, "a token that was revoked");
    git.isDown = status === 503;
    const refused = await mint(id, others.admin.api);
    expect(refused).toMatchObject({
      status,
      body: { detail: expect.stringMatching(/^Nothing was changed, because the Git host/) },
    });
    const { token_version } = await world.database.kysely
      .selectFrom("clusters")
      .select("token_version")
      .where("id", "=", id)
      .executeTakeFirstOrThrow();
    expect(token_version).toBe(1);
    expect((await statusOf(others.admin, id)).keys).toEqual([]);
  });

  test("[GO22] a key that was proven by a push supersedes those before it, which the host forgets after the time of grace", async () => {
    const id = await cluster();
    const { repo_url } = (await mint(id)).body.repo_credential;
    await untilStates(id, ["current"]);
    await mint(id);
    await untilStates(id, ["current", "superseded"]);
    expect(keysAt(repo_url)).toHaveLength(3);
    const { created_at, removed_at } = (await statusOf(admin, id)).keys[1];
    expect(Date.parse(removed_at) - Date.parse(created_at)).toBe(24 * 3_600_000);
    expect(keysAt(repo_url)).toHaveLength(3);
    await world.database.kysely
      .updateTable("gitops_keys")
      .set({ remove_at: world.clock.now() })
      .where("cluster_id", "=", id)
      .where("superseded_at", "is not", null)
      .execute();
    await untilStates(id, ["current"]);
    expect(keysAt(repo_url)).toHaveLength(2);
  });

  test("[GO26] Binnacle's key, the current one and superseded ones may push to the branch, and none that the host has forgotten", async () => {
    const id = await cluster();
    const { repo_url } = (await mint(id)).body.repo_credential;
    const allowed = () => git.pushers.get(`${/([^/]+)\.git$/.exec(repo_url)?.[1]} main`)?.toSorted();
    await untilStates(id, ["current"]);
    await mint(id);
    await untilStates(id, ["current", "superseded"]);
    expect(allowed()).toHaveLength(3);
    expect(allowed()).toEqual(keysAt(repo_url).toSorted());
    await world.database.kysely
      .updateTable("gitops_keys")
      .set({ remove_at: world.clock.now() })
      .where("cluster_id", "=", id)
      .where("superseded_at", "is not", null)
      .execute();
    await untilStates(id, ["current"]);
    await mint(id);
    await untilStates(id, ["current", "superseded"]);
    expect(allowed()).toEqual(keysAt(repo_url).toSorted());
  });

  test("[GO26] the keys of two requests at the same time may both push", async () => {
    const id = await cluster();
    const [one, other] = await Promise.all([mint(id), mint(id)]);
    expect([one?.status, other?.status]).toEqual([201, 201]);
    await untilStates(id, ["current", "superseded"]);
    const { repo_url } = one?.body.repo_credential ?? {};
    const allowed = git.pushers.get(`${/([^/]+)\.git$/.exec(repo_url)?.[1]} main`);
    expect(allowed?.toSorted()).toEqual(keysAt(repo_url).toSorted());
  });

  test("[GO23] a key with which nothing can be pushed supersedes no other, and is tried again", async () => {
    const id = await cluster();
    await mint(id);
    await untilStates(id, ["current"]);
    git.refusesPushes = true;
    expect((await mint(id)).status).toBe(201);
    await vi.waitFor(async () => expect((await statusOf(admin, id)).error).toMatchObject({ code: "refused" }), 20_000);
    expect(await states(id)).toEqual(["unproven", "current"]);
    git.refusesPushes = false;
    await untilStates(id, ["current", "superseded"]);
  });

  test("[GO25] a repeated request with the same Idempotency-Key answers with the same key and leaves no other at the host", async () => {
    const id = await cluster();
    const api = admin.api.with({ "idempotency-key": `mint-${id}` });
    const first = await mint(id, api);
    await untilStates(id, ["current"]);
    const again = await mint(id, api);
    expect(again.body).toEqual(first.body);
    expect(keysAt(first.body.repo_credential.repo_url)).toHaveLength(2);
  });

  test("[CL36] repo_credential is null where the organization has no Git host", async () => {
    const id = await world.org();
    const { id: bare } = await registeredCluster(world.admin.api, id);
    expect(await mint(bare, world.admin.api)).toMatchObject({ status: 201, body: { repo_credential: null } });
    expect(await statusOf(world.admin, bare)).toMatchObject({ state: "off", url: null, keys: [] });
  });
});

async function withToken(orgId: string, token: string) {
  const place = { table: "gitops_settings", row: orgId, column: "sealed_token" };
  await world.database.kysely
    .updateTable("gitops_settings")
    .set({ sealed_token: world.vault.seal(token, place) })
    .where("org_id", "=", orgId)
    .execute();
}

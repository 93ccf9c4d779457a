import { startWorld } from "@binnacle/world";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { HOST_TOKEN, hostKeyOf, localGit } from "./git-access.fixture.ts";
import { SETTINGS, setGitops } from "./gitops.fixture.ts";

const git = await localGit();
const world = await startWorld({ git });
const { org, admin, member, stranger } = await world.orgWithPeople();
afterAll(async () => {
  await world.stop();
  await git.close();
});
beforeEach(() => {
  git.isDown = false;
  git.hostKey = hostKeyOf(1);
});

const { token: _token, ...SHOWN } = SETTINGS;
const goDown = () => {
  git.isDown = true;
  return {};
};
const at = (field: string) => [{ loc: ["body", "settings", "gitops", field] }];
const read = async (id: string) => (await world.admin.api.get(`/org/settings?org_id=${id}`)).body.settings.gitops;

describe("the Git host of an organization", () => {
  test("[GO1] administrators set gitops and members read it, without the token", async () => {
    const set = await setGitops(admin, org);
    const gitops = {
      ...SHOWN,
      ssh_url: null,
      branch: "main",
      author_email_domain: null,
      key_grace_hours: 24,
      host_keys: [hostKeyOf(1)],
      signing_key: expect.stringMatching(/^ssh-ed25519 /),
    };
    expect(set).toMatchObject({ status: 200, body: { settings: { gitops } } });
    expect((await member.api.get(`/org/settings?org_id=${org}`)).body.settings).toEqual({ gitops });
    expect((await setGitops(member, org)).status).toBe(403);
    expect((await setGitops(stranger, org)).status).toBe(404);
  });

  test.each([
    ["a token that the host does not know", () => ({ token: "another" }), "token", /does not know the token/],
    ["a host that does not answer", goDown, "base_url", /did not answer/],
    [
      "keys that the host does not show",
      () => ({ host_keys: [hostKeyOf(2).key] }),
      "host_keys",
      /shows other keys \(SHA256:/,
    ],
  ])(
    "[GO2] setting gitops with %s is a 422 that says so at its field, and changes nothing",
    async (_, given, field, why) => {
      const id = await world.org();
      const refused = await setGitops(world.admin, id, { ...SETTINGS, ...given() });
      expect(refused).toMatchObject({ status: 422, body: { detail: at(field) } });
      expect(refused.body.detail[0].msg).toMatch(why);
      expect(await read(id)).toBeUndefined();
    },
  );

  test.each([
    [{ base_url: "https://user:password@git.example.com" }],
    [{ base_url: "file:///etc" }],
    [{ owner: "../elsewhere" }],
    [{ branch: "a..b" }],
    [{ author_email_domain: "not a domain" }],
    [{ colour: 1 }],
  ])("[GO2] setting gitops with %j is a 422", async (wrong) => {
    expect((await setGitops(world.admin, await world.org(), { ...SETTINGS, ...wrong })).status).toBe(422);
  });

  test.each(["a\nb", "a\r\nb", "a\tb", "a\u0001b", "a\u007fb", "line\n", "töken", "hunter2 "])(
    "[GO2] the token %j, which no header can have, is a 422 at its place",
    async (token) => {
      const id = await world.org();
      expect(await setGitops(world.admin, id, { ...SETTINGS, token })).toMatchObject({
        status: 422,
        body: { detail: at("token") },
      });
      const tested = await world.admin.api.post(`/orgs/${id}/gitops/test`, { gitops: { ...SETTINGS, token } });
      expect(tested).toMatchObject({ status: 422, body: { detail: [{ loc: ["body", "gitops", "token"] }] } });
      expect(JSON.stringify(tested.body)).not.toContain(JSON.stringify(token).slice(1, -1));
    },
  );

  test("[GO2] the private key of gitolite has several lines, and no other control characters", async () => {
    const id = await world.org();
    const settings = { ...SETTINGS, provider: "gitolite", base_url: "ssh://git@git.example.com" };
    const refused = await setGitops(world.admin, id, { ...settings, token: "-----BEGIN\nx\n-----END\n" });
    // The host does not know it; the schema takes it.
    expect(refused.body.detail[0].msg).toMatch(/does not know the token/);
    const wrong = await setGitops(world.admin, id, { ...settings, token: "-----BEGIN\nx\u0000\n" });
    expect(wrong).toMatchObject({ status: 422, body: { detail: at("token") } });
    expect(wrong.body.detail[0].msg).not.toMatch(/does not know the token/);
  });

  test("[GO3] the keys that the host shows at first are pinned, and other keys are refused until they are given", async () => {
    const id = await world.org();
    await setGitops(world.admin, id);
    git.hostKey = hostKeyOf(3);
    const refused = await setGitops(world.admin, id, { ...SETTINGS, branch: "state" });
    expect(refused).toMatchObject({ status: 422, body: { detail: at("host_keys") } });
    expect(await read(id)).toMatchObject({ branch: "main", host_keys: [hostKeyOf(1)] });
    const renewed = await setGitops(world.admin, id, { ...SETTINGS, host_keys: [hostKeyOf(3).key] });
    expect(renewed).toMatchObject({ status: 200, body: { settings: { gitops: { host_keys: [hostKeyOf(3)] } } } });
  });

  test("[GO4] a stored token stays, but is not used for another provider, address or owner", async () => {
    const id = await world.org();
    await setGitops(world.admin, id);
    expect(await setGitops(world.admin, id, { ...SHOWN, branch: "state" })).toMatchObject({ status: 200 });
    for (const moved of [{ base_url: "https://evil.example.com" }, { owner: "others" }, { provider: "gitlab" }]) {
      const refused = await setGitops(world.admin, id, { ...SHOWN, ...moved });
      expect(refused, JSON.stringify(moved)).toMatchObject({ status: 422, body: { detail: at("token") } });
    }
    expect(await read(id)).toMatchObject(SHOWN);
  });

  test("[GO5] the token is sealed, and on record only as changed", async () => {
    const id = await world.org();
    const set = await setGitops(world.admin, id);
    const row = world.database.kysely.selectFrom("gitops_settings").selectAll().where("org_id", "=", id);
    expect(JSON.stringify(await row.executeTakeFirst())).not.toContain(HOST_TOKEN);
    const log = (await world.admin.api.get(`/orgs/${id}/audit-log`)).body.data;
    expect(log[0]).toMatchObject({ action: "org.update_settings", changes: { "gitops.token": "changed" } });
    expect(JSON.stringify([set.body, log, world.logged])).not.toContain(HOST_TOKEN);
  });

  test("[GO6] null switches GitOps off, and switched on again the organization signs with the same key", async () => {
    const id = await world.org();
    const before = (await setGitops(world.admin, id)).body.settings.gitops;
    expect(await setGitops(world.admin, id, null)).toMatchObject({ status: 200, body: { settings: {} } });
    expect(await read(id)).toBeUndefined();
    expect((await setGitops(world.admin, id, SHOWN)).body.detail).toMatchObject(at("token"));
    expect((await setGitops(world.admin, id)).body.settings.gitops).toEqual(before);
  });

  test("[GO8] a setting of an earlier release, which did nothing, is not shown", async () => {
    const id = await world.org();
    const settings = JSON.stringify({ gitops: { repo_url: "git@x:y.git" }, motd: "hello" });
    await world.database.kysely.updateTable("orgs").set({ settings }).where("id", "=", id).execute();
    expect((await world.admin.api.get(`/org/settings?org_id=${id}`)).body.settings).toEqual({ motd: "hello" });
  });
});

describe("POST /orgs/{id}/gitops/test", () => {
  const tried = (person: typeof admin, body?: object, id = org) => person.api.post(`/orgs/${id}/gitops/test`, body);

  test("[GO7] a test of a Git host tests given settings or those that are set, and stores nothing", async () => {
    const id = await world.org();
    expect(await tried(world.admin, {}, id)).toMatchObject({ status: 409 });
    const ok = { ok: true, problems: [], host_keys: [hostKeyOf(1)] };
    expect(await tried(world.admin, { gitops: SETTINGS }, id)).toMatchObject({ status: 200, body: ok });
    expect(await read(id)).toBeUndefined();
    await setGitops(world.admin, id);
    expect(await tried(world.admin, undefined, id)).toMatchObject({ status: 200, body: ok });
    git.isDown = true;
    const problems = [{ code: "unreachable", message: expect.any(String) }];
    expect(await tried(world.admin, {}, id)).toMatchObject({ status: 200, body: { ok: false, problems } });
    const log = (await world.admin.api.get(`/orgs/${id}/audit-log`)).body.data;
    expect(log[0]).toMatchObject({ action: "org.test_gitops", changes: { ok: false, problems: ["unreachable"] } });
  });

  test("[GO7] a test of a Git host says that the host shows other keys than those that are pinned", async () => {
    const id = await world.org();
    await setGitops(world.admin, id);
    git.hostKey = hostKeyOf(4);
    const { token: _, ...gitops } = SETTINGS;
    const body = { ok: false, problems: [{ code: "host_key_changed" }], host_keys: [hostKeyOf(4)] };
    for (const input of [{ gitops }, {}, undefined]) {
      expect(await tried(world.admin, input, id)).toMatchObject({ status: 200, body });
    }
    const log = (await world.admin.api.get(`/orgs/${id}/audit-log`)).body.data;
    expect(log[0]).toMatchObject({ action: "org.test_gitops", changes: { ok: false, problems: ["host_key_changed"] } });
  });

  test("[GO7] a Git host is tested by administrators alone, and not without end", async () => {
    expect((await tried(member)).status).toBe(403);
    const other = await world.orgWithPeople();
    const statuses = new Set<number>();
    for (let attempt = 0; attempt < 30; attempt++) {
      statuses.add((await tried(other.admin, { gitops: SETTINGS }, other.org)).status);
    }
    expect([...statuses]).toEqual([200, 429]);
  });
});

import { type Client, startWorld } from "@binnacle/world";
import { afterAll, beforeEach, describe, expect, test, vi } from "vitest";
import { bindRole, insertCluster } from "../access/bindings.fixture.ts";
import { EVENTS_TOPIC, type Event } from "../events/event.ts";
import { newId } from "../id.adapter.ts";

let cluster: string;
let heard: Event[];

const world = await startWorld();
const { org, member, stranger } = await world.orgWithPeople();
const editor = await world.person({ org });
world.bus.subscribe(EVENTS_TOPIC, (event) => heard.push(event as Event));
afterAll(() => world.stop());
beforeEach(async () => {
  heard = [];
  cluster = await insertCluster(world.database.kysely, org);
  await bindRole(world.database.kysely, editor.id, "editor", { cluster });
});

const report = (body: object, api: Client = editor.api) => api.post(`/clusters/${cluster}/install-events`, body);
const bundle = async (api: Client = editor.api) => (await api.get(`/clusters/${cluster}/bundle`)).body;
const put = (body: object, api: Client = editor.api) => api.put(`/clusters/${cluster}/bundle`, body);
const status = async () => (await editor.api.get(`/clusters/${cluster}`)).body.status;
const locsOf = ({ body }: { body: { detail: { loc: unknown[] }[] } }) => body.detail.map(({ loc }) => loc.join("."));
const eventsOf = (type: string) => heard.filter((event) => event.type === type && event.cluster_id === cluster);

async function tokenWith(...scopes: string[]): Promise<Client> {
  const { token } = (await editor.api.post("/cli-tokens", { name: "laptop", scopes })).body;
  return world.anyone.with({ authorization: `Bearer ${token}` });
}

const RECORD = { bundle_version: "1.3", profiles: ["security"], ha_tier: "ha" };
const NOTHING = {
  bundle_version: null,
  profiles: null,
  ha_tier: null,
  volume_group_ownership: null,
  install_journal: null,
};

describe("POST /clusters/{id}/install-events", () => {
  test("[IN1] POST /clusters/{id}/install-events answers with the journal entry", async () => {
    const event = { stage: "platform-storage", status: "failed", component: "longhorn", reason_code: "DISK_TOO_SMALL" };
    const { status: code, body } = await report({ ...event, detail: "The disk has 8 GB." });
    expect(code).toBe(201);
    expect(body).toEqual({ ...event, detail: "The disk has 8 GB.", at: world.clock.now().toISOString() });
    expect((await bundle()).install_journal).toEqual([body]);
  });

  test.each([
    ["an unknown stage", { stage: "lunch", status: "started" }, ["body.stage"]],
    ["an unknown status", { stage: "preflight", status: "done" }, ["body.status"]],
    ["nothing", {}, ["body.stage", "body.status"]],
    ["an unknown field", { stage: "preflight", status: "started", note: "x" }, ["body.note"]],
  ])("[IN2] an install event with %s is a 422", async (_, body, places) => {
    const answer = await report(body);
    expect([answer.status, locsOf(answer)]).toEqual([422, places]);
    expect(await bundle()).toEqual(NOTHING);
  });

  test.each([
    ["a failure without a reason code", { status: "failed" }, ["body.reason_code"]],
    ["a reason code in small letters", { status: "failed", reason_code: "no_disk" }, ["body.reason_code"]],
    ["a detail without end", { status: "completed", detail: "x".repeat(2001) }, ["body.detail"]],
  ])("[IN3] an install event with %s is a 422, also for those who may not report", async (_, body, places) => {
    for (const { api } of [editor, member, stranger]) {
      const answer = await report({ stage: "preflight", ...body }, api);
      expect([answer.status, locsOf(answer)]).toEqual([422, places]);
    }
    expect((await report({ stage: "preflight", ...body }, world.anyone)).status).toBe(401);
  });

  test("[IN4] an install event may name a component at any stage, if a manifest has it", async () => {
    const answer = await report({ stage: "preflight", status: "started", component: "longhorn" });
    expect(answer).toMatchObject({ status: 201, body: { stage: "preflight", component: "longhorn" } });
    const unknown = await report({ stage: "preflight", status: "started", component: "nonsense" });
    expect([unknown.status, locsOf(unknown)]).toEqual([422, ["body.component"]]);
  });

  test("[IN17] an install event may have the time at which it happened, unless that is in the future", async () => {
    const event = { stage: "preflight", status: "completed" };
    const now = world.clock.now().getTime();
    const earlier = new Date(now - 3_600_000);
    const at = earlier.toISOString().replace("Z", "+00:00");
    expect(await report({ ...event, at })).toMatchObject({ status: 201, body: { at: earlier.toISOString() } });
    expect((await bundle()).install_journal).toMatchObject([{ at: earlier.toISOString() }]);
    for (const wrong of [new Date(now + 60_000).toISOString(), "yesterday", "2026-01-01", 5]) {
      const refused = await report({ ...event, at: wrong });
      expect([refused.status, locsOf(refused)]).toEqual([422, ["body.at"]]);
    }
    const journal = [{ ...event, at: new Date(now + 60_000).toISOString() }];
    const written = await put({ ...RECORD, install_journal: journal });
    expect([written.status, locsOf(written)]).toEqual([422, ["body.install_journal.0.at"]]);
    expect((await bundle()).install_journal).toHaveLength(1);
  });

  const JWT = `eyJ${"a".repeat(20)}.eyJ${"b".repeat(20)}.${"c".repeat(43)}`;
  test.each([
    ["a JWT", `helm was called with --set token=${JWT}`],
    ["a CLI token", "curl -H 'Authorization: Bearer bnc_Zm9vYmFyYmF6cXV4Zm9vYmFyYmF6cXV4'"],
    ["an AWS key", "the key AKIAIOSFODNN7EXAMPLE was refused"],
    ["a private key", "-----BEGIN OPENSSH PRIVATE KEY-----"],
    ["an address with a password", "https://robot:hush@registry.example.com refused"],
    ["a node token of k3s", `joined with K10${"0a".repeat(32)}::server:hush`],
    ["a password", "mysql --password=hush-hush"],
    ["64 hexadecimal digits", `secretbox ${"0a1b2c3d".repeat(8)}`],
    ["markup", "<img src=x onerror=alert(1)>"],
    ["several lines", "Error: exit status 1\nhelm upgrade failed"],
    ["an escape sequence", "\u001b[31mfailed"],
  ])("[IN48] a detail with %s is refused and stored nowhere, in a journal too", async (_, detail) => {
    const refused = await report({ stage: "preflight", status: "completed", detail });
    expect([refused.status, locsOf(refused)]).toEqual([422, ["body.detail"]]);
    const journal = [{ stage: "preflight", status: "completed", detail }];
    const written = await put({ ...RECORD, install_journal: journal });
    expect([written.status, locsOf(written)]).toEqual([422, ["body.install_journal.0.detail"]]);
    expect(JSON.stringify([refused.body, written.body])).not.toMatch(/hush|AKIA|bnc_|eyJ/);
    expect(await bundle()).toEqual(NOTHING);
  });

  test("[IN48] a reason code and the ownership of volume groups hold no secret", async () => {
    const key = "AKIAIOSFODNN7EXAMPLE";
    const coded = await report({ stage: "preflight", status: "failed", reason_code: key });
    expect([coded.status, locsOf(coded)]).toEqual([422, ["body.reason_code"]]);
    for (const [owner, place] of [
      [key, ""],
      [{ "vg-data": key }, ".vg-data"],
      [{ [key]: "binnacle" }, ""],
      [{ "vg-data": [{ owner: "password=hush-hush" }] }, ".vg-data.0.owner"],
      [{ password: "hush" }, ""],
      [{ "vg-data": "one line\nand another" }, ".vg-data"],
      [{ "vg-data": "\u001b[31mred" }, ".vg-data"],
    ] as const) {
      const written = await put({ ...RECORD, volume_group_ownership: owner });
      expect([written.status, locsOf(written)]).toEqual([422, [`body.volume_group_ownership${place}`]]);
      expect(JSON.stringify(written.body)).not.toMatch(/AKIA|hush/);
    }
    expect(await bundle()).toEqual(NOTHING);
  });

  test("[IN48] a secret that an earlier version has stored is masked when the journal is read", async () => {
    const entry = { stage: "agent", status: "completed", component: null, detail: `token=${JWT}`, reason_code: null };
    await world.database.kysely
      .updateTable("clusters")
      .set({ install_journal: JSON.stringify([{ ...entry, at: world.clock.now().toISOString() }]) })
      .where("id", "=", cluster)
      .execute();
    const read = await bundle(member.api);
    expect(read.install_journal).toMatchObject([{ detail: "token=[masked]" }]);
    expect((await put({ ...RECORD, install_journal: read.install_journal })).status).toBe(200);
  });

  test.each(["platform-networking", "platform-storage", "platform-components", "profiles"])(
    "[IN49] a failed event of the stage %s must name the component",
    async (stage) => {
      const failed = { stage, status: "failed", reason_code: "TIMEOUT" };
      for (const body of [failed, { ...failed, component: null }]) {
        const refused = await report(body);
        expect([refused.status, locsOf(refused)]).toEqual([422, ["body.component"]]);
      }
      expect((await report({ ...failed, component: "longhorn" })).status).toBe(201);
      expect((await report({ ...failed, stage: "preflight" })).status).toBe(201);
    },
  );

  test("[IN50] current_stage of a cluster is the stage that has started, until it has ended", async () => {
    const current = async () => {
      const listed = (await member.api.get(`/orgs/${org}/clusters?items_per_page=100`)).body.data;
      const { current_stage } = (await member.api.get(`/clusters/${cluster}`)).body;
      expect(listed.find(({ id }: { id: string }) => id === cluster).current_stage).toEqual(current_stage);
      return current_stage;
    };
    expect(await current()).toBeNull();
    const started_at = world.clock.now().toISOString();
    await report({ stage: "preflight", status: "started" });
    expect(await current()).toEqual({ stage: "preflight", component: null, started_at });
    await report({ stage: "profiles", status: "started", component: "kyverno" });
    expect(await current()).toEqual({ stage: "profiles", component: "kyverno", started_at });
    await report({ stage: "profiles", status: "failed", component: "kyverno", reason_code: "TIMEOUT" });
    expect(await current()).toBeNull();
    await report({ stage: "profiles", status: "started", component: "kyverno" });
    await report({ stage: "profiles", status: "completed", component: "kyverno" });
    expect(await current()).toBeNull();
  });

  test("[IN5] an install event may name a component of any bundle until one is recorded, and then only of that one", async () => {
    const promtail = { stage: "profiles", status: "completed", component: "promtail" };
    expect((await report(promtail)).status).toBe(201);
    expect((await put(RECORD)).status).toBe(200);
    const refused = await report(promtail);
    expect([refused.status, locsOf(refused)]).toEqual([422, ["body.component"]]);
    expect((await report({ ...promtail, component: "kyverno" })).status).toBe(201);
    expect((await bundle()).install_journal).toHaveLength(2);
  });

  test("[IN6] an install event sets the current stage, and the journal keeps completed and failed ones", async () => {
    await report({ stage: "preflight", status: "started" });
    expect(await bundle()).toEqual(NOTHING);
    const stage = await world.database.kysely
      .selectFrom("clusters")
      .select(["stage", "stage_status"])
      .where("id", "=", cluster)
      .executeTakeFirst();
    expect(stage).toEqual({ stage: "preflight", stage_status: "started" });
    await report({ stage: "preflight", status: "completed" });
    expect((await bundle()).install_journal).toMatchObject([{ stage: "preflight", status: "completed" }]);
  });

  test("[IN6] the journal keeps all install events that come at once", async () => {
    const details = ["a", "b", "c", "d", "e"];
    await Promise.all(details.map((detail) => report({ stage: "k3s-agents", status: "completed", detail })));
    const kept = (await bundle()).install_journal.map(({ detail }: { detail: string }) => detail);
    expect(kept.sort()).toEqual(details);
  });

  test("[IN8] install events determine the status of the cluster", async () => {
    await report({ stage: "preflight", status: "started" });
    expect(await status()).toBe("installing");
    await report({ stage: "preflight", status: "failed", reason_code: "NO_SWAP" });
    expect(await status()).toBe("install_failed");
    await report({ stage: "preflight", status: "started" });
    expect(await status()).toBe("installing");
    await report({ stage: "verify", status: "completed" });
    expect(await status()).toBe("awaiting_operator");
  });

  test("[IN8] a recorded install is installing until it is verified, and a recorded upgrade is not", async () => {
    for (const stage of ["k3s-server", "record"]) await report({ stage, status: "completed" });
    expect(await status()).toBe("installing");
    await report({ stage: "verify", status: "completed" });
    expect(await status()).toBe("awaiting_operator");
    for (const stage of ["kubernetes", "verify", "record"]) await report({ stage, status: "completed" });
    expect(await status()).toBe("awaiting_operator");
  });

  test("[IN9] an install event is announced, and so is a change of the cluster's status by it", async () => {
    const started = (await report({ stage: "preflight", status: "started" })).body;
    const completed = (await report({ stage: "preflight", status: "completed" })).body;
    await vi.waitFor(() => expect(eventsOf("install_stage_update")).toHaveLength(2));
    const resource = { type: "cluster", id: cluster };
    expect(eventsOf("install_stage_update")).toMatchObject([
      { org_id: org, cluster_id: cluster, resource, ...started },
      { org_id: org, cluster_id: cluster, resource, ...completed },
    ]);
    expect(eventsOf("cluster-status")).toMatchObject([{ org_id: org, resource, status: "installing" }]);
  });

  test("[IN9] an install event that is refused is not announced", async () => {
    await report({ stage: "profiles", status: "completed", component: "nonsense" });
    await report({ stage: "preflight", status: "started" });
    await vi.waitFor(() => expect(eventsOf("install_stage_update")).toHaveLength(1));
  });

  test("[IN10] install events are for editors of the cluster and CLI tokens with install:report", async () => {
    const event = { stage: "preflight", status: "started" };
    expect((await report(event, member.api)).status).toBe(403);
    expect((await report(event, stranger.api)).status).toBe(404);
    expect((await report(event, await tokenWith("install:report"))).status).toBe(201);
    expect((await report(event, await tokenWith("clusters:read", "clusters:register"))).status).toBe(403);
    expect((await report(event, await tokenWith("read", "write"))).status).toBe(403);
    expect((await editor.api.post(`/clusters/${newId()}/install-events`, event)).status).toBe(404);
  });
});

describe("GET /clusters/{id}/bundle", () => {
  test("[IN11] GET /clusters/{id}/bundle has only null fields until something is recorded", async () => {
    expect(await bundle()).toEqual(NOTHING);
    await put({ ...RECORD, volume_group_ownership: { "vg-data": "binnacle" } });
    expect(await bundle()).toEqual({
      ...NOTHING,
      ...RECORD,
      volume_group_ownership: { "vg-data": "binnacle" },
    });
  });

  test("[IN12] GET /clusters/{id}/bundle is for members and CLI tokens that read clusters", async () => {
    const read = async (api: Client) => (await api.get(`/clusters/${cluster}/bundle`)).status;
    expect(await read(member.api)).toBe(200);
    expect(await read(stranger.api)).toBe(404);
    expect(await read(world.anyone)).toBe(401);
    expect(await read(await tokenWith("clusters:read"))).toBe(200);
    expect(await read(await tokenWith("clusters:register"))).toBe(200);
    expect(await read(await tokenWith("install:report", "bundles:read", "read", "write"))).toBe(403);
  });
});

describe("PUT /clusters/{id}/bundle", () => {
  test("[IN13] PUT /clusters/{id}/bundle replaces the record and keeps the journal", async () => {
    const { body: entry } = await report({ stage: "preflight", status: "completed" });
    await put({ ...RECORD, volume_group_ownership: "binnacle" });
    const { status: code, body } = await put({ bundle_version: "1.2", profiles: [], ha_tier: "single-server" });
    expect(code).toBe(200);
    expect(body).toEqual({
      bundle_version: "1.2",
      profiles: [],
      ha_tier: "single-server",
      volume_group_ownership: null,
      install_journal: [entry],
    });
    expect(await bundle()).toEqual(body);
  });

  test("[IN13] PUT /clusters/{id}/bundle needs version, profiles and HA tier, and refuses unknown fields", async () => {
    const answer = await put({ config: {} });
    expect([answer.status, locsOf(answer).sort()]).toEqual([
      422,
      ["body.bundle_version", "body.config", "body.ha_tier", "body.profiles"],
    ]);
  });

  test.each([
    ["an unknown version", { bundle_version: "9.9" }, ["body.bundle_version"]],
    ["an unknown profile", { profiles: ["gitops", "nonsense"] }, ["body.profiles.1"]],
    ["an HA tier that is not offered", { bundle_version: "1.2", profiles: [], ha_tier: "ha" }, ["body.ha_tier"]],
    ["a word that is not an HA tier", { ha_tier: "triple" }, ["body.ha_tier"]],
    ["a profile twice", { profiles: ["gitops", "gitops"] }, ["body.profiles"]],
  ])("[IN14] PUT /clusters/{id}/bundle with %s is a 422 and records nothing", async (_, wrong, places) => {
    const answer = await put({ ...RECORD, ...wrong });
    expect([answer.status, locsOf(answer)]).toEqual([422, places]);
    expect(await bundle()).toEqual(NOTHING);
  });

  test("[IN15] PUT /clusters/{id}/bundle accepts the installer's own journal, and one that was read before", async () => {
    await report({ stage: "preflight", status: "completed" });
    const at = "2020-01-01T00:00:00.000Z";
    const install_journal = [
      { stage: "verify", status: "started", at },
      { stage: "verify", status: "completed", at },
    ];
    const { body } = await put({ ...RECORD, install_journal });
    const kept = { stage: "verify", status: "completed", at, component: null, detail: null, reason_code: null };
    expect(body.install_journal).toEqual([kept]);
    expect(await put(body)).toMatchObject({ status: 200, body });
  });

  test("[IN15] PUT /clusters/{id}/bundle refuses a journal with an entry that could not have been reported", async () => {
    const answer = await put({ ...RECORD, install_journal: [{ stage: "verify", status: "failed" }] });
    expect([answer.status, locsOf(answer)]).toEqual([422, ["body.install_journal.0.reason_code"]]);
  });

  test("[IN16] PUT /clusters/{id}/bundle is for editors of the cluster and CLI tokens with install:report", async () => {
    expect((await put(RECORD, member.api)).status).toBe(403);
    expect((await put(RECORD, stranger.api)).status).toBe(404);
    expect((await put(RECORD, await tokenWith("clusters:register", "read", "write"))).status).toBe(403);
    expect((await put(RECORD, await tokenWith("install:report"))).status).toBe(200);
  });
});

import { CLOSE, type HubFrames, LINK_TRIAL_SUBPROTOCOL, NEGOTIATED_REQUESTS } from "@binnacle/contract";
import { startWorld } from "@binnacle/world";
import { sql } from "kysely";
import { afterAll, afterEach, describe, expect, test, vi } from "vitest";
import { registeredCluster } from "../clusters/clusters.fixture.ts";
import { EVENTS_TOPIC, type Event } from "../events/event.ts";
import { TestOperator } from "../hub/operator.fixture.ts";
import { newId } from "../id.adapter.ts";
import { SOON } from "../jobs/jobs.fixture.ts";

const world = await startWorld();
const { api } = world.admin;
const open: TestOperator[] = [];
afterEach(() => {
  for (const operator of open.splice(0)) operator.socket.terminate();
});
afterAll(() => world.stop());

type UpgradeRequest = Extract<HubFrames["request"]["request"], { name: "upgrade_operator" }>;
type Phase = "running" | "succeeded" | "returned";

/** A cluster whose operator of an older version is connected, and answers as it is told. */
async function cluster(org: string, { canUpgrade = true, version = "0.0.9" } = {}) {
  const { id, name, connection_token: token } = await registeredCluster(api, org);
  const operator = new TestOperator(world.url, token);
  open.push(operator);
  const asked: UpgradeRequest[] = [];
  const answer: { phase: Phase; reason: string | null } = { phase: "succeeded", reason: null };
  operator.requests = NEGOTIATED_REQUESTS.filter((request) => canUpgrade || request !== "upgrade_operator");
  operator.onFrame = (frame) => {
    if (frame.type !== "request" || frame.request.name !== "upgrade_operator") return;
    asked.push(frame.request);
    const images = { from: "binnacle/operator:0.0.9", to: "binnacle/operator:0.1.0" };
    const operator_upgrade = { ...answer, ...images, since: new Date().toISOString() };
    operator.say({ type: "response", ref: frame.id, answer: { operator_upgrade } });
  };
  await operator.opened();
  operator.hello({ operator_version: version });
  await operator.next("welcome");
  return { id, name, token, operator, asked, answer };
}

const start = (org: string, body: object = {}) => api.post(`/orgs/${org}/operator-upgrades`, body);
const read = async (org: string, id: string) => (await api.get(`/orgs/${org}/operator-upgrades/${id}`)).body;
const ended = (org: string, id: string) =>
  vi.waitUntil(async () => {
    const upgrade = await read(org, id);
    return upgrade.status !== "running" && upgrade;
  }, SOON);
const phaseOf = async (id: string) => (await api.get(`/clusters/${id}`)).body.operator_upgrade?.phase;
/** The next step of every upgrade is due now. */
const hurry = () =>
  sql`update jobs set run_at = now() where kind = 'operator_upgrade' and status = 'pending'`.execute(
    world.database.kysely,
  );

describe("a cluster", () => {
  test("[OU1] a cluster shows the version of its operator and how it compares with the control plane's", async () => {
    const org = await world.org();
    const { id } = await cluster(org);
    expect((await api.get(`/clusters/${id}`)).body).toMatchObject({
      operator_version: "0.0.9",
      operator_skew: "outdated",
      operator_self_upgrade: true,
      operator_upgrade: null,
    });
    const unknown = await registeredCluster(api, org);
    expect(unknown).toMatchObject({ operator_skew: null, operator_self_upgrade: false, operator_upgrade: null });
  });
});

describe("an upgrade of operators", () => {
  test("[OU7] an administrator of the organization upgrades one cluster, and it shows what came of it", async () => {
    const org = await world.org();
    const { id, name, asked } = await cluster(org);
    const begun = await start(org, { cluster_ids: [id] });
    expect(begun).toMatchObject({
      status: 201,
      body: {
        status: "running",
        to_version: "0.1.0",
        clusters: [{ cluster_id: id, cluster_name: name, phase: "pending", from_version: "0.0.9" }],
      },
    });
    const done = await ended(org, begun.body.id);
    expect(done).toMatchObject({ status: "succeeded", counts: { succeeded: 1 }, clusters: [{ phase: "succeeded" }] });
    expect(asked[0]).toMatchObject({ upgrade_id: begun.body.id, version: "0.1.0", digest: null });
    expect((await api.get(`/clusters/${id}`)).body.operator_upgrade).toMatchObject({
      upgrade_id: begun.body.id,
      phase: "succeeded",
      from_version: "0.0.9",
      to_version: "0.1.0",
      finished_at: expect.stringMatching(/Z$/),
    });
  });

  test("[OU38] a preview counts what an upgrade of all would upgrade, by version, and what it would skip", async () => {
    const org = await world.org();
    const preview = async () => (await api.get(`/orgs/${org}/operator-upgrade-preview`)).body;
    await cluster(org, { version: "0.1.0" });
    await cluster(org, { version: "99.0.0" });
    await registeredCluster(api, org);
    expect(await preview()).toEqual({ to_version: "0.1.0", cluster_count: 0, from_versions: [], skipped_count: 0 });
    const { id } = await cluster(org, { version: "0.0.8" });
    for (const canUpgrade of [true, true, false]) await cluster(org, { canUpgrade });
    const from_versions = [
      { version: "0.0.9", cluster_count: 2 },
      { version: "0.0.8", cluster_count: 1 },
    ];
    expect(await preview()).toEqual({ to_version: "0.1.0", cluster_count: 3, from_versions, skipped_count: 1 });
    await start(org, { cluster_ids: [id] });
    expect(await preview()).toMatchObject({ cluster_count: 2, skipped_count: 2 });
  });

  test("[OU8] upgrades are for administrators of the organization, and are found in it alone", async () => {
    const { org, admin, member, stranger } = await world.orgWithPeople();
    const { id } = await cluster(org);
    const path = `/orgs/${org}/operator-upgrades`;
    const { id: upgrade } = (await admin.api.post(path, { cluster_ids: [id] })).body;
    for (const person of [member, stranger]) {
      expect((await person.api.post(path, {})).status).toBe(403);
      expect((await person.api.get(path)).status).toBe(403);
      expect((await person.api.get(`/orgs/${org}/operator-upgrade-preview`)).status).toBe(403);
      expect((await person.api.get(`${path}/${upgrade}`)).status).toBe(403);
      expect((await person.api.post(`${path}/${upgrade}/cancel`)).status).toBe(403);
    }
    const elsewhere = await world.orgWithPeople();
    const there = `/orgs/${elsewhere.org}/operator-upgrades`;
    expect((await elsewhere.admin.api.post(there, { cluster_ids: [id] })).status).toBe(404);
    expect((await elsewhere.admin.api.get(`${there}/${upgrade}`)).status).toBe(404);
    expect((await elsewhere.admin.api.post(`${there}/${upgrade}/cancel`)).status).toBe(404);
    expect((await admin.api.get(path)).body).toMatchObject({ total_count: 1, data: [{ id: upgrade }] });
  });

  test("[OU9] the start and the cancellation are in the audit log, and each change is an event of the cluster", async () => {
    const org = await world.org();
    const { id, answer } = await cluster(org);
    answer.phase = "running";
    const phases: unknown[] = [];
    const unsubscribe = world.bus.subscribe(EVENTS_TOPIC, (event) => {
      const { type, cluster_id, operator_upgrade } = event as Event;
      // Its connection is told by such events too.
      if (type === "cluster-status" && cluster_id === id && operator_upgrade) phases.push(operator_upgrade);
    });
    const { id: upgrade } = (await start(org, { cluster_ids: [id] })).body;
    await vi.waitUntil(() => phases.length > 0, SOON);
    unsubscribe();
    expect(phases).toEqual(["running"]);
    const kept = await world.database.kysely.selectFrom("event_log").select("message").execute();
    const clusterEvents = kept.map(({ message }) => JSON.parse(message)).filter(({ cluster_id }) => cluster_id === id);
    expect(clusterEvents.filter(({ operator_upgrade }) => operator_upgrade === "running")).toHaveLength(1);
    await api.post(`/orgs/${org}/operator-upgrades/${upgrade}/cancel`);
    const { data } = (await api.get(`/orgs/${org}/audit-log?resource_id=${upgrade}`)).body;
    expect(data.map(({ action }: { action: string }) => action).sort()).toEqual([
      "operator_upgrade.cancel",
      "operator_upgrade.start",
    ]);
  });

  test("[OU3] of all clusters as many are under way as the batch says; those that cannot be upgraded are skipped", async () => {
    const org = await world.org();
    const clusters = [await cluster(org), await cluster(org), await cluster(org)];
    const old = await cluster(org, { canUpgrade: false });
    const current = await cluster(org, { version: "0.1.0" });
    for (const { answer } of clusters) answer.phase = "running";
    const { id } = (await start(org, { batch_size: 2 })).body;
    await vi.waitUntil(async () => (await read(org, id)).counts.running === 2, SOON);
    const { clusters: listed, counts } = await read(org, id);
    expect(counts).toMatchObject({ running: 2, pending: 1, skipped: 1 });
    expect(listed.map(({ cluster_id }: { cluster_id: string }) => cluster_id)).not.toContain(current.id);
    const skipped = listed.find(({ cluster_id }: { cluster_id: string }) => cluster_id === old.id);
    expect(skipped).toMatchObject({ phase: "skipped", reason: expect.stringContaining("selfUpgrade.enabled=false") });
    for (const { answer } of clusters) answer.phase = "succeeded";
    await vi.waitUntil(async () => (await hurry()) && (await read(org, id)).status === "succeeded", SOON);
    expect((await read(org, id)).counts).toMatchObject({ succeeded: 3, skipped: 1 });
  });

  test("[OU4] after one that went back to its former image no more are begun, and the reason is shown", async () => {
    const org = await world.org();
    const clusters = [await cluster(org), await cluster(org)];
    const reason = "The image cannot be pulled: not found.";
    for (const { answer } of clusters) Object.assign(answer, { phase: "returned", reason });
    const { id } = (await start(org, { batch_size: 1 })).body;
    const done = await ended(org, id);
    expect(done).toMatchObject({ status: "failed", counts: { returned: 1, cancelled: 1 } });
    expect(done.clusters.map(({ reason }: { reason: string }) => reason)).toContain(reason);
  });

  test("[OU5] a cancelled upgrade begins no more clusters, and ends with the one that is under way", async () => {
    const org = await world.org();
    const clusters = [await cluster(org), await cluster(org)];
    for (const { answer } of clusters) answer.phase = "running";
    const { id } = (await start(org, { batch_size: 1 })).body;
    await vi.waitUntil(async () => (await read(org, id)).counts.running === 1, SOON);
    const cancelled = await api.post(`/orgs/${org}/operator-upgrades/${id}/cancel`);
    expect(cancelled).toMatchObject({ status: 200, body: { status: "running", counts: { running: 1, cancelled: 1 } } });
    for (const { answer } of clusters) answer.phase = "succeeded";
    await vi.waitUntil(async () => (await hurry()) && (await read(org, id)).status === "cancelled", SOON);
    expect((await read(org, id)).counts).toMatchObject({ succeeded: 1, cancelled: 1 });
  });

  test("[OU10] a cluster is in one upgrade at a time", async () => {
    const org = await world.org();
    const { id, answer } = await cluster(org);
    answer.phase = "running";
    expect((await start(org, { cluster_ids: [id] })).status).toBe(201);
    const again = await start(org, { cluster_ids: [id] });
    expect(again).toMatchObject({ status: 409, body: { detail: expect.stringContaining("being upgraded already") } });
  });

  test("[OU2] where no operator can be upgraded it is a 409 that says why, and what to do instead", async () => {
    const org = await world.org();
    expect(await start(org)).toMatchObject({ status: 409, body: { detail: expect.stringContaining("No operator") } });
    const old = await cluster(org, { canUpgrade: false });
    const refused = await start(org, { cluster_ids: [old.id] });
    expect(refused).toMatchObject({ status: 409, body: { detail: expect.stringContaining("upgrade_command") } });
    const { upgrade_command } = (await api.get(`/clusters/${old.id}/install-instructions`)).body;
    expect(upgrade_command).toMatch(/^helm upgrade binnacle-operator .*--reset-then-reuse-values/);
    expect(upgrade_command).toContain("image.tag=0.1.0");
    expect((await start(org, { cluster_ids: [newId()] })).status).toBe(404);
  });

  test.each([{ batch_size: 0 }, { batch_size: 51 }, { cluster_ids: [] }, { version: "0.9.0" }])(
    "[OU7] %j is a 422 and starts nothing",
    async (body) => {
      const org = await world.org();
      expect((await start(org, body)).status).toBe(422);
      expect((await api.get(`/orgs/${org}/operator-upgrades`)).body.total_count).toBe(0);
    },
  );

  test("[OU6] an operator that is away meanwhile is waited for, and the upgrade goes on when it is back", async () => {
    const org = await world.org();
    const { id, token, operator, answer } = await cluster(org);
    answer.phase = "running";
    const { id: upgrade } = (await start(org, { cluster_ids: [id] })).body;
    await vi.waitUntil(async () => (await phaseOf(id)) === "running", SOON);
    operator.socket.close();
    await operator.closeCode();
    await vi.waitUntil(async () => {
      await hurry();
      return (await read(org, upgrade)).clusters[0].reason?.includes("not connected");
    }, SOON);
    const next = new TestOperator(world.url, token).observes(() => ({}));
    open.push(next);
    next.onFrame = (frame) => {
      if (frame.type !== "request" || frame.request.name !== "upgrade_operator") return;
      const operator_upgrade = {
        phase: "succeeded",
        from: "a",
        to: "b",
        since: new Date().toISOString(),
        reason: null,
      };
      next.say({ type: "response", ref: frame.id, answer: { operator_upgrade } });
    };
    await next.greet();
    await vi.waitUntil(async () => (await hurry()) && (await phaseOf(id)) === "succeeded", SOON);
  });
});

describe("a trial of the connection", () => {
  const trial = async (token: string) => {
    const operator = await new TestOperator(world.url, token, {}, [LINK_TRIAL_SUBPROTOCOL]).opened();
    open.push(operator);
    operator.hello({ operator_version: "0.2.0" });
    return operator.closeCode();
  };

  test("[OU12] a trial says that the operator would be admitted, and leaves the session and the version of the other", async () => {
    const { id, token, operator } = await cluster(await world.org());
    expect(await trial(token)).toBe(CLOSE.trialPassed);
    expect(operator.closed).toBeNull();
    expect((await api.get(`/clusters/${id}`)).body).toMatchObject({ status: "connected", operator_version: "0.0.9" });
  });

  test("[OU12] a trial with a token that is revoked, or of a cluster that is gone, is refused as a session would be", async () => {
    const { id, token } = await cluster(await world.org());
    await api.post(`/clusters/${id}/rotate-token`);
    expect(await trial(token)).toBe(CLOSE.revoked);
    await api.delete(`/clusters/${id}`);
    expect(await trial(token)).toBe(CLOSE.clusterDeleted);
    expect(await trial("no token")).toBe(CLOSE.unauthenticated);
  });
});

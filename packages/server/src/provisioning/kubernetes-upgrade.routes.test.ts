import { startWorld } from "@binnacle/world";
import { afterAll, describe, expect, test } from "vitest";
import { KUBERNETES } from "../cloud/kubernetes-release.ts";
import { bringJob, connectOperator, provisionedCluster, queuedInLane } from "../clusters/clusters.fixture.ts";

const world = await startWorld({ env: { BINNACLE_ROLES: "api" } });
const db = world.database.kysely;
const { org, admin, member, stranger } = await world.orgWithPeople();
afterAll(() => world.stop());

const BEFORE = { ...KUBERNETES, version: "v1.36.4+k3s1" };

async function clusterWithSnapshots(): Promise<string> {
  const { id, provisioning_job_id } = await provisionedCluster(admin.api, org);
  await bringJob(db, provisioning_job_id, "succeeded", { phase: "done" });
  const fields = { agent_count: 1, snapshot_bucket: "b", kubernetes_release: JSON.stringify(BEFORE) };
  await db.updateTable("clusters").set(fields).where("id", "=", id).execute();
  return id;
}

describe("POST /clusters/{id}/kubernetes-upgrade", () => {
  test("[PV102] it records and queues a job that begins with the control plane, and leaves an audit entry", async () => {
    const id = await clusterWithSnapshots();
    await connectOperator(db, id, world.clock.now());
    const asked = await admin.api.post(`/clusters/${id}/kubernetes-upgrade`, { release: KUBERNETES.version });
    expect(asked).toMatchObject({
      status: 202,
      body: {
        action: "upgrade",
        status: "pending",
        node: "control-plane",
        kubernetes_release: KUBERNETES.version,
        desired_node_count: 2,
        force: false,
      },
    });
    expect((await queuedInLane(db, id)).at(-1)).toMatchObject({
      kind: "provisioning-guarded",
      payload: { provisioning_job_id: asked.body.id },
    });
    const { body: log } = await admin.api.get(`/orgs/${org}/audit-log?action=cluster.kubernetes_upgrade`);
    expect(log.data).toMatchObject([{ changes: { from: BEFORE.version, release: KUBERNETES.version } }]);
    // Until its job has replaced the control plane, new agents get what that has.
    const stored = db.selectFrom("clusters").select("kubernetes_release").where("id", "=", id);
    expect((await stored.executeTakeFirstOrThrow()).kubernetes_release).toEqual(BEFORE);
  });

  test("[PV102] an upgrade that is refused is a 409, and of several at once one is made", async () => {
    const id = await clusterWithSnapshots();
    const ask = (body: object) => admin.api.post(`/clusters/${id}/kubernetes-upgrade`, body);
    const release = KUBERNETES.version;
    expect(await ask({ release })).toMatchObject({ status: 409, body: { detail: expect.stringMatching(/`force`/) } });
    expect((await ask({ release: "v9.9.9+k3s1", force: true })).status).toBe(409);
    expect(await queuedInLane(db, id)).toHaveLength(1);
    const answers = await Promise.all([1, 2, 3].map(() => ask({ release, force: true })));
    expect(answers.map(({ status }) => status).sort()).toEqual([202, 409, 409]);
  });

  test.each([
    {},
    { release: "1.37.1" },
    { release: "v1.37.1+k3s1; reboot" },
    { release: "v1.37.1+k3s1", node: "agent-1" },
  ])("[PV102] %j is a 422", async (body) => {
    const id = await clusterWithSnapshots();
    expect((await admin.api.post(`/clusters/${id}/kubernetes-upgrade`, body)).status).toBe(422);
  });

  test("[PV102] it is for administrators of the organization", async () => {
    const path = `/clusters/${await clusterWithSnapshots()}/kubernetes-upgrade`;
    const body = { release: KUBERNETES.version, force: true };
    expect((await member.api.post(path, body)).status).toBe(403);
    expect((await stranger.api.post(path, body)).status).toBe(404);
    expect((await world.anyone.post(path, body)).status).toBe(401);
  });
});

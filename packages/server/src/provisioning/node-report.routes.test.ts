import { startWorld } from "@binnacle/world";
import { afterAll, describe, expect, test } from "vitest";
import {
  AGENT_JOIN_TOKEN,
  bootingNode,
  bringJob,
  connectOperator,
  JOIN_TOKEN,
  nextStatus,
  nodeTokenOf,
  provisionedCluster,
  waitForMachines,
} from "../clusters/clusters.fixture.ts";
import { MOST_LOG_BYTES } from "./bootstrap.ts";
import { settleWaiting } from "./bootstrap-wait.runner.ts";

const world = await startWorld({ env: { BINNACLE_ROLES: "api,hub", BINNACLE_TRUSTED_PROXIES: "127.0.0.1" } });
const { org, admin } = await world.orgWithPeople();
afterAll(() => world.stop());

/** A cluster whose job has made its machines and waits for them. */
async function waiting(...nodes: string[]) {
  const cluster = await provisionedCluster(admin.api, org);
  const until = new Date(world.clock.now().getTime() + 20 * 60_000);
  await waitForMachines(world.database.kysely, cluster.provisioning_job_id, until);
  const machines = await Promise.all(nodes.map((node) => bootingNode(world, cluster, node, 3_600_000)));
  return { id: cluster.id as string, job: cluster.provisioning_job_id as string, machines, until };
}

let addresses = 0;
const newAddress = () => `198.51.100.${++addresses}`;
const RUNNING = { stage: "install", status: "running", first_line: 0, lines: [] as string[] };
const report = (machine: object | undefined, changes: object = {}, address = newAddress()) =>
  world.anyone.with({ "x-forwarded-for": address }).post("/node-reports", { ...RUNNING, ...machine, ...changes });
const jobOf = async (id: string) => (await admin.api.get(`/provisioning-jobs/${id}`)).body;
const logOf = async (id: string) => (await admin.api.get(`/provisioning-jobs/${id}/logs`)).body.logs as string | null;
const statusOf = async (id: string) => (await admin.api.get(`/clusters/${id}`)).body;
const settle = (cluster: string) =>
  settleWaiting({ db: world.database.kysely, bus: world.bus, clock: world.clock.now }, 20, cluster);

const REFUSED = { status: 401, body: { detail: "invalid node token" } };

describe("POST /node-reports", () => {
  test("[PV92] POST /node-reports puts the lines of a machine into the log of its job, each once", async () => {
    const { job, machines } = await waiting("control-plane", "agent-1");
    const [server, agent] = machines;
    expect(await report(server, { lines: ["one", "two"] })).toMatchObject({ status: 200, body: { next_line: 2 } });
    expect(await report(server, { lines: ["one", "two", "three"] })).toMatchObject({ body: { next_line: 3 } });
    expect(await report(agent, { lines: ["four"] })).toMatchObject({ body: { next_line: 1 } });
    expect(await logOf(job)).toBe("[control-plane] one\n[control-plane] two\n[control-plane] three\n[agent-1] four\n");
  });

  test("[PV93] the job moves on when all machines have reported as nodes, and the cluster then waits for its operator", async () => {
    const { id, job, machines } = await waiting("control-plane", "agent-1");
    const [server, agent] = machines;
    const announced = nextStatus(world, ({ cluster_id }) => cluster_id === id);
    await report(server, { stage: "ready", status: "completed" });
    expect(await jobOf(job)).toMatchObject({ status: "running", phase: "bootstrap", progress_pct: 87 });
    expect(await statusOf(id)).toMatchObject({ status: "provisioning" });
    await report(agent, { stage: "ready", status: "completed" });
    expect(await jobOf(job)).toMatchObject({ status: "running", phase: "operator" });
    expect(await statusOf(id)).toMatchObject({ status: "awaiting_operator" });
    expect(await announced).toMatchObject({ status: "awaiting_operator" });
    await connectOperator(world.database.kysely, id, world.clock.now());
    await settle(id);
    expect(await jobOf(job)).toMatchObject({ status: "succeeded", phase: "done", progress_pct: 100 });
    expect(await statusOf(id)).toMatchObject({ status: "connected" });
  });

  test("[PV93] a machine that reports a failure fails the job with its cause, and the cluster is in error", async () => {
    const { id, job, machines } = await waiting("control-plane");
    const lines = ["FAILED: install k3s: no route to host"];
    await report(machines[0], { status: "failed", message: "no route to host", lines });
    const message = expect.stringContaining("The machine control-plane failed at installing k3s: no route to host.");
    expect(await jobOf(job)).toMatchObject({
      status: "failed",
      error_code: "bootstrap_failed",
      error_message: message,
    });
    expect(await statusOf(id)).toMatchObject({ status: "error", message });
    expect(await logOf(job)).toMatch(/\[control-plane\] FAILED: install k3s: no route to host\nThe job has failed: /);
  });

  test("[PV93] a report is taken after the job has ended, for its retry, but its lines are not added to the log", async () => {
    const { id, job, machines } = await waiting("control-plane");
    await bringJob(world.database.kysely, job, "failed", { error_message: "It took too long." });
    expect((await report(machines[0], { stage: "ready", status: "completed", lines: ["late"] })).status).toBe(200);
    expect([await logOf(job), (await jobOf(job)).status]).toEqual([null, "failed"]);
    const boots = world.database.kysely.selectFrom("node_boots").select("status").where("cluster_id", "=", id);
    expect(await boots.execute()).toEqual([{ status: "completed" }]);
  });

  test("[PV96] POST /node-reports answers an unknown, an expired, another's and a deleted cluster's token alike, and stores nothing", async () => {
    const [mine, other] = [await waiting("control-plane", "agent-1"), await waiting("control-plane")];
    const [server, agent] = mine.machines;
    const cluster = { id: mine.id, provisioning_job_id: mine.job };
    const expired = await bootingNode(world, cluster, "agent-1", 0);
    const forSecrets = await nodeTokenOf(world, mine.id, "agent-1");
    const line = { lines: ["hostile"] };
    for (const wrong of [
      { ...server, token: "unknown" },
      { ...server, node: "agent-1" },
      { ...agent, node: "agent-9" },
      { ...server, cluster_id: other.id },
      expired,
      forSecrets,
    ]) {
      expect(await report(wrong, line)).toMatchObject(REFUSED);
    }
    await admin.api.delete(`/clusters/${mine.id}`);
    expect(await report(server, line)).toMatchObject(REFUSED);
    expect([await logOf(mine.job), await logOf(other.job)]).toEqual([null, null]);
  });

  test("[PV96] POST /node-reports is a 429 after too many refused attempts of an address, and machines behind others report on", async () => {
    const { machines } = await waiting("control-plane");
    const address = newAddress();
    for (let attempt = 0; attempt < 20; attempt++)
      await report({ ...machines[0], token: `guess-${attempt}` }, {}, address);
    expect((await report({ ...machines[0], token: "guess" }, {}, address)).status).toBe(429);
    expect((await report(machines[0])).status).toBe(200);
  });

  test("[PV94] POST /node-reports is a 429 for a machine that reports more than 60 times a minute, and for no other", async () => {
    const { machines } = await waiting("control-plane", "agent-1");
    const [loud, quiet] = machines;
    for (let sent = 0; sent < 60; sent++) await report(loud);
    const refused = await report(loud);
    expect([refused.status, Number(refused.headers.get("retry-after"))]).toEqual([429, 60]);
    expect((await report(quiet)).status).toBe(200);
    world.clock.advance(60_000);
    expect((await report(loud)).status).toBe(200);
  });

  test("[PV94] POST /node-reports keeps 256 KiB of a machine's lines, and other organizations' machines report on", async () => {
    const { job, machines } = await waiting("control-plane");
    const lines = Array.from({ length: 7 }, () => "x".repeat(2000));
    for (let sent = 0; sent < 30; sent++) {
      expect((await report(machines[0], { first_line: sent * 7, lines })).status).toBe(200);
    }
    const kept = await logOf(job);
    expect(kept?.length).toBeLessThan(MOST_LOG_BYTES * 1.1);
    expect(kept?.trimEnd().split("\n").at(-1)).toContain("Further output of this machine is dropped");
    const strangers = await world.org();
    const cluster = await provisionedCluster((await world.person({ org: strangers, role: "admin" })).api, strangers);
    expect(await report(await bootingNode(world, cluster, "agent-1"), { lines: ["mine"] })).toMatchObject({
      status: 200,
    });
  });

  test.each([
    ["a line that is too long", { lines: ["x".repeat(2001)] }, ["body", "lines", 0]],
    ["too many lines", { lines: Array.from({ length: 201 }, () => "x") }, ["body", "lines"]],
    ["an unknown stage", { stage: "dance" }, ["body", "stage"]],
    ["an unknown field", { role: "admin" }, ["body", "role"]],
  ])("[PV94] POST /node-reports refuses %s", async (_, changes, loc) => {
    const { machines } = await waiting("control-plane");
    const answer = await report(machines[0], changes);
    expect([answer.status, answer.body.detail?.[0]?.loc]).toEqual([422, loc]);
  });

  test("[PV94] POST /node-reports refuses a body of more than 16 KiB", async () => {
    const { machines } = await waiting("control-plane");
    expect((await report(machines[0], { lines: Array.from({ length: 20 }, () => "x".repeat(1000)) })).status).toBe(413);
  });

  test("[PV95] POST /node-reports stores no secret in the log of the job or of the server, and no control characters", async () => {
    const { id, job, machines } = await waiting("control-plane");
    const forSecrets = await nodeTokenOf(world, id, "control-plane");
    const { body } = await world.anyone.with({ "x-forwarded-for": newAddress() }).post("/node-bootstrap", forSecrets);
    const secrets = [JOIN_TOKEN, AGENT_JOIN_TOKEN, machines[0]?.token ?? "", body.operator.token as string];
    await report(machines[0], { lines: [...secrets.map((secret) => `it is ${secret}`), "\u001b[2Ja\nb"] });
    await report(machines[0], { status: "failed", message: `refused ${secrets[0]}` });
    const shown = JSON.stringify([await logOf(job), await jobOf(job), world.logged]);
    expect(secrets.filter((secret) => shown.includes(secret))).toEqual([]);
    expect(await logOf(job)).toContain("[control-plane] it is ****\n[control-plane] a b\n");
  });

  test("[PV97] a job that waits for its machines is cancelled at once, and can be retried", async () => {
    const { id, job } = await waiting("control-plane");
    const cancelled = await admin.api.post(`/provisioning-jobs/${job}/cancel`);
    expect(cancelled).toMatchObject({ status: 202, body: { status: "failed", error_code: "cancelled" } });
    expect((await statusOf(id)).message).toContain("cancelled while its machines booted");
    expect(await admin.api.post(`/provisioning-jobs/${job}/retry`)).toMatchObject({
      status: 202,
      body: { status: "pending" },
    });
  });
});

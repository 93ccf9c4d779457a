import { startWorld } from "@binnacle/world";
import { afterAll, beforeEach, expect, test } from "vitest";
import { CloudRefusal } from "../../server/src/cloud/provider.ts";
import {
  bringJob,
  checkingCloud,
  provisionedCluster,
  storedCredential,
} from "../../server/src/clusters/clusters.fixture.ts";
import { type Machine, machine } from "./host.fixture.ts";

const ALLOWED = { action: "ec2:RunInstances", allowed: true };
let on: Machine;
let allowed: boolean;
let isKnown: boolean;

const aws = checkingCloud(async () => {
  if (!isKnown) throw new CloudRefusal({ code: "bad_credentials", message: "AWS refused the credential." });
  return {
    identity: "arn:aws:iam::1:user/binnacle",
    permissions: [{ ...ALLOWED, allowed }],
    quotas: [{ name: "vCPU", limit: 64, used: 12 }],
  };
});
const world = await startWorld({ env: { BINNACLE_ROLES: "api" }, clouds: { aws } });
afterAll(() => world.stop());
beforeEach(() => {
  on = machine();
  on.env = { BINNACLE_URL: world.url, BINNACLE_TOKEN: world.admin.token };
  allowed = true;
  isKnown = true;
});

const newCluster = async (): Promise<{ id: string; provisioning_job_id: string }> =>
  provisionedCluster(world.admin.api, world.demoOrgId);

async function print(job: string, ...lines: string[]): Promise<void> {
  await world.database.kysely
    .insertInto("provisioning_log_lines")
    .values(lines.map((line) => ({ job_id: job, at: world.clock.now(), line })))
    .execute();
}

const newestJobOf = async (cluster: string) =>
  (await world.admin.api.get(`/clusters/${cluster}/provisioning-jobs`)).body.data[0];

const PLAN = {
  planned_at: "2026-01-31T09:30:00.000Z",
  summary: { add: 0, change: 0, remove: 1 },
  changes: [{ action: "delete", address: 'aws_instance.agent["agent-2"]', type: "aws_instance", id: "i-0abc" }],
  estimate: { monthly: 121.47, currency: "USD", prices_of: "2026-11-01", note: "Without traffic.", items: [] },
};

test("[BC37] the CLI waits for a plan of a cluster and shows it with its estimate, and nothing is changed", async () => {
  const { id, provisioning_job_id } = await newCluster();
  const db = world.database.kysely;
  await bringJob(db, provisioning_job_id, "succeeded");
  on.fetch = async (input, init) => {
    const answer = await globalThis.fetch(input, init);
    const made = { plan: JSON.stringify(PLAN), plan_digest: "digest", started_at: world.clock.now() };
    const fields = { status: "succeeded", ...made } as const;
    if (init?.method === "POST")
      await db.updateTable("provisioning_jobs").set(fields).where("dry_run", "=", true).execute();
    return answer;
  };
  const ran = await on.run("clusters", "plan", id, "scale", "--nodes", "2");
  expect(ran).toMatchObject({
    code: 0,
    out: expect.stringMatching(/delete +aws_instance\.agent\["agent-2"\] +i-0abc/),
  });
  expect(ran.err).toContain("0 to add, 0 to change, 1 to remove.");
  expect(ran.err).toContain("Estimate for a month after the change: about 121.47 USD (prices of 2026-11-01).");
  const jobs = await world.admin.api.get(`/clusters/${id}/provisioning-jobs`);
  const [job] = jobs.body.data;
  expect(job).toMatchObject({ dry_run: true, action: "scale", desired_node_count: 2 });
  const shown = await on.run("jobs", "plan", job.id, "-o", "json");
  expect(JSON.parse(shown.out)).toMatchObject({ job_id: job.id, ...PLAN });

  expect(ran.err).toContain(`--plan ${job.id}`);
  const ended = { finished_at: world.clock.now() };
  await db.updateTable("provisioning_jobs").set(ended).where("id", "=", provisioning_job_id).execute();
  expect((await on.run("clusters", "delete", id, "--plan", job.id, "--yes")).code).toBe(5);
  const bound = await on.run("clusters", "scale", id, "2", "--plan", job.id, "-o", "jsonpath=$.plan_job_id");
  expect(bound).toMatchObject({ code: 0, out: `${job.id}\n` });
  await bringJob(db, (await newestJobOf(id)).id, "failed", { error_message: "It is another plan." });
  await db
    .updateTable("provisioning_jobs")
    .set({ error_code: "plan_changed" })
    .where("plan_job_id", "=", job.id)
    .execute();
  const followed = await on.run("jobs", "wait", (await newestJobOf(id)).id);
  expect(followed).toMatchObject({ code: 1, err: expect.stringContaining(`fix: binnacle clusters plan ${id}`) });
});

test("[BC38] `jobs logs --follow` prints every line once and ends with the outcome of the job", async () => {
  const { provisioning_job_id: job } = await newCluster();
  await print(job, "init", "\u001b]0;taken over\u0007apply");
  await bringJob(world.database.kysely, job, "succeeded");
  expect(await on.run("jobs", "logs", job, "-f")).toMatchObject({
    code: 0,
    out: "init\n\u001b]0;taken over\u0007apply\n",
  });
  expect((await on.run("jobs", "logs", job)).out).toBe("init\n\u001b]0;taken over\u0007apply\n");
  on.isTerminal = true;
  expect((await on.run("jobs", "logs", job, "-f")).out).not.toContain("\u001b]0;");
  await bringJob(world.database.kysely, job, "failed", { error_message: "No capacity." });
  on.isTerminal = false;
  expect(await on.run("jobs", "logs", job, "-f")).toMatchObject({
    code: 1,
    err: `error: No capacity.\nfix: binnacle jobs retry ${job}\n`,
  });
});

test("[BC39] `jobs cancel` asks first", async () => {
  const { provisioning_job_id: job } = await newCluster();
  expect((await on.run("jobs", "cancel", job)).code).toBe(2);
  expect((await on.run("jobs", "show", job, "-o", "jsonpath=$.status")).out).toBe("pending\n");
  expect((await on.run("jobs", "cancel", job, "--yes")).code).toBe(0);
  expect((await on.run("jobs", "show", job, "-o", "jsonpath=$.error_code")).out).toBe("cancelled\n");
});

test("[BC41] the commands that scale, cancel and delete say what happens next, and how to follow it", async () => {
  const { id, provisioning_job_id: create } = await newCluster();
  const db = world.database.kysely;
  await bringJob(db, create, "running");
  const wait = `binnacle jobs wait ${create}`;
  expect((await on.run("jobs", "cancel", create, "--yes")).err).toContain(wait);
  await bringJob(db, create, "succeeded");
  const scaled = await on.run("clusters", "scale", id, "3", "-o", "jsonpath=$.id");
  expect(scaled.err).toBe(`Follow it with: binnacle jobs logs -f ${scaled.out}`);
  expect((await on.run("jobs", "cancel", scaled.out.trim(), "--yes")).err).toContain("It had not begun");
  const deleted = await on.run("clusters", "delete", id, "--yes");
  expect(deleted.err).toBe(`${id} is being destroyed. Look how far it is with: binnacle jobs list ${id}\n`);
  const own = await world.admin.api.post(`/orgs/${world.demoOrgId}/clusters`, { name: "own" });
  expect((await on.run("clusters", "delete", own.body.id)).code).toBe(2);
  expect((await on.run("clusters", "delete", own.body.id, "--yes")).err).toBe(`Deleted ${own.body.id}.\n`);
});

test("[BC40] `credentials check` lists permissions and quotas, and ends with 1 where they do not suffice", async () => {
  const credential = await storedCredential(world.admin.api, world.demoOrgId);
  const ran = await on.run("credentials", "check", credential);
  expect(ran).toMatchObject({ code: 0, err: expect.stringContaining("arn:aws:iam::1:user/binnacle") });
  expect(ran.out).toMatch(/permission +ec2:RunInstances +ok/);
  expect(ran.out).toMatch(/quota +vCPU +ok +12 of 64 used/);
  allowed = false;
  expect(await on.run("credentials", "check", credential)).toMatchObject({
    code: 1,
    out: expect.stringMatching(/ec2:RunInstances +missing/),
    err: expect.stringContaining("does not suffice"),
  });
  isKnown = false;
  expect(await on.run("credentials", "check", credential)).toMatchObject({
    code: 1,
    out: "",
    err: "error: AWS refused the credential.\n",
  });
});

test("[BC1637] `credentials create` takes the fields of a provider, and lists show by name those that can be read", async () => {
  on.files.set("key.txt", "wJalrXUtnFEMI/K7MDENG\n");
  const given = ["--access-key-id", "AKIAIOSFODNN7EXAMPLE", "--secret-access-key-file", "key.txt"];
  await on.run("credentials", "create", "typed", "--provider", "aws", "--region", "eu-central-1", ...given);
  const { out } = await on.run("credentials", "show", "typed");
  expect(out).toContain("access_key_id=****MPLE");
  expect(out).not.toContain("wJalr");
});

import { startWorld } from "@binnacle/world";
import { afterAll, beforeEach, expect, test } from "vitest";
import { registeredCluster } from "../../server/src/clusters/clusters.fixture.ts";
import { TestOperator } from "../../server/src/hub/operator.fixture.ts";
import { type Machine, machine } from "./host.fixture.ts";

let on: Machine;
const world = await startWorld();
const operators: TestOperator[] = [];
afterAll(async () => {
  for (const { socket } of operators) socket.terminate();
  await world.stop();
});
beforeEach(() => {
  on = machine();
  on.env = { BINNACLE_URL: world.url, BINNACLE_TOKEN: world.admin.token };
  // The next look at the operators is due when the command looks again.
  on.onSleep = async () => {
    const jobs = world.database.kysely.updateTable("jobs").set({ run_at: new Date(0) });
    await jobs.where("kind", "=", "operator_upgrade").where("status", "=", "pending").execute();
  };
});

/** A cluster with an older operator, which ends every upgrade with this phase. */
async function cluster(
  org: string,
  phase: "succeeded" | "returned",
  reason: string | null = null,
  operator_version = "0.0.9",
): Promise<string> {
  const { name, connection_token } = await registeredCluster(world.admin.api, org);
  const operator = await new TestOperator(world.url, connection_token).opened();
  operators.push(operator);
  operator.onFrame = (frame) => {
    if (frame.type !== "request" || frame.request.name !== "upgrade_operator") return;
    const operator_upgrade = { phase, reason, from: "a", to: "b", since: new Date().toISOString() };
    operator.say({ type: "response", ref: frame.id, answer: { operator_upgrade } });
  };
  operator.hello({ operator_version, requests: ["upgrade_operator"] });
  await operator.next("welcome");
  return name;
}

test("[OU31] `clusters list` shows the version of each operator and its skew", async () => {
  const org = await world.org();
  const name = await cluster(org, "succeeded");
  const listed = await on.run("clusters", "list", "--org", org);
  expect(listed.out).toMatch(/OPERATOR +SKEW/);
  expect(listed.out.split("\n").find((line) => line.startsWith(name))).toMatch(/0\.0\.9 +outdated/);
});

test("[OU31] `clusters upgrade-operator` asks first, and with --wait shows what has become of the cluster", async () => {
  const org = await world.org();
  const name = await cluster(org, "succeeded");
  expect((await on.run("clusters", "upgrade-operator", name, "--org", org)).code).toBe(2);
  const ran = await on.run("clusters", "upgrade-operator", name, "--org", org, "--yes", "--wait");
  expect(ran).toMatchObject({ code: 0, out: expect.stringMatching(/succeeded +0\.0\.9 +0\.1\.0/) });
  const listed = await on.run("clusters", "upgrades", "list", "--org", org);
  expect(listed.out).toMatch(/succeeded +0\.1\.0 +1 of 1/);
});

test("[OU31] `clusters upgrade-operator --all --wait` ends with 1 where an operator went back to its former image", async () => {
  const org = await world.org();
  await cluster(org, "returned", "The image cannot be pulled.");
  const ran = await on.run("clusters", "upgrade-operator", "--all", "--batch", "1", "--org", org, "--yes", "--wait");
  expect(ran).toMatchObject({ code: 1, out: expect.stringContaining("The image cannot be pulled.") });
});

test("[OU39] the question of `clusters upgrade-operator --all` says how many operators of which versions get which", async () => {
  const org = await world.org();
  for (const version of ["0.0.8", "0.0.9", "0.0.9"]) await cluster(org, "succeeded", null, version);
  const ran = await on.run("clusters", "upgrade-operator", "--all", "--org", org);
  expect(ran.err).toContain("Upgrade 3 operators (2 of 0.0.9, 1 of 0.0.8) to 0.1.0?");
});

test("[OU31] `clusters upgrade-operator` takes several clusters at once", async () => {
  const org = await world.org();
  const names = [await cluster(org, "succeeded"), await cluster(org, "succeeded")];
  await cluster(org, "succeeded");
  await on.run("clusters", "upgrade-operator", ...names, "--org", org, "--yes", "--wait");
  const listed = await on.run("clusters", "upgrades", "list", "--org", org);
  expect(listed.out).toMatch(/succeeded +0\.1\.0 +2 of 2/);
});

test("[OU31] `clusters upgrade-operator` takes clusters or --all, and not both", async () => {
  expect((await on.run("clusters", "upgrade-operator", "--yes")).code).toBe(2);
  expect((await on.run("clusters", "upgrade-operator", "production", "--all", "--yes")).code).toBe(2);
});

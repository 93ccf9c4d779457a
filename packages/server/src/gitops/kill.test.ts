import { startWorld } from "@binnacle/world";
import { afterAll, expect, test } from "vitest";
import { insertCluster } from "../access/bindings.fixture.ts";
import { loadCatalog } from "../catalog/catalog.adapter.ts";
import { dispatchedKinds } from "../dispatched-kinds.ts";
import { GitProblem } from "../git/git-problem.ts";
import { newId } from "../id.adapter.ts";
import { localGit } from "./git-access.fixture.ts";
import { heldJob, repositoryOf, SETTINGS, setGitops, statusOf, subjects } from "./gitops.fixture.ts";
import { syncCluster } from "./sync.runner.ts";
import { type Verified, verifyAll } from "./verify.runner.ts";

/** No worker: the test is the worker, and is killed at a step of its choice. */
const git = await localGit();
const world = await startWorld({ git, env: { BINNACLE_ROLES: "api" } });
const { kysely: db } = world.database;
const catalog = await loadCatalog();
const ports = {
  ...{ db, vault: world.vault, git, clock: world.clock.now },
  kindsWith: (vault: typeof world.vault) => dispatchedKinds(vault, catalog),
};
afterAll(async () => {
  await world.stop();
  await git.close();
});

const KILLS = Number(process.env["BINNACLE_GITOPS_KILLS"] ?? 20);
class Killed extends Error {}

/** Runs the job, and ends it at one of its steps; false where it came to its end before. */
async function runUntil(orgId: string, cluster: string, kill: number | null): Promise<boolean> {
  let step = 0;
  git.step = () => {
    if (kill !== null && step++ === kill) throw new Killed();
  };
  try {
    await syncCluster(ports, await heldJob(db, orgId, cluster), cluster, new AbortController().signal);
    return false;
  } catch (error) {
    if (error instanceof Killed) return true;
    throw error;
  } finally {
    git.step = () => undefined;
  }
}

async function place() {
  const { org, admin } = await world.orgWithPeople();
  const cluster = await insertCluster(db, org);
  const { id: project_id } = (await admin.api.post("/projects", { cluster_id: cluster, name: "shop" })).body;
  await setGitops(admin, org);
  await runUntil(org, cluster, null);
  let made = 0;
  const change = async () => {
    const components = [{ name: "web", workload_spec: { image: "nginx:1.29" } }];
    const created = await admin.api.post("/apps", { project_id, name: `app${made++}`, components });
    expect(created.status, JSON.stringify(created.body)).toBe(201);
  };
  return { org, admin, cluster, project_id, change, made: () => made };
}

async function expectWhole(cluster: string, made: number) {
  const found: Verified[] = [];
  await verifyAll(ports, (one) => found.push(one));
  const repository = await repositoryOf(world, cluster);
  expect(found.filter((one) => one.repository === repository)).toMatchObject([
    { paths: [], problem: null, waiting: 0 },
  ]);
  const expected = Array.from({ length: made }, (_, index) => `app.create app${index}`);
  expect(await subjects(git, repository)).toEqual(["Write the whole state", ...expected]);
  expect(await git.run(repository, "fsck", "--strict", "--no-dangling")).toBe("");
}

test("[GO45] after a kill at every step the repository is what the database says, with one commit for each change", {
  timeout: 600_000,
}, async () => {
  const { org, cluster, change, made } = await place();
  let kills = 0;
  for (let round = 0; kills < KILLS; round++) {
    for (let one = 0; one <= round % 3; one++) await change();
    if (await runUntil(org, cluster, round % 4)) kills++;
  }
  await runUntil(org, cluster, null);
  await expectWhole(cluster, made());
});

test("[GO43] a change that is rolled back is not kept for Git", async () => {
  const { org, admin, cluster, project_id, change } = await place();
  await change();
  const components = [{ name: "web", workload_spec: { image: "nginx:1.29" } }];
  expect((await admin.api.post("/apps", { project_id, name: "app0", components })).status).toBe(409);
  const waiting = db.selectFrom("gitops_outbox").select("summary").where("cluster_id", "=", cluster);
  expect(await waiting.execute()).toEqual([{ summary: "app.create app0" }]);
  await runUntil(org, cluster, null);
  await expectWhole(cluster, 1);
});

test("[GO47] changes beyond what may wait become one commit of the state, and none is refused", async () => {
  const { org, admin, cluster, change } = await place();
  const other = await insertCluster(db, org);
  await db
    .insertInto("gitops_outbox")
    .values(
      Array.from({ length: 5_000 }, (_, revision) => ({
        ...{ cluster_id: other, revision, org_id: org, at: world.clock.now(), summary: "x", bytes: 1 },
        ...{ files: "{}", resources: "[]" },
      })),
    )
    .execute();
  for (let made = 0; made < 3; made++) await change();
  const waiting = await db.selectFrom("gitops_outbox").select("files").where("cluster_id", "=", cluster).execute();
  expect(waiting).toEqual([{ files: null }]);
  expect((await statusOf(admin, cluster)).pending.changes).toBe(1);
  await runUntil(org, cluster, null);
  const repository = await repositoryOf(world, cluster);
  expect(await subjects(git, repository)).toEqual(["Write the whole state", "app.create app2"]);
  const files = await git.run(repository, "ls-tree", "-r", "--name-only", "main");
  expect(files.match(/apps\/app\d\.yaml/g)).toHaveLength(3);
});

/** Does something once, at a step of the writing of a repository. */
function atStep(wanted: string, act: () => Promise<unknown>) {
  git.step = async (name) => {
    if (name !== wanted) return;
    git.step = () => undefined;
    await act();
  };
}

const run = async (org: string, cluster: string) =>
  syncCluster(ports, await heldJob(db, org, cluster), cluster, new AbortController().signal);

test("[GO48] a push that is under way while the branch changes counts for nothing, and the new branch has the whole state", async () => {
  const { org, admin, cluster, change } = await place();
  await change();
  atStep("after push", () => setGitops(admin, org, { ...SETTINGS, branch: "other" }));
  await run(org, cluster);
  expect(await statusOf(admin, cluster)).toMatchObject({ state: "pending", branch: "other", head: null });
  await runUntil(org, cluster, null);
  const { state, head } = await statusOf(admin, cluster);
  const repository = await repositoryOf(world, cluster);
  expect([state, head.id]).toEqual(["in_sync", (await git.run(repository, "rev-parse", "other")).trim()]);
  expect(await git.run(repository, "log", "--format=%s", "other")).toBe("Write the whole state\n");
});

test("[GO48] what the host says of a push to a former branch is not an error of the new one", async () => {
  const { org, admin, cluster, change } = await place();
  await change();
  git.refusesPushes = true;
  atStep("before push", () => setGitops(admin, org, { ...SETTINGS, branch: "other" }));
  await run(org, cluster).finally(() => {
    git.refusesPushes = false;
  });
  expect(await statusOf(admin, cluster)).toMatchObject({ state: "pending", error: null });
});

test.each([
  ["branch", { ...SETTINGS, branch: "other" }],
  ["owner", { ...SETTINGS, owner: "others" }],
])("[GO48] an organization that returns to a former %s goes on from what it wrote there", async (_, elsewhere) => {
  const { org, admin, cluster, change } = await place();
  const repository = await repositoryOf(world, cluster);
  await setGitops(admin, org, elsewhere);
  await run(org, cluster);
  await change();
  await run(org, cluster);
  await setGitops(admin, org);
  await run(org, cluster);
  const { state, head, error } = await statusOf(admin, cluster);
  expect([state, error]).toEqual(["in_sync", null]);
  expect((await git.run(repository, "rev-parse", "main")).trim()).toBe(head.id);
  expect(await differences(cluster)).toEqual([]);
});

async function differences(cluster: string) {
  const found: Verified[] = [];
  await verifyAll(ports, (one) => found.push(one));
  const repository = await repositoryOf(world, cluster);
  return found
    .filter((one) => one.repository === repository)
    .flatMap(({ paths, problem }) => [...paths, ...(problem ? [problem] : [])]);
}

test.each([
  ["that were to be pushed again", false],
  ["that became the whole state meanwhile", true],
])("[GO46] a push that arrives after it was given up is ours, with changes %s", async (_, isReplaced) => {
  const { org, admin, cluster, change } = await place();
  const repository = await repositoryOf(world, cluster);
  await change();
  const gaveUp = () => Promise.reject(new GitProblem("unreachable", "The Git host did not answer in time."));
  atStep("between the objects and the branch", gaveUp);
  await run(org, cluster);
  const record = db.selectFrom("gitops_repositories").select("pushing_head").where("cluster_id", "=", cluster);
  const { pushing_head } = await record.executeTakeFirstOrThrow();
  await change();
  if (isReplaced)
    await db.updateTable("gitops_outbox").set({ files: null }).where("cluster_id", "=", cluster).execute();
  await db
    .updateTable("gitops_settings")
    .set({ paused_until: new Date(0) })
    .where("org_id", "=", org)
    .execute();
  atStep("before push", () => git.run(repository, "update-ref", "refs/heads/main", pushing_head ?? ""));
  await run(org, cluster);
  expect(await statusOf(admin, cluster)).toMatchObject({ state: "in_sync", foreign_head: null });
  expect(await differences(cluster)).toEqual([]);
  const last = isReplaced ? "Write the whole state" : "app.create app1";
  expect(await subjects(git, repository)).toEqual(["Write the whole state", "app.create app0", last]);
});

test("[GO46] a head that is ahead of a restored database is ours, and one from which commits were taken away is not", async () => {
  const { org, admin, cluster, change } = await place();
  const repository = await repositoryOf(world, cluster);
  const record = db.selectFrom("gitops_repositories").select(["head", "head_revision"]);
  const before = await record.where("cluster_id", "=", cluster).executeTakeFirstOrThrow();
  await change();
  await run(org, cluster);
  await db.updateTable("gitops_repositories").set(before).where("cluster_id", "=", cluster).execute();
  await run(org, cluster);
  expect(await statusOf(admin, cluster)).toMatchObject({ state: "in_sync" });
  expect(await subjects(git, repository)).toEqual(["Write the whole state", "app.create app0"]);
  expect(await differences(cluster)).toEqual([]);
  await git.run(repository, "update-ref", "refs/heads/main", before.head ?? "");
  await run(org, cluster);
  expect(await statusOf(admin, cluster)).toMatchObject({ state: "ahead", foreign_head: before.head });
});

test("[GO21] a key that was made while the host changed is refused and taken away again", async () => {
  const { org, admin, cluster } = await place();
  const keys = () => git.deployKeys.get(repository)?.size;
  const repository = await repositoryOf(world, cluster);
  const before = keys();
  atStep("after the key", () => setGitops(admin, org, { ...SETTINGS, owner: "others" }));
  const refused = await admin.api.post(`/clusters/${cluster}/agent-credentials`);
  expect(refused).toMatchObject({ status: 409, body: { detail: expect.stringContaining("changed meanwhile") } });
  expect(keys()).toBe(before);
  expect((await statusOf(admin, cluster)).keys).toEqual([]);
});

test("[GO49] while the host does not answer, one cluster of the organization asks it and the others wait", async () => {
  const { org, cluster, change } = await place();
  const other = await insertCluster(db, org);
  await change();
  git.isDown = true;
  let asked = 0;
  const ask = async (which: string) => {
    git.step = () => void asked++;
    await run(org, which);
  };
  await ask(cluster);
  expect(asked).toBe(1);
  await ask(other);
  await ask(cluster);
  expect(asked).toBe(1);
  git.isDown = false;
  await db
    .updateTable("gitops_settings")
    .set({ paused_until: new Date(0) })
    .where("org_id", "=", org)
    .execute();
  await runUntil(org, cluster, null);
  await expectWhole(cluster, 1);
});

test("[GO52] a resource whose definition has left the catalog has a file that says so", async () => {
  const { org, admin, cluster, project_id } = await place();
  const id = newId();
  const now = world.clock.now();
  await db
    .insertInto("addon_instances")
    .values({
      ...{ id, org_id: org, cluster_id: cluster, project_id, namespace: "shop", name: "db", definition_id: newId() },
      ...{ values: "{}", chart_version: "1.0.0", generation: 1, revision_number: 1, phase: "ready" },
      ...{ created_at: now, updated_at: now },
    })
    .execute();
  await db
    .insertInto("desired_resources")
    .values({
      ...{ cluster_id: cluster, kind: "addon_instance", resource_id: id, key: "addon_instance/shop/db" },
      ...{ generation: 1, revision: 1, updated_at: now },
    })
    .execute();
  await setGitops(admin, org, null);
  await setGitops(admin, org);
  await runUntil(org, cluster, null);
  const text = await git.run(await repositoryOf(world, cluster), "show", "main:projects/shop/addons/db.yaml");
  expect(text).toContain("binnacle.dev/not-sent:");
});

import { startWorld } from "@binnacle/world";
import { afterAll, expect, test } from "vitest";
import { insertCluster } from "../access/bindings.fixture.ts";
import { localGit } from "./git-access.fixture.ts";
import { inSync, repositoryOf, setGitops, subjects } from "./gitops.fixture.ts";

const CLUSTERS = Number(process.env["BINNACLE_GITOPS_CLUSTERS"] ?? 4);
const CHANGES = Number(process.env["BINNACLE_GITOPS_CHANGES"] ?? 24);
const WITHIN_MS = 120_000;

const git = await localGit();
const world = await startWorld({ git });
afterAll(async () => {
  await world.stop();
  await git.close();
});

test("[GO44] changes of several clusters that were made while the host was down are written in their order within two minutes of its return", {
  timeout: 900_000,
}, async () => {
  const { org, admin } = await world.orgWithPeople();
  const places: { cluster: string; project_id: string }[] = [];
  for (let made = 0; made < CLUSTERS; made++) {
    const cluster = await insertCluster(world.database.kysely, org);
    const { id } = (await admin.api.post("/projects", { cluster_id: cluster, name: "shop" })).body;
    places.push({ cluster, project_id: id });
  }
  await setGitops(admin, org);
  for (const { cluster } of places) await inSync(admin, cluster);
  git.isDown = true;
  for (let made = 0; made < CHANGES; made++) {
    const { project_id } = places[made % CLUSTERS] as (typeof places)[number];
    const components = [{ name: "web", workload_spec: { image: "nginx:1.29" } }];
    const created = await world.admin.api.post("/apps", { project_id, name: `app${made}`, components });
    expect(created.status, JSON.stringify(created.body)).toBe(201);
  }
  git.isDown = false;
  const returnedMs = performance.now();
  for (const { cluster } of places) await inSync(world.admin, cluster, "in_sync", WITHIN_MS);
  const tookMs = performance.now() - returnedMs;
  expect(tookMs).toBeLessThan(WITHIN_MS);
  process.stderr.write(`${CHANGES} changes on ${CLUSTERS} clusters: ${Math.round(tookMs)} ms\n`);
  for (const [index, { cluster }] of places.entries()) {
    const ours = Array.from({ length: CHANGES }, (_, change) => change).filter((change) => change % CLUSTERS === index);
    const expected = ["Write the whole state", ...ours.map((change) => `app.create app${change}`)];
    expect(await subjects(git, await repositoryOf(world, cluster))).toEqual(expected);
  }
});

import { startWorld } from "@binnacle/world";
import { afterAll, expect, test } from "vitest";
import { registeredCluster } from "../../server/src/clusters/clusters.fixture.ts";
import { localGit } from "../../server/src/gitops/git-access.fixture.ts";
import { inSync, setGitops } from "../../server/src/gitops/gitops.fixture.ts";
import { machine } from "./host.fixture.ts";

const git = await localGit();
const world = await startWorld({ git });
afterAll(async () => {
  await world.stop();
  await git.close();
});

test("[GO62] `gitops status` shows the head of a cluster's repository, and `gitops test` ends with 1 where the host cannot be used", async () => {
  const on = machine({ BINNACLE_URL: world.url, BINNACLE_TOKEN: world.admin.token });
  const org = await world.org();
  await setGitops(world.admin, org);
  const { id, name } = await registeredCluster(world.admin.api, org);
  await world.admin.api.post(`/clusters/${id}/agent-credentials`);
  const { head } = await inSync(world.admin, id);
  const status = await on.run("gitops", "status", name, "--org", org);
  expect(status).toMatchObject({ code: 0, out: expect.stringContaining(head.id.slice(0, 12)) });
  expect(status.out).toContain("in_sync");
  const works = await on.run("gitops", "test", "--org", org);
  expect(works).toMatchObject({ code: 0, err: expect.stringContaining(git.hostKey.fingerprint) });
  git.isDown = true;
  const fails = await on.run("gitops", "test", "--org", org);
  expect(fails).toMatchObject({ code: 1, err: expect.stringContaining("unreachable: The Git host did not answer.") });
});

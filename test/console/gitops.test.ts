import { afterAll, beforeAll, expect, test } from "vitest";
import { type LocalGit, localGit } from "../../packages/server/src/gitops/git-access.fixture.ts";
import { inSync, SETTINGS } from "../../packages/server/src/gitops/gitops.fixture.ts";
import { startWorld, type World } from "../world/world.ts";
import { describeInBrowser } from "./browser.ts";

describeInBrowser("desired state in Git", (visit) => {
  let git: LocalGit;
  let world: World;

  beforeAll(async () => {
    git = await localGit();
    world = await startWorld({ git });
  });
  afterAll(async () => {
    await world?.stop();
    await git?.close();
  });

  test("[GO63] somebody tests a Git host, sets it, and sees on the page of a cluster what has been written", async () => {
    const { id } = (await world.admin.api.post(`/orgs/${world.demoOrgId}/clusters`, { name: "small" })).body;
    const visitor = await visit({ url: world.url });
    await visitor.signIn(world.admin.username, world.admin.password);
    const { page } = visitor;
    await visitor.goTo("/o/demo/settings");
    await page.getByRole("textbox", { name: "Address", exact: true }).fill(SETTINGS.base_url);
    await page.getByLabel("Owner").fill(SETTINGS.owner);
    await page.getByLabel("Token").fill("another");
    await page.getByRole("button", { name: "Test the host" }).click();
    await page.getByText("The Git host does not know the token.").waitFor();
    await page.getByLabel("Token").fill(SETTINGS.token);
    await page.getByRole("button", { name: "Test the host" }).click();
    await page.getByText(git.hostKey.fingerprint).waitFor();
    await page.getByRole("button", { name: "Write to this Git host" }).click();
    await page.getByRole("button", { name: "Save the Git host" }).waitFor();
    expect(await page.content()).not.toContain(SETTINGS.token);
    const { head } = await inSync(world.admin, id);
    await visitor.goTo(`/o/demo/clusters/${id}`);
    await page.getByText("In sync").waitFor();
    await page.getByText(head.id.slice(0, 12)).waitFor();
  });
});

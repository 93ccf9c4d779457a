import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { bindRole } from "../../packages/server/src/access/bindings.fixture.ts";
import { freePort } from "../world/free-port.ts";
import { dataFolder, type ServerProcess, startServer } from "../world/server-process.ts";
import { startWorld, type World } from "../world/world.ts";
import { describeInBrowser } from "./browser.ts";
import { type Everything, makeEverything } from "./everything.ts";

const appOf = ({ slug, namespace, app, projectId }: Everything) =>
  `/o/${slug}/apps/${namespace}/${app}?project=${projectId}`;
const live = (page: Page) => page.getByRole("status", { name: "Connection: Live" }).waitFor();

describeInBrowser("what is on screen", (visit) => {
  let world: World;
  let every: Everything;
  beforeAll(async () => {
    world = await startWorld();
    every = await makeEverything(world);
  });
  afterAll(async () => {
    await every?.operator.stop();
    await world?.stop();
  });

  test("[WC116] a page shows what somebody else does, soon after the server has answered them", async () => {
    const [one, other] = [await visit({ url: world.url }), await visit({ url: world.url })];
    for (const visitor of [one, other]) {
      await visitor.signIn(world.admin.username, world.admin.password);
      await visitor.goTo(appOf(every));
      await live(visitor.page);
      await visitor.page.getByRole("heading", { level: 1, name: every.app }).waitFor();
    }
    await one.page.getByRole("button", { name: "More actions" }).click();
    await one.page.getByRole("menuitem", { name: "Pause", exact: true }).click();
    const answered = one.page.waitForResponse(
      (response) => response.url().includes("/pause") && response.request().method() === "POST",
    );
    const shown = other.page.getByText("The app is paused.").first().waitFor();
    await one.page.getByRole("dialog").getByRole("button", { name: "Pause", exact: true }).click();
    expect((await answered).status()).toBe(200);
    const answeredAt = performance.now();
    await shown;
    const tookMs = performance.now() - answeredAt;
    process.stdout.write(`  the other window showed the change ${Math.round(tookMs)} ms after the answer\n`);
    // A second on a machine of its own; tests share theirs. Without events it would be 15 seconds.
    expect(tookMs).toBeLessThan(5_000);
  });

  test("[WC118] the page of an app whose operator has gone says when it was last seen", async () => {
    const visitor = await visit({ url: world.url });
    await visitor.signIn(world.admin.username, world.admin.password);
    await visitor.goTo(appOf(every));
    await visitor.page.getByRole("heading", { level: 1, name: every.app }).waitFor();
    await visitor.page.getByText(/^generation \d+ of \d+, seen/i).waitFor();
    await every.operator.stop();
    world.clock.advance(120_000);
    await visitor.page
      .getByText(/last seen/i)
      .first()
      .waitFor();
  });

  test("[WC119] a page ends when the role behind it is taken away, without a reload", async () => {
    const person = await world.person({ org: every.orgId });
    const binding = await bindRole(world.database.kysely, person.id, "viewer", { project: every.projectId });
    const visitor = await visit({ url: world.url });
    await visitor.signIn(person.username, person.password);
    await visitor.goTo(appOf(every));
    await visitor.page.getByRole("heading", { level: 1, name: every.app }).waitFor();
    await live(visitor.page);
    await world.admin.api.delete(`/projects/${every.projectId}/rbac?binding_id=${binding}`);
    await visitor.page.getByText("Not found", { exact: true }).first().waitFor();
    await visitor.page.getByRole("tab").first().waitFor({ state: "detached" });
  });
});

describeInBrowser("a server that is killed", (visit) => {
  const servers: ServerProcess[] = [];
  let folder: Awaited<ReturnType<typeof dataFolder>>;
  beforeAll(async () => {
    folder = await dataFolder();
  });
  afterEach(async () => {
    for (const server of servers.splice(0)) {
      server.signal("SIGTERM");
      await server.exited;
    }
  });
  afterAll(() => folder?.remove());

  test("[WC117] the page of a killed server keeps what was read, says that it reconnects, and is live again after a restart", async () => {
    const port = String(await freePort());
    const env = { BINNACLE_DATA_DIR: folder.path, BINNACLE_PORT: port };
    const first = await startServer(env);
    servers.push(first);
    const visitor = await visit({ url: first.url });
    await visitor.signIn("admin", "binnacle");
    await visitor.goTo("/o/demo/members");
    const row = visitor.page.getByRole("row").filter({ hasText: "admin" }).first();
    await row.waitFor();
    await live(visitor.page);
    first.signal("SIGKILL");
    await first.exited;
    await visitor.page.getByRole("status", { name: "Connection: Reconnecting" }).waitFor();
    expect(await row.isVisible()).toBe(true);
    servers.splice(0, 1, await startServer(env));
    await live(visitor.page);
    expect(await row.isVisible()).toBe(true);
    expect(await visitor.page.getByRole("heading", { level: 1, name: "Members" }).isVisible()).toBe(true);
  });
});

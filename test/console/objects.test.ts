import { afterAll, beforeAll, expect, test } from "vitest";
import { startWorld, type World } from "../world/world.ts";
import { describeInBrowser } from "./browser.ts";
import { type Everything, makeEverything } from "./everything.ts";

describeInBrowser("the objects of an app", (visit) => {
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

  const address = (query: string) =>
    `/o/${every.slug}/apps/${every.namespace}/${every.app}?project=${every.projectId}&view=tree${query}`;

  test("[WC2921] a click on an object of the tree opens it with its status, its family, its own events and its log, and the address names it", async () => {
    const visitor = await visit({ url: world.url });
    const { page } = visitor;
    await visitor.signIn(world.admin.username, world.admin.password);
    await visitor.goTo(address(""));
    const tree = page.getByRole("list", { name: "Resources" });
    await tree.getByRole("button", { name: "Pod web-0", exact: true }).click();
    const panel = page.getByRole("dialog", { name: "Pod web-0" });
    await panel.getByRole("region", { name: "Recent events" }).getByText("BackOff").waitFor();
    await panel.getByRole("log", { name: "Log of web-0" }).getByText("GET /healthz 200 39").waitFor();
    await panel.getByRole("link", { name: "Terminal in web-0" }).waitFor();
    expect(new URL(page.url()).searchParams.get("object")).toBe("Pod/web-0");

    // From a pod to what has started it. The events of the pod are not those of its ReplicaSet.
    await panel.getByRole("button", { name: "ReplicaSet web-7d4", exact: true }).click();
    const parent = page.getByRole("dialog", { name: "ReplicaSet web-7d4" });
    await parent.getByRole("button", { name: "Pod web-0", exact: true }).waitFor();
    await parent.getByText("Kubernetes says nothing about it.").waitFor();
    await parent.getByRole("log").getByText("GET /healthz 200 39").waitFor();
    await page.keyboard.press("Escape");
    await parent.waitFor({ state: "hidden" });
    expect(new URL(page.url()).searchParams.has("object")).toBe(false);
    expect(visitor.problems).toEqual([]);
  });

  test("[WC2921] a link to an object opens it, and one that is gone is said to be gone", async () => {
    const visitor = await visit({ url: world.url });
    const { page } = visitor;
    await visitor.signIn(world.admin.username, world.admin.password);
    await visitor.goTo(address("&object=Deployment/web"));
    await page
      .getByRole("dialog", { name: "Deployment web" })
      .getByRole("button", { name: "ReplicaSet web-7d4" })
      .waitFor();
    await visitor.goTo(address("&object=Pod/web-of-yesterday"));
    await page.getByRole("dialog", { name: "Pod/web-of-yesterday" }).getByText("It is not there any more").waitFor();
    expect(visitor.problems).toEqual([]);
  });

  test("[WC2921] a component in the tree opens its panel", async () => {
    const visitor = await visit({ url: world.url });
    const { page } = visitor;
    await visitor.signIn(world.admin.username, world.admin.password);
    await visitor.goTo(address(""));
    await page
      .getByRole("list", { name: "Resources" })
      .getByRole("button", { name: "Component web", exact: true })
      .click();
    await page.getByRole("dialog", { name: "web" }).getByRole("region", { name: "Pods" }).waitFor();
  });
});

import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { registeredCluster } from "../../packages/server/src/clusters/clusters.fixture.ts";
import { TestOperator } from "../../packages/server/src/hub/operator.fixture.ts";
import { type Person, startWorld, type World } from "../world/world.ts";
import { describeInBrowser, type Visitor } from "./browser.ts";

/** Pictures of the page and its dialog in both schemes, for people who want to judge them. */
const PICTURES = process.env["BINNACLE_PICTURES"];

describeInBrowser("the upgrade of all operators on the page of clusters", (visit) => {
  let world: World;
  let member: Person;
  const operators: TestOperator[] = [];
  const phases: { phase: "running" | "returned" } = { phase: "running" };

  beforeAll(async () => {
    world = await startWorld();
    member = await world.person({ org: world.demoOrgId });
    await connect("0.1.0");
  });
  afterAll(async () => {
    for (const { socket } of operators) socket.terminate();
    await world.stop();
  });

  async function connect(operator_version: string, canUpgrade = true): Promise<string> {
    const { name, connection_token } = await registeredCluster(world.admin.api, world.demoOrgId);
    const operator = await new TestOperator(world.url, connection_token).opened();
    operators.push(operator);
    operator.onFrame = (frame) => {
      if (frame.type !== "request" || frame.request.name !== "upgrade_operator") return;
      const operator_upgrade = { ...phases, reason: null, from: "a", to: "b", since: new Date().toISOString() };
      operator.say({ type: "response", ref: frame.id, answer: { operator_upgrade } });
    };
    operator.hello({ operator_version, requests: canUpgrade ? ["upgrade_operator"] : [] });
    await operator.next("welcome");
    return name;
  }

  async function clustersOf(person: { username: string; password: string }): Promise<Visitor> {
    const visitor = await visit({ url: world.url, width: 1440 });
    await visitor.signIn(person.username, person.password);
    await visitor.goTo("/o/demo/clusters");
    return visitor;
  }

  async function picture({ page }: Visitor, name: string): Promise<void> {
    if (!PICTURES) return;
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      await page.screenshot({ path: join(PICTURES, `${name}, ${colorScheme}.png`) });
    }
  }

  test("[OU39] an upgrade of all operators is offered to administrators, once there is one to upgrade", async () => {
    const visitor = await clustersOf(world.admin);
    const { page } = visitor;
    const button = page.getByRole("button", { name: "Upgrade 1 operator…" });
    await page.getByText("0.1.0").first().waitFor();
    expect(await page.getByRole("button", { name: /^Upgrade/ }).count()).toBe(0);

    const name = await connect("0.0.9");
    await button.waitFor();
    const other = await clustersOf(member);
    await other.page.getByRole("link", { name }).waitFor();
    expect(await other.page.getByRole("button", { name: /^Upgrade/ }).count()).toBe(0);
    expect([...visitor.problems, ...other.problems]).toEqual([]);
  });

  test("[OU39] the dialog says which versions get which, and the list shows the upgrade under way", async () => {
    for (const version of ["0.0.8", "0.0.9"]) await connect(version);
    await connect("0.0.9", false);
    const visitor = await clustersOf(world.admin);
    const { page } = visitor;
    const button = page.getByRole("button", { name: "Upgrade 3 operators…" });
    await button.waitFor();
    await picture(visitor, "clusters with outdated operators");
    await button.click();
    const dialog = page.getByRole("dialog", { name: "Upgrade 3 operators to 0.1.0" });
    await dialog.getByText("2 operators of 0.0.9 and 1 operator of 0.0.8 get the version 0.1.0.").waitFor();
    await dialog.getByText("Left out: 1 operator of an older version").waitFor();
    await dialog.getByLabel("How many at a time").fill("1");
    await dialog.getByRole("button", { name: "The same by command" }).click();
    await dialog.getByText("binnacle clusters upgrade-operator --org demo --all --batch 1").waitFor();
    await picture(visitor, "upgrade of all operators");
    await dialog.getByRole("button", { name: "Upgrade 3 operators" }).click();
    await dialog.waitFor({ state: "detached" });
    await page.getByText("The upgrade of 3 operators has begun.").waitFor();
    await page.getByText("upgrading").waitFor();
    expect(await page.getByText("waits", { exact: false }).count()).toBe(2);
    await picture(visitor, "upgrade under way");
    expect(await page.getByRole("button", { name: /^Upgrade/ }).count()).toBe(0);
    expect(visitor.problems).toEqual([]);
    expect(visitor.undocumented).toEqual([]);
  });
});

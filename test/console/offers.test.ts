import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ACCESS, type OperationName } from "../../packages/client/src/index.ts";
import { bindRole } from "../../packages/server/src/access/bindings.fixture.ts";
import { type Person, startWorld, type World } from "../world/world.ts";
import { describeInBrowser } from "./browser.ts";
import { type Everything, makeEverything } from "./everything.ts";
import { goTo, settled } from "./views.ts";

const PEOPLE = [
  "superuser",
  "administrator of the organization",
  "editor of the cluster",
  "viewer of the cluster",
  "editor of the project",
  "viewer of the project",
  "member",
] as const;
type Who = (typeof PEOPLE)[number];

/** Who meets each requirement, written out so that the console's own decision is held against something else. */
const MEET: Readonly<Record<string, readonly Who[]>> = {
  "org_role admin": PEOPLE.slice(0, 2),
  "cluster_role editor": PEOPLE.slice(0, 3),
  "project_role org_admin": PEOPLE.slice(0, 2),
  "project_role editor": [...PEOPLE.slice(0, 3), "editor of the project"],
  "project_role viewer": PEOPLE.slice(0, 6),
};

type Offer = readonly [role: "button" | "link" | "tab" | "menuitem", name: string, operation: OperationName];

const pagesOf = ({ slug, clusterId, projectId, namespace, app }: Everything) =>
  [
    [`/o/${slug}/clusters`, [["link", "Add cluster", "createCluster"]]],
    [`/o/${slug}/clusters/${clusterId}`, [["link", "Create project", "createProject"]]],
    [
      `/o/${slug}/projects/${projectId}`,
      [
        ["link", "Create app", "createApp"],
        ["button", "Delete", "deleteProject"],
      ],
    ],
    [`/o/${slug}/members`, [["button", "Add member", "addMember"]]],
    [
      `/o/${slug}/apps/${namespace}/${app}?project=${projectId}`,
      [
        ["tab", "Terminal", "execComponent"],
        ["menuitem", "Edit configuration", "updateApp"],
        ["menuitem", "Scale", "scaleApp"],
        ["menuitem", "Pause", "pauseApp"],
        ["menuitem", "Redeploy", "redeployApp"],
        ["menuitem", "Roll back", "rollbackToDeployment"],
        ["menuitem", "Attach addon", "attachAddon"],
        ["menuitem", "Detach addon", "detachAddon"],
        ["menuitem", "Save as template", "createStackTemplateFromApp"],
        ["menuitem", "Delete", "deleteApp"],
      ],
    ],
  ] as const satisfies readonly (readonly [string, readonly Offer[]])[];

async function offered(page: Page, offers: readonly Offer[]): Promise<string[]> {
  const more = page.getByRole("button", { name: "More actions" });
  if (offers.some(([role]) => role === "menuitem") && (await more.count()) > 0) {
    await more.click();
    await page.getByRole("menuitem").first().waitFor();
  }
  const found: string[] = [];
  for (const [role, name] of offers) {
    const place = role === "menuitem" ? page : page.locator("main");
    if ((await place.getByRole(role, { name, exact: true }).count()) > 0) found.push(name);
  }
  return found;
}

function permitted(who: Who, offers: readonly Offer[]): string[] {
  const meets = (operation: OperationName) => {
    const requirement = ACCESS[operation];
    const words = `${requirement.needs} ${"role" in requirement ? requirement.role : ""}`;
    return MEET[words]?.includes(who) ?? expect.unreachable(`nobody is said to meet ${words}`);
  };
  return offers.filter(([, , operation]) => meets(operation)).map(([, name]) => name);
}

describeInBrowser("what is offered", (visit) => {
  let world: World;
  let every: Everything;
  const people = {} as Record<Who, Person>;
  beforeAll(async () => {
    world = await startWorld();
    every = await makeEverything(world);
    const { kysely: db } = world.database;
    const member = () => world.person({ org: every.orgId });
    people.superuser = world.admin;
    people["administrator of the organization"] = await world.person({ org: every.orgId, role: "admin" });
    for (const role of ["editor", "viewer"] as const) {
      people[`${role} of the cluster`] = await member();
      people[`${role} of the project`] = await member();
      await bindRole(db, people[`${role} of the cluster`].id, role, { cluster: every.clusterId });
      await bindRole(db, people[`${role} of the project`].id, role, { project: every.projectId });
    }
    people.member = await member();
  });
  afterAll(async () => {
    await every?.operator.stop();
    await world?.stop();
  });

  test.each(PEOPLE)("[WC120] to a %s is what they may do, and nothing else", async (who) => {
    const visitor = await visit({ url: world.url });
    await visitor.signIn(people[who].username, people[who].password);
    await visitor.goTo("/");
    await settled(visitor.page);
    for (const [address, offers] of pagesOf(every)) {
      await goTo(visitor.page, address);
      await settled(visitor.page);
      expect(await offered(visitor.page, offers), address).toEqual(permitted(who, offers));
      await visitor.page.keyboard.press("Escape");
    }
    await visitor.context.close();
  });
});

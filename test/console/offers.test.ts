import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ACCESS, type OperationName } from "../../packages/client/src/index.ts";
import { bindRole } from "../../packages/server/src/access/bindings.fixture.ts";
import { type Person, startWorld, type World } from "../world/world.ts";
import { describeInBrowser } from "./browser.ts";
import { type Everything, made, makeEverything } from "./everything.ts";
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
  "signed_in ": PEOPLE,
  "superuser ": PEOPLE.slice(0, 1),
  "org_role admin": PEOPLE.slice(0, 2),
  "any_org_admin ": PEOPLE.slice(0, 2),
  // Nobody here has this role on the cluster or the project itself.
  "cluster_role admin": PEOPLE.slice(0, 2),
  "cluster_role org_admin": PEOPLE.slice(0, 2),
  "project_role admin": PEOPLE.slice(0, 2),
  "cluster_role viewer": PEOPLE.slice(0, 4),
  "cluster_role editor": PEOPLE.slice(0, 3),
  "project_role org_admin": PEOPLE.slice(0, 2),
  "project_role editor": [...PEOPLE.slice(0, 3), "editor of the project"],
  "project_role viewer": PEOPLE.slice(0, 6),
};

type Offer = readonly [role: "button" | "link" | "tab" | "menuitem", name: string, operation: OperationName];

function pagesOf(every: Everything): readonly (readonly [string, readonly Offer[]])[] {
  const { slug, clusterId, projectId, namespace, app, addonId } = every;
  const org = `/o/${slug}`;
  const cluster = `${org}/clusters/${clusterId}`;
  const project = `${org}/projects/${projectId}`;
  const ofApp = `${org}/apps/${namespace}/${app}?project=${projectId}`;
  return [
    [`${org}/clusters`, [["link", "Add cluster", "createCluster"]]],
    [
      cluster,
      [
        ["link", "Create project", "createProject"],
        ["button", "Suspend reconciliation", "suspendCluster"],
        ["tab", "Roles", "listClusterRoles"],
      ],
    ],
    [`${cluster}?tab=registry`, [["button", "Attach a secret", "attachClusterRegistrySecret"]]],
    [`${cluster}?tab=roles`, [["button", "Grant a role", "grantClusterRole"]]],
    [
      `${cluster}?tab=settings`,
      [
        ["button", "Save", "updateCluster"],
        ["button", "Save the policy", "updateClusterSettings"],
        ["button", "Rotate…", "rotateClusterToken"],
        ["button", "Abandon…", "abandonCluster"],
        ["button", "Detach…", "detachCluster"],
        ["button", "Delete…", "deleteCluster"],
      ],
    ],
    [
      project,
      [
        ["link", "Create app", "createApp"],
        ["button", "Suspend reconciliation", "suspendProject"],
        ["button", "Delete", "deleteProject"],
      ],
    ],
    [`${project}?tab=secrets`, [["button", "Attach a secret", "attachProjectRegistrySecret"]]],
    [`${project}?tab=policy`, [["button", "Save the policy", "updateProjectPolicy"]]],
    [`${project}?tab=roles`, [["button", "Grant a role", "grantProjectRole"]]],
    [
      `${org}/addons?tab=catalog`,
      [
        ["button", "Add an addon", "createAddonInstance"],
        ["button", "Add PostgreSQL", "createAddonInstance"],
      ],
    ],
    [`${org}/addons/${addonId}`, [["menuitem", "Delete addon", "deleteAddonInstance"]]],
    [`${org}/addons/${addonId}?tab=values`, [["button", "Apply values", "updateAddonInstance"]]],
    [
      `${org}/members`,
      [
        ["button", "Add member", "addMember"],
        ["button", "Create user", "createUser"],
        ["tab", "Access", "getRoleMatrix"],
        ["button", "Actions for Administrator", "changeMember"],
      ],
    ],
    [`${org}/credentials`, [["button", "Add credential", "createCredential"]]],
    [
      `${org}/credentials?tab=charts`,
      [
        ["button", "Add repository", "createChartRepository"],
        ["button", "Actions for production 3", "updateChartRepository"],
      ],
    ],
    [`${org}/templates`, [["link", "Create template", "createStackTemplate"]]],
    [
      `${org}/templates/${slug}/${every.template}`,
      [
        // It is a template of the organization, so its changes need what those of the organization need.
        ["link", "Edit", "updateOrg"],
        ["menuitem", "Delete template", "updateOrg"],
      ],
    ],
    [`${org}/audit`, [["button", "Export", "listAuditLog"]]],
    [
      `${org}/settings`,
      [
        ["button", "Save", "updateOrg"],
        ["button", "Delete organization", "deleteOrg"],
      ],
    ],
    [
      "/admin",
      [
        ["button", "Create organization", "createOrg"],
        ["tab", "Users", "setUserTier"],
        ["tab", "Tiers and limits", "createRateLimit"],
        ["tab", "System", "getSystemStatus"],
      ],
    ],
    ["/admin?tab=tiers", [["button", "Add limit", "createRateLimit"]]],
    [`${ofApp}&tab=deployments`, [["button", "Roll back", "rollbackToDeployment"]]],
    [
      `${ofApp}&tab=secrets`,
      [
        ["button", "Unset API_KEY", "deleteComponentSecret"],
        ["button", "Set", "updateComponentSecrets"],
      ],
    ],
    [`${ofApp}&tab=configuration`, [["button", "Review changes", "updateApp"]]],
    [
      `${ofApp}&component=web`,
      [
        ["button", "Scale", "scaleApp"],
        ["link", "Terminal in web-0", "execComponent"],
      ],
    ],
    [
      ofApp,
      [
        ["tab", "Terminal", "execComponent"],
        ["button", "Edit configuration", "updateApp"],
        ["button", "Apply what was asked for", "redeployApp"],
        ["button", "Adopt it in the configuration", "updateApp"],
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
  ];
}

async function offered(page: Page, offers: readonly Offer[]): Promise<string[]> {
  const more = page.getByRole("button", { name: "More actions" });
  if (offers.some(([role]) => role === "menuitem") && (await more.count()) > 0) {
    await more.click();
    await page.getByRole("menuitem").first().waitFor();
  }
  // A drawer that the address opens covers the page.
  const drawer = page.getByRole("dialog");
  const content = (await drawer.count()) > 0 ? drawer : page.locator("main");
  const counts = await Promise.all(
    offers.map(([role, name]) => (role === "menuitem" ? page : content).getByRole(role, { name, exact: true }).count()),
  );
  return offers.flatMap(([, name], index) => ((counts[index] ?? 0) > 0 ? [name] : []));
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
    // Nothing can be detached from an app to which nothing is attached.
    const { namespace, app, projectId, addonId: addon_instance_id } = every;
    const path = `/apps/${namespace}/${app}/attach-addon?project_id=${projectId}`;
    await made(world.admin.api.post(path, { addon_instance_id }));
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

  test.each(PEOPLE)("[WC120] the console offers a %s the actions that they may do, and nothing else", async (who) => {
    const visitor = await visit({ url: world.url });
    await visitor.signIn(people[who].username, people[who].password);
    await visitor.goTo("/");
    await settled(visitor.page);
    for (const [address, offers] of pagesOf(every)) {
      await goTo(visitor.page, address);
      await settled(visitor.page);
      expect.soft(await offered(visitor.page, offers), address).toEqual(permitted(who, offers));
      await visitor.page.keyboard.press("Escape");
    }
  });
});

import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { insertInstance, openShop, type Shop } from "../../packages/server/src/apps/app.fixture.ts";
import { createAgentTokens } from "../../packages/server/src/clusters/agent-token.adapter.ts";
import { SOON } from "../../packages/server/src/jobs/jobs.fixture.ts";
import { type SimulatedOperator, simulateOperator } from "../world/simulated-operator.ts";
import { type Person, startWorld, type World } from "../world/world.ts";
import { AXE, lastingFindings, RULES } from "./axe.ts";
import { describeInBrowser, type Visitor } from "./browser.ts";

const SIGNING_KEY = randomBytes(32).toString("base64url");
const DRIFTED_IMAGE = "drifted:1";

describeInBrowser("pages that say what is so, and keep what was typed", (visit) => {
  let world: World;
  let shop: Shop;
  let slug: string;
  let operator: SimulatedOperator;

  beforeAll(async () => {
    world = await startWorld({ env: { BINNACLE_SECRET_KEY: SIGNING_KEY } });
    shop = await openShop(world);
    slug = (await world.admin.api.get(`/orgs/${shop.org}`)).body.slug;
    const { token } = await (await createAgentTokens(SIGNING_KEY, world.clock.now)).mint(shop.cluster, 1);
    operator = simulateOperator({
      url: world.url,
      token,
      reportOf: (applied) =>
        applied.kind === "app" &&
        applied.body.spec.components.some(({ workload_spec }) => workload_spec?.image === DRIFTED_IMAGE)
          ? { phase: "running", reason: null, message: null, components: [], drift: DRIFT }
          : undefined,
    });
    await vi.waitFor(() => expect(operator.link.isLive).toBe(true), SOON);
  });
  afterAll(async () => {
    await operator?.stop();
    await world?.stop();
  });

  async function visitAs(person: Person): Promise<Visitor> {
    const visitor = await visit({ url: world.url });
    await visitor.signIn(person.username, person.password);
    return visitor;
  }
  const address = (name: string, query = "") =>
    `/o/${slug}/apps/${shop.namespace}/${name}?project=${shop.project}${query}`;

  /** Ends the sessions of a person except the one of the test. */
  async function endSessions({ api }: Person): Promise<void> {
    for (const { id, current } of (await api.get("/sessions")).body.data)
      if (!current) expect((await api.delete(`/sessions/${id}`)).status).toBeLessThan(300);
  }

  test("[WC31] [WC820] the dialog that detaches an addon opens before anything is chosen, and is not offered where nothing is attached", async () => {
    const name = await shop.app();
    const visitor = await visitAs(shop.editor);
    const { page } = visitor;
    await visitor.goTo(address(name));
    await page.getByRole("button", { name: "More actions" }).click();
    const entry = page.getByRole("menuitem", { name: "Detach addon" });
    await entry.getByText("No addon is attached to the app.").waitFor();
    expect(await entry.isDisabled()).toBe(true);
    await page.keyboard.press("Escape");
    const instance = await insertInstance(world, shop, `db-${name}`);
    const attached = await shop.editor.api.post(shop.path(name, "/attach-addon"), { addon_instance_id: instance });
    expect(attached.status).toBe(200);
    await visitor.goTo(address(name));
    await page.getByRole("button", { name: "More actions" }).click();
    await entry.click();
    const dialog = page.getByRole("dialog", { name: `Detach an addon from ${name}` });
    await dialog.getByRole("button", { name: "The same by command" }).click();
    await dialog.getByText(/attach-addon\/…\?project_id=/).waitFor();
    await dialog.getByRole("combobox", { name: "Addon instance" }).click();
    await page.getByRole("option", { name: `db-${name}` }).click();
    await dialog.getByText("web loses the variables of the addon and is restarted.").waitFor();
    expect(visitor.problems).toEqual([]);
  });

  test("[WC34] a drift calls both values by name, shows what was asked for as good and what is there as a warning, and nothing in red", async () => {
    const name = await shop.app([{ name: "web", workload_spec: { image: DRIFTED_IMAGE } }]);
    const visitor = await visitAs(shop.editor);
    await visitor.goTo(address(name));
    const drift = visitor.page.getByRole("region", { name: "Drift" });
    await drift.getByText("Asked for", { exact: true }).waitFor();
    await drift.getByText("In the cluster", { exact: true }).waitFor();
    expect(await drift.getByLabel("Asked for: 2").getAttribute("data-tone")).toBe("good");
    expect(await drift.getByLabel("In the cluster: 5").getAttribute("data-tone")).toBe("warning");
    expect(await drift.locator("[data-tone=bad]").count()).toBe(0);
  });

  test("[WC2911] a session that is ended leaves the page below a dialog, and the same person goes on with what was typed", async () => {
    const name = await shop.app();
    const visitor = await visitAs(shop.editor);
    const { page } = visitor;
    await using _script = await visitor.context.addInitScript({ content: AXE });
    await visitor.goTo(address(name, "&tab=configuration"));
    const image = page.getByLabel("Image", { exact: true });
    await image.fill("nginx:7.7.7");
    await endSessions(shop.editor);
    const dialog = page.getByRole("dialog", { name: "Your session has ended" });
    await dialog.waitFor();
    expect(await lastingFindings(page, "dialog", RULES.light)).toEqual([]);
    // Neither the keyboard nor the mouse reaches what is below.
    await page.keyboard.press("Escape");
    await page.keyboard.press("Escape");
    await dialog.waitFor();
    expect(await page.evaluate("document.activeElement.type")).toBe("password");
    await expect(page.getByRole("tab", { name: "Logs" }).click({ timeout: 500 })).rejects.toThrow();
    await dialog.locator("input[type=password]").fill("wrong");
    await dialog.getByRole("button", { name: "Sign in again" }).click();
    await dialog.getByRole("alert").waitFor();
    await dialog.locator("input[type=password]").fill(shop.editor.password);
    await dialog.getByRole("button", { name: "Sign in again" }).click();
    await dialog.waitFor({ state: "detached" });
    expect(await image.inputValue()).toBe("nginx:7.7.7");
    await page.getByRole("status", { name: "Connection: Live" }).waitFor();
    await page.getByRole("button", { name: "Review changes" }).click();
    await page.getByRole("dialog", { name: "Review changes" }).getByText("image: nginx:7.7.7").waitFor();
    expect(visitor.problems).toEqual([]);
  });

  test("[WC2911] whoever leaves the page of an ended session leaves nothing of it on screen", async () => {
    const name = await shop.app();
    const visitor = await visitAs(shop.viewer);
    const { page } = visitor;
    await visitor.goTo(address(name));
    await page.getByRole("heading", { level: 1, name }).waitFor();
    await endSessions(shop.viewer);
    await page.getByRole("button", { name: "Leave and sign out" }).click();
    await page.getByRole("heading", { name: "Sign in to Binnacle" }).waitFor();
    expect(await page.getByText(name).count()).toBe(0);
  });

  test("[WC8] the breadcrumb calls a project and a cluster by their names", async () => {
    const visitor = await visitAs(shop.admin);
    const { page } = visitor;
    for (const [kind, id] of [
      ["projects", shop.project],
      ["clusters", shop.cluster],
    ]) {
      const { name } = (await shop.admin.api.get(`/${kind}/${id}`)).body;
      await visitor.goTo(`/o/${slug}/${kind}/${id}`);
      await page.getByRole("banner").getByText(name, { exact: true }).waitFor();
      await page.getByRole("heading", { level: 1, name }).waitFor();
    }
  });

  test("[WC155] a new tab begins with the organization that was shown last in another one", async () => {
    const person = await world.person({ org: await world.org("Acme") });
    await world.admin.api.post(`/orgs/${await world.org("Zenith")}/members`, { user_id: person.id, role: "member" });
    const orgs = (await person.api.get("/orgs")).body.data;
    const visitor = await visitAs(person);
    for (const chosen of orgs) {
      await visitor.goTo(`/o/${chosen.slug}/overview`);
      await visitor.page.getByRole("button", { name: `Organization ${chosen.name}, change it` }).waitFor();
      const other = await visitor.context.newPage();
      await other.goto(world.url);
      await other.waitForURL(`**/o/${chosen.slug}/overview`);
      await other.close();
    }
  });

  test("[WC2910] a list says which part of its address it does not know, leaves it out, and takes the rest", async () => {
    const name = await shop.app();
    const visitor = await visitAs(shop.editor);
    const { page } = visitor;
    await visitor.goTo(`/o/${slug}/apps?phase=blocked&q=${name}&sort=colour`);
    await page.getByText("The address asks for the phase “blocked”, which does not exist.").waitFor();
    await page.getByText("The address asks for the order “colour”, which does not exist.").waitFor();
    await page.getByRole("row", { name }).waitFor();
    expect(await page.getByRole("alert").count()).toBe(0);
    await page.getByRole("button", { name: "Remove it from the address" }).click();
    await page.getByText("which does not exist").waitFor({ state: "detached" });
    expect(new URL(page.url()).search).toBe(`?q=${name}`);
    for (const list of ["clusters?status=gone", "projects?lifecycle=gone", "addons?tab=instances&phase=gone"]) {
      await visitor.goTo(`/o/${slug}/${list}`);
      await page.getByText("“gone”, which does not exist.").waitFor();
      expect(await page.getByRole("alert").filter({ hasText: "Input should be" }).count()).toBe(0);
    }
  });

  test("[WC2914] whoever makes an app where no cluster is learns that one is missing, and how to add it", async () => {
    const { org, admin, member } = await world.orgWithPeople();
    const empty = (await world.admin.api.get(`/orgs/${org}`)).body.slug;
    const visitor = await visitAs(admin);
    await visitor.goTo(`/o/${empty}/apps/new`);
    await visitor.page.getByText("A project needs a cluster, and the organization has none.").waitFor();
    await visitor.page.getByRole("link", { name: "Add a cluster first" }).click();
    await visitor.page.waitForURL(`**/o/${empty}/clusters/new`);
    const other = await visitAs(member);
    await other.goTo(`/o/${empty}/apps/new`);
    await other.page.getByText("Ask an administrator for one.").waitFor();
    expect(await other.page.getByRole("link", { name: "Add a cluster first" }).count()).toBe(0);
  });

  test("[WC2912] an app on a cluster that never connected waits: its status has neither arrows nor a question mark", async () => {
    const lonely = await openShop(world);
    const name = await lonely.app();
    const org = (await world.admin.api.get(`/orgs/${lonely.org}`)).body.slug;
    const visitor = await visitAs(lonely.editor);
    await visitor.goTo(`/o/${org}/apps/${lonely.namespace}/${name}?project=${lonely.project}`);
    const { page } = visitor;
    await page.getByRole("heading", { level: 1, name }).waitFor();
    await page.getByText("Not delivered yet").first().waitFor();
    const signs = await page.evaluate(
      "[...document.querySelectorAll('main [data-tone]')].map(({ dataset }) => dataset.sign)",
    );
    expect(signs).toEqual(["waiting", "waiting", "waiting"]);
  });
});

const DRIFT = {
  state: "drifted" as const,
  summary: "Deployment web was changed by hand.",
  fields: [
    {
      object: { api_version: "apps/v1", kind: "Deployment", name: "web" },
      pointer: "/spec/replicas",
      desired: 2,
      observed: 5,
      manager: "kubectl-edit",
    },
  ],
  detected_at: "2026-01-31T09:30:00.000Z",
};

import { randomBytes, randomUUID } from "node:crypto";
import type { Locator } from "playwright-core";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { insertInstance, openShop, type Shop, WEB } from "../../packages/server/src/apps/app.fixture.ts";
import { createAgentTokens } from "../../packages/server/src/clusters/agent-token.adapter.ts";
import { SOON } from "../../packages/server/src/jobs/jobs.fixture.ts";
import { invalidOnceAttached, type SimulatedOperator, simulateOperator } from "../world/simulated-operator.ts";
import { type Person, startWorld, type World } from "../world/world.ts";
import { describeInBrowser, type Visitor } from "./browser.ts";

const SIGNING_KEY = randomBytes(32).toString("base64url");
const REFUSED_IMAGE = "refused:1";
const REFUSAL = "Component web asks for a key that the addon does not have.";
const HOSTILE = `<img src=x onerror="document.title='taken'">`;

describeInBrowser("the pages of apps", (visit) => {
  let world: World;
  let shop: Shop;
  let slug: string;
  let operator: SimulatedOperator;

  beforeAll(async () => {
    world = await startWorld({ env: { BINNACLE_SECRET_KEY: SIGNING_KEY } });
    shop = await openShop(world);
    slug = (await world.admin.api.get(`/orgs/${shop.org}`)).body.slug;
    const { token } = await (await createAgentTokens(SIGNING_KEY, world.clock.now)).mint(shop.cluster, 1);
    const reportOf = invalidOnceAttached(REFUSAL, ({ components }) =>
      components.some(({ workload_spec }) => workload_spec?.image === REFUSED_IMAGE),
    );
    operator = simulateOperator({ url: world.url, token, reportOf });
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
  const read = async (name: string) => (await shop.editor.api.get(shop.path(name))).body;

  function expectClean({ problems, undocumented }: Visitor): void {
    expect(problems).toEqual([]);
    expect(undocumented).toEqual([]);
  }

  test("[WC50] an image becomes a running app, and its page shows it become running", async () => {
    const visitor = await visitAs(shop.editor);
    const { page } = visitor;
    await visitor.goTo(`/o/${slug}/apps/new`);
    await page.getByRole("textbox", { name: "Image" }).fill("ghcr.io/acme/till:1");
    await page.getByRole("textbox", { name: "Port" }).fill("8080");
    await page.getByRole("button", { name: "Create app" }).click();
    await page.getByRole("heading", { level: 1, name: "till" }).waitFor();
    await page.getByText("Running", { exact: true }).first().waitFor();
    expect((await read("till")).components[0].workload_spec).toMatchObject({
      image: "ghcr.io/acme/till:1",
      ports: [{ name: "http", port: 8080 }],
    });
    expectClean(visitor);
  });

  test("[WC46] a message of the API is shown at the field of the form, and nothing is created", async () => {
    const visitor = await visitAs(shop.editor);
    const { page } = visitor;
    await visitor.goTo(`/o/${slug}/apps/new`);
    await page.getByRole("textbox", { name: "Image" }).fill("Not An Image");
    await page.getByRole("textbox", { name: "Name" }).fill("refused");
    await page.getByRole("button", { name: "Create app" }).click();
    await page.locator("input[aria-invalid=true][placeholder='nginx:1.29']").waitFor();
    expect((await shop.editor.api.get(shop.path("refused"))).status).toBe(404);
    expectClean(visitor);
  });

  test("[WC164] a character that reorders text is written out in a description and in the editor", async () => {
    const name = await shop.app();
    const body = { description: "invoice\u202Efdp.exe" };
    expect((await shop.editor.api.send("PATCH", shop.path(name), { body })).status).toBe(200);
    const visitor = await visitAs(shop.editor);
    await visitor.goTo(address(name, "&tab=configuration"));
    await visitor.page.getByText("invoice\\u{202E}fdp.exe").first().waitFor();
    await visitor.page.getByLabel("YAML of the app").getByText("\\u{202E}", { exact: true }).waitFor();
    expectClean(visitor);
  });

  test("[WC48] [WC49] a change is reviewed before it is sent, and somebody else's change is not overwritten", async () => {
    const name = await shop.app();
    const visitor = await visitAs(shop.editor);
    const { page } = visitor;
    await visitor.goTo(address(name, "&tab=configuration"));
    await page.getByLabel("Image", { exact: true }).fill("nginx:1.30");
    await page.getByLabel("YAML of the app").getByText("nginx:1.30").waitFor();
    // Somebody else is faster.
    const changed = { description: "changed meanwhile" };
    expect((await shop.editor.api.send("PATCH", shop.path(name), { body: changed })).status).toBe(200);
    await page.getByRole("button", { name: "Review changes" }).click();
    const review = page.getByRole("dialog", { name: "Review changes" });
    await review.getByText("image: nginx:1.30").waitFor();
    expect((await read(name)).components[0].workload_spec.image).toBe("nginx:1.29");
    await review.getByRole("button", { name: "Deploy changes" }).click();
    const conflict = page.getByRole("dialog", { name: "Somebody else has changed the app" });
    await conflict.getByText("description: changed meanwhile").first().waitFor();
    expect((await read(name)).components[0].workload_spec.image).toBe("nginx:1.29");
    await conflict.getByRole("button", { name: "Deploy mine on top" }).click();
    // The page is left for the overview, and nobody is asked about changes that were sent.
    await page.getByRole("region", { name: "Components" }).waitFor();
    const app = await read(name);
    expect([app.description, app.components[0].workload_spec.image]).toEqual(["changed meanwhile", "nginx:1.30"]);
    expectClean(visitor);
  });

  test("[WC31] [WC1] a viewer reads the app and is offered none of its changes", async () => {
    const name = await shop.app();
    const visitor = await visitAs(shop.viewer);
    const { page } = visitor;
    await visitor.goTo(address(name));
    await page.getByRole("heading", { level: 1, name }).waitFor();
    await page.getByRole("tab", { name: "Deployments" }).waitFor();
    expect(await page.getByRole("button", { name: "Edit configuration" }).count()).toBe(0);
    expect(await page.getByRole("tab", { name: "Terminal" }).count()).toBe(0);
    await page.getByRole("button", { name: "More actions" }).click();
    await page.getByRole("menuitem", { name: "Save as template" }).waitFor();
    expect(await page.getByRole("menuitem").allTextContents()).toEqual(["Save as template"]);
    await visitor.goTo(`/o/${slug}/apps`);
    await page.getByRole("row", { name }).waitFor();
    expect(await page.getByRole("link", { name: "Create app" }).count()).toBe(0);
    expectClean(visitor);
  });

  test("[WC52] selected apps are paused together, each with its result", async () => {
    const names = [await shop.app(), await shop.app()];
    const visitor = await visitAs(shop.editor);
    const { page } = visitor;
    await visitor.goTo(`/o/${slug}/apps`);
    for (const name of names) await page.getByRole("row", { name }).getByRole("checkbox").check();
    await page.getByRole("toolbar").getByRole("button", { name: "Pause" }).click();
    const dialog = page.getByRole("dialog", { name: "Pause 2 apps" });
    await dialog.getByRole("button", { name: "Pause" }).click();
    await dialog.getByText("2 done").waitFor();
    expect(await dialog.getByText("Accepted").count()).toBe(2);
    for (const name of names) expect((await read(name)).paused).toBe(true);
    expectClean(visitor);
  });

  test("[WC124] a row of the list of apps opens by a click anywhere, by Enter and in another tab, without loading the page anew", async () => {
    const name = await shop.app();
    const visitor = await visitAs(shop.editor);
    const { page, context } = visitor;
    await visitor.goTo(`/o/${slug}/apps?q=${name}`);
    const row = page.getByRole("row").filter({ has: page.getByRole("link", { name, exact: true }) });
    const opened = () => page.getByRole("heading", { level: 1, name, exact: true }).waitFor();
    await row.waitFor();
    await page.evaluate("window.wasKept = true");
    // The link covers the row, except for a status that says more on hover.
    for (const part of [row.getByText("nginx:1.29"), row.locator("[data-tone]")]) {
      await part.click({ force: true });
      await opened();
      await page.goBack();
      await row.waitFor();
    }
    await row.getByRole("link", { name, exact: true }).press("Enter");
    await opened();
    expect(await page.evaluate("window.wasKept")).toBe(true);
    await page.goBack();
    await row.waitFor();
    const other = context.waitForEvent("page");
    await row.getByRole("link", { name, exact: true }).click({ modifiers: ["Control"] });
    await (await other).getByRole("heading", { level: 1, name, exact: true }).waitFor();
    expect(new URL(page.url()).pathname).toBe(`/o/${slug}/apps`);
    expectClean(visitor);
  });

  test("[WC125] the filter by cluster finds a cluster beyond those that it shows first, and keeps its name after a reload", async () => {
    const now = world.clock.now();
    const clusters = Array.from({ length: 60 }, (_, number) => ({
      id: randomUUID(),
      org_id: shop.org,
      name: `edge-${String(number).padStart(2, "0")}`,
      created_at: now,
      updated_at: now,
    }));
    await world.database.kysely.insertInto("clusters").values(clusters).execute();
    const visitor = await visitAs(world.admin);
    const { page } = visitor;
    const asked: string[] = [];
    page.on("request", (request) => {
      if (/[/](clusters|projects)[?]/.test(request.url())) asked.push(request.url());
    });
    await visitor.goTo(`/o/${slug}/apps`);
    await page.getByText(/ in all$/).waitFor();
    const field = page.getByRole("combobox", { name: "Any cluster" });
    await field.waitFor();
    expect(asked).toEqual([]);
    await field.click();
    await expect.poll(() => page.getByRole("option").count(), { timeout: 20_000 }).toBe(50);
    const shown = await page.getByRole("option").allTextContents();
    const wanted = clusters.map(({ name }) => name).find((name) => !shown.includes(name)) ?? "";
    await field.fill(wanted);
    await page.getByRole("option", { name: wanted }).click();
    await page.getByText("No app fits").waitFor();
    await page.reload();
    await expect.poll(() => field.inputValue(), { timeout: 20_000 }).toBe(wanted);
    expectClean(visitor);
  });

  /** Chooses the addon instance in the dialog, and returns the dialog. */
  async function chooseAddon({ page, goTo }: Visitor, name: string): Promise<Locator> {
    await goTo(address(name));
    await page.getByRole("button", { name: "More actions" }).click();
    await page.getByRole("menuitem", { name: "Attach addon" }).click();
    const dialog = page.getByRole("dialog", { name: `Attach an addon to ${name}` });
    await dialog.getByRole("combobox", { name: "Addon instance" }).click();
    await page.getByRole("option", { name: `db-${name}` }).click();
    return dialog;
  }

  test("[WC228] attaching an addon offers to add the component that stands for it, in the same change, and waits for the outcome", async () => {
    const name = await shop.app([WEB]);
    await insertInstance(world, shop, `db-${name}`);
    const visitor = await visitAs(shop.editor);
    const dialog = await chooseAddon(visitor, name);
    const offer = dialog.getByRole("checkbox", { name: `Add the component db-${name}` });
    expect(await offer.isChecked()).toBe(true);
    await dialog.getByRole("button", { name: "Attach", exact: true }).click();
    await dialog.getByText(`db-${name} is attached to ${name}, and the cluster has deployed it`).waitFor();
    expect(await read(name)).toMatchObject({
      revision: 2,
      warnings: [],
      components: [{ export_refs: [{ component: `db-${name}` }] }, { addon_spec: { instance: `db-${name}` } }],
    });
    await dialog.getByRole("button", { name: "Close", exact: true }).click();
    await dialog.waitFor({ state: "hidden" });
    expectClean(visitor);
  });

  test("[WC228] attaching an addon to an app that the cluster then finds invalid shows the failure, with and without the component", async () => {
    for (const addsComponent of [true, false]) {
      const name = await shop.app([{ name: "web", workload_spec: { image: REFUSED_IMAGE } }]);
      await insertInstance(world, shop, `db-${name}`);
      const visitor = await visitAs(shop.editor);
      const dialog = await chooseAddon(visitor, name);
      if (!addsComponent) await dialog.getByRole("checkbox", { name: `Add the component db-${name}` }).uncheck();
      await dialog.getByRole("button", { name: "Attach", exact: true }).click();
      await dialog.getByText(`db-${name} is attached to ${name}, and cannot be deployed`).waitFor();
      await dialog.getByText(REFUSAL).waitFor();
      expect((await read(name)).components).toHaveLength(addsComponent ? 2 : 1);
      expectClean(visitor);
    }
  });

  test("[SV14] the secrets of a chart component say which list made each value of the chart a secret, and show no value", async () => {
    const values = { auth: { password: "hush-one", user: "hush-two" } };
    const chart_spec = { repo: "oci://r.example.com/charts", name: "db", values, secret_values: ["auth.user"] };
    const name = await shop.app([{ name: "db", type: "chart", chart_spec, secrets: { EXTRA: "hush-three" } }]);
    const visitor = await visitAs(shop.viewer);
    const { page } = visitor;
    await visitor.goTo(address(name, "&tab=secrets"));
    const cellOf = (key: string) => page.getByRole("row", { name: key }).getByRole("cell").first();
    await expect
      .poll(() => cellOf("auth.password").textContent(), { timeout: 20_000 })
      .toMatch(/sealed because it looks like a secret/);
    expect(await cellOf("auth.user").textContent()).toMatch(/listed in secret_values/);
    expect(await cellOf("EXTRA").textContent()).toBe("EXTRA");
    expect(await page.content()).not.toContain("hush");
    expectClean(visitor);
  });

  test("[WC38] the deletion of an app asks for its name, after the dialog has said what goes", async () => {
    const name = await shop.app();
    const visitor = await visitAs(shop.editor);
    const { page } = visitor;
    await visitor.goTo(address(name));
    await page.getByRole("button", { name: "More actions" }).click();
    await page.getByRole("menuitem", { name: "Delete" }).click();
    const dialog = page.getByRole("dialog", { name: `Delete ${name}` });
    await dialog.getByText("1 component: web.").waitFor();
    const button = dialog.getByRole("button", { name: "Delete app" });
    expect(await button.isDisabled()).toBe(true);
    await dialog.getByRole("textbox").fill(name);
    await button.click();
    await dialog.waitFor({ state: "hidden" });
    await page.getByText("The app is deleted", { exact: true }).waitFor();
    expect((await shop.editor.api.get(shop.path(name))).status).toBe(404);
    expectClean(visitor);
  });

  test("[WC41] [WC47] a secret can be set and is not shown anywhere, and hostile text stays text", async () => {
    const env = [{ name: "MOTD", value: HOSTILE }];
    const name = await shop.app([{ name: "web", workload_spec: { image: "nginx:1", env } }], { description: HOSTILE });
    const visitor = await visitAs(shop.editor);
    const { page } = visitor;
    await visitor.goTo(address(name, "&tab=secrets"));
    await page.getByLabel("Key").fill("TOKEN");
    await page.locator("input[type=password]").fill("hush-hush");
    await page.getByRole("button", { name: "Set", exact: true }).click();
    await page.getByRole("cell", { name: "TOKEN", exact: true }).waitFor();
    expect(await page.content()).not.toContain("hush-hush");
    expect((await read(name)).components[0].secrets).toEqual(["TOKEN"]);
    await visitor.goTo(address(name, "&component=web"));
    await page.getByRole("dialog").getByText(HOSTILE).waitFor();
    expect(await page.locator("img[src=x]").count()).toBe(0);
    expect(await page.title()).not.toBe("taken");
    expectClean(visitor);
  });

  test("[WC30] [WC34] a conflict over fields shows who holds them, and the way out takes them over", async () => {
    const name = await shop.app();
    const { id, generation } = await read(name);
    await vi.waitFor(async () => expect((await read(name)).phase).toBe("running"), SOON);
    const key = [...operator.store.entries.values()].find(({ resource_id }) => resource_id === id)?.key ?? "";
    const drift = {
      state: "blocked_sync" as const,
      summary: "kubectl holds spec.replicas",
      fields: [
        {
          object: { kind: "Deployment", name: "web" },
          pointer: "/spec/replicas",
          desired: 2,
          observed: 5,
          manager: "kubectl",
        },
      ],
      detected_at: null,
    };
    const report = { phase: "running" as const, reason: null, message: null, components: [], drift };
    operator.outbox.report("app", { key, resource_id: id, generation }, report);
    const visitor = await visitAs(shop.editor);
    const { page } = visitor;
    await visitor.goTo(address(name));
    await page.getByText("Blocked by a conflict").waitFor();
    const card = page.getByRole("region", { name: "Drift" });
    await card.getByText("Held by kubectl").waitFor();
    expect(await card.getByText("5", { exact: true }).count()).toBe(1);
    await page.getByRole("button", { name: "Take over fields" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Take over fields" }).click();
    await page.getByRole("button", { name: "Edit configuration" }).waitFor();
    // The operator has yet to report what was accepted.
    await vi.waitFor(async () => {
      const after = await read(name);
      expect([after.drift.state, after.generation]).toEqual(["in_sync", generation + 1]);
    }, SOON);
    expectClean(visitor);
  });

  test("[WC39] [WC237] deployments show what they changed and are compared, and a rollback shows what it changes", async () => {
    const name = await shop.app();
    const patch = { components: [{ op: "patch", name: "web", workload_spec: { image: "nginx:2" } }] };
    expect((await shop.editor.api.send("PATCH", shop.path(name), { body: patch })).status).toBe(200);
    const visitor = await visitAs(shop.editor);
    const { page } = visitor;
    await visitor.goTo(address(name, "&tab=deployments&compare=1,2"));
    await page.getByText("web: image 1.29 → 2", { exact: true }).waitFor();
    const compared = page.getByRole("region", { name: "From #1 to #2" });
    await compared.getByText("workload_spec.image").waitFor();
    await compared.getByText("nginx:2").waitFor();
    await page.getByRole("button", { name: "Roll back" }).click();
    const dialog = page.getByRole("dialog", { name: `Roll back ${name} to #1` });
    await dialog.getByText("nginx:1.29").waitFor();
    await dialog.getByRole("button", { name: "Roll back to #1" }).click();
    await dialog.waitFor({ state: "hidden" });
    expect((await read(name)).components[0].workload_spec.image).toBe("nginx:1.29");
    expectClean(visitor);
  });

  test("[WC46] [WC55] a refused change of an app is marked in the text and at the field", async () => {
    const name = await shop.app();
    const visitor = await visitAs(shop.editor);
    const { page } = visitor;
    await visitor.goTo(address(name, "&tab=configuration"));
    await page.getByLabel("Image", { exact: true }).fill("Not An Image");
    // Whoever goes elsewhere is asked first, because the change would be lost; the browser of this test answers no.
    await page.getByRole("tab", { name: "Secrets" }).click();
    await page.getByRole("button", { name: "Review changes" }).click();
    await page.getByRole("button", { name: "Deploy changes" }).click();
    await page.locator("input[aria-invalid=true]").waitFor();
    await page.locator(".cm-lintRange-error").getByText("image").waitFor();
    expect((await read(name)).components[0].workload_spec.image).toBe("nginx:1.29");
    expectClean(visitor);
  });
});

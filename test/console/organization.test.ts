import { afterAll, beforeAll, expect, test } from "vitest";
import { bindRole } from "../../packages/server/src/access/bindings.fixture.ts";
import { insertPlace, type Place } from "../../packages/server/src/templates/template.fixture.ts";
import { type SimulatedOperator, simulateOperator } from "../world/simulated-operator.ts";
import { type Person, startWorld, type World } from "../world/world.ts";
import { describeInBrowser, type Visitor } from "./browser.ts";
import { painted } from "./views.ts";

const HOSTILE = "<img src=x onerror=alert(1)>";

describeInBrowser("templates, addons, the organization and the account", (visit) => {
  let world: World;
  let place: Place;
  let operator: SimulatedOperator;
  let editor: Person;
  let viewer: Person;

  beforeAll(async () => {
    world = await startWorld();
    const { kysely: db } = world.database;
    place = await insertPlace(db, world.demoOrgId);
    [editor, viewer] = [await world.person({ org: world.demoOrgId }), await world.person({ org: world.demoOrgId })];
    await bindRole(db, editor.id, "editor", { project: place.project });
    await bindRole(db, viewer.id, "viewer", { project: place.project });
    const made = await world.admin.api.post(`/orgs/${world.demoOrgId}/clusters`, { name: "small" });
    const { body } = await world.admin.api.post(`/clusters/${made.body.id}/agent-credentials`, {});
    operator = simulateOperator({ url: world.url, token: body.agent_jwt.token, reports: true });
  });
  afterAll(async () => {
    await operator?.stop();
    await world?.stop();
  });

  async function signedIn(person: Pick<Person, "username" | "password">): Promise<Visitor> {
    const visitor = await visit({ url: world.url });
    await visitor.signIn(person.username, person.password);
    return visitor;
  }

  async function template(content: object): Promise<string> {
    const name = `t-${crypto.randomUUID().slice(0, 8)}`;
    const { status, body } = await world.admin.api.post("/stack-templates", {
      name,
      namespace: place.namespace,
      project_id: place.project,
      ...content,
    });
    expect(status, JSON.stringify(body)).toBe(201);
    return name;
  }

  test("[WC98] somebody deploys the quick-start template into a new project, and the page shows it run", async () => {
    const visitor = await signedIn(world.admin);
    const { page } = visitor;
    await visitor.goTo("/o/demo/templates");
    await page.getByRole("link", { name: "web-app" }).click();
    await page.getByRole("button", { name: "New project" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Name").fill("first");
    await dialog.getByLabel("Cluster").click();
    await page.getByRole("option", { name: "small" }).click();
    await dialog.getByRole("button", { name: "Create project" }).click();
    await dialog.waitFor({ state: "hidden" });
    await page.getByRole("button", { name: "Deploy", exact: true }).click();
    await page.waitForURL(/\/o\/demo\/apps\/first\/web-app/);
    await page.getByText("Running").first().waitFor();
    expect(visitor.problems).toEqual([]);
    expect(visitor.undocumented).toEqual([]);
  });

  test("[WC160] the form of a catalog's template keeps what was typed, and its dialogs, while the page is read again", async () => {
    const visitor = await signedIn(world.admin);
    const { page } = visitor;
    await visitor.goTo("/o/demo/templates/registry/web-app");
    await page.getByLabel("Name of the app").fill("typed-before");
    const held = Promise.withResolvers<void>();
    const asked = page.waitForRequest(/\/stack-templates\/registry\/web-app/);
    await page.route(/\/stack-templates\/registry\/web-app/, async (route) => {
      await held.promise;
      await route.continue();
    });
    await page.evaluate(`document.dispatchEvent(new Event("visibilitychange", { bubbles: true }))`);
    await asked;
    await painted(page);
    expect(await page.getByLabel("Name of the app").inputValue()).toBe("typed-before");

    await page.getByRole("button", { name: "New project" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Name").fill("Not A Name");
    const refused = page.waitForResponse((response) => response.status() === 422);
    await dialog.getByRole("button", { name: "Create project" }).click();
    await refused;
    held.resolve();
    await dialog.getByRole("alert").waitFor();
    await page.keyboard.press("Escape");
    expect(await page.getByLabel("Name of the app").inputValue()).toBe("typed-before");
    expect(visitor.problems).toEqual([]);
  });

  test("[WC82] a refusal of the server is shown at the parameter, and a secret is in no command", async () => {
    const name = await template({
      description: HOSTILE,
      parameters: [
        // Only RE2 reads this flag, so the server decides.
        { name: "code", type: "string", required: true, pattern: "(?i)^abc$" },
        { name: "key", type: "secret", required: true },
      ],
      components: [{ name: "web", workload_spec: { image: `nginx:\${code}` }, secrets: { KEY: `\${key}` } }],
    });
    const visitor = await signedIn(world.admin);
    const { page } = visitor;
    await visitor.goTo(`/o/demo/templates/${place.namespace}/${name}?project=${place.project}`);
    await page.getByText(HOSTILE).waitFor();
    await page.getByRole("button", { name: "Deploy", exact: true }).click();
    await page.getByText("Give a value.").first().waitFor();
    await page.getByLabel("code").fill("xyz");
    await page.locator("input[name=key]").fill("correct-horse-battery");
    await page.getByRole("button", { name: "The same by command" }).click();
    await page.getByText("binnacle templates deploy").waitFor();
    expect(await page.locator("body").innerText()).not.toContain("correct-horse-battery");
    await page.getByRole("button", { name: "Deploy", exact: true }).click();
    await page.getByText("String should match pattern '(?i)^abc$'").first().waitFor();
    expect(await page.getByLabel("code").getAttribute("aria-invalid")).toBe("true");
    expect(visitor.problems).toEqual([]);
  });

  test("[WC83] the console offers changes of a template to an editor of the project, and not to a viewer", async () => {
    const name = await template({ components: [{ name: "web", workload_spec: { image: "nginx" } }] });
    for (const [person, isOffered] of [
      [editor, true],
      [viewer, false],
    ] as const) {
      const visitor = await signedIn(person);
      await visitor.goTo(`/o/demo/templates/${place.namespace}/${name}`);
      await visitor.page.getByRole("heading", { level: 1, name }).waitFor();
      const edit = visitor.page.getByRole("link", { name: "Edit" });
      if (isOffered) await edit.waitFor();
      else {
        await visitor.page.getByText("You have no project to use.").waitFor();
        expect(await edit.count()).toBe(0);
      }
      await visitor.context.close();
    }
  });

  test("[WC86] a device is approved after somebody says that the code is theirs, and hostile addresses harm nothing", async () => {
    const asked = await world.anyone.post("/auth/cli/device", { client_name: HOSTILE, requested_scopes: ["read"] });
    const visitor = await signedIn(viewer);
    const { page } = visitor;
    await visitor.goTo(`/device?user_code=${encodeURIComponent('{"a":1}')}`);
    await page.getByLabel("Code").fill(asked.body.user_code.toLowerCase());
    await page.getByRole("button", { name: "Continue" }).click();
    await page.getByText(`${HOSTILE} (nothing proves it)`).waitFor();
    await page.getByText("See everything that you can see").waitFor();
    const approve = page.getByRole("button", { name: "Approve" });
    expect(await approve.isDisabled()).toBe(true);
    await page.getByLabel("I began this login myself").check();
    await approve.click();
    await page.getByText("The device receives its access now.").waitFor();
    const claimed = await world.anyone.post("/auth/cli/device/token", { device_code: asked.body.device_code });
    expect(claimed.status).toBe(200);
    expect(visitor.problems).toEqual([]);
  });

  test("[WC99] a new token is shown once, and nowhere after its dialog is closed", async () => {
    const visitor = await signedIn(viewer);
    const { page } = visitor;
    await visitor.goTo("/account?tab=tokens");
    await page.getByRole("button", { name: "Create token" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Name").fill("pipeline");
    await dialog.getByRole("button", { name: "Create token" }).click();
    const token = (await page.locator("[data-token]").innerText()).trim();
    expect(token).toMatch(/^bnc_/);
    await page.getByRole("button", { name: "I have copied it" }).click();
    await dialog.waitFor({ state: "hidden" });
    await page.getByRole("cell", { name: "pipeline", exact: true }).waitFor();
    expect(await page.content()).not.toContain(token);
    const stored = await page.evaluate("JSON.stringify([{ ...localStorage }, { ...sessionStorage }])");
    expect(stored).not.toContain(token);
  });

  test("[WC88] an administrator sees who has which role and why, and a member does not", async () => {
    const visitor = await signedIn(world.admin);
    await visitor.goTo("/o/demo/members?tab=access");
    const row = visitor.page.getByRole("row").filter({ hasText: editor.email });
    await row.getByLabel("editor: Role on the project").waitFor();
    const other = await signedIn(viewer);
    await other.goTo("/o/demo/members");
    await other.page.getByText(viewer.email).waitFor();
    expect(await other.page.getByRole("tab", { name: "Access" }).count()).toBe(0);
    expect(await other.page.getByRole("button", { name: "Add member" }).count()).toBe(0);
    expect(visitor.problems).toEqual([]);
  });

  test("[WC90] the audit log is exported as it is filtered, and a name that begins like a formula stays text", async () => {
    const named = await world.admin.api.post("/user", {
      name: "=1+1",
      username: "formula",
      email: "formula@example.com",
      password: "a-long-password",
    });
    expect(named.status).toBe(201);
    await world.admin.api.post(`/orgs/${world.demoOrgId}/credentials`, {
      name: "=HYPERLINK(1)",
      provider: "aws",
      region: "eu-central-1",
      access_key_id: "AKIAEXAMPLEEXAMPLE00",
      secret_access_key: "x".repeat(40),
    });
    const visitor = await signedIn(world.admin);
    const { page } = visitor;
    await visitor.goTo("/o/demo/audit?action=credential.");
    await page.getByText("=HYPERLINK(1)", { exact: true }).waitFor();
    await page.getByRole("button", { name: "Export" }).click();
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("menuitem", { name: "As CSV" }).click(),
    ]);
    const chunks: Buffer[] = [];
    for await (const chunk of await download.createReadStream()) chunks.push(chunk as Buffer);
    const lines = Buffer.concat(chunks).toString("utf8").trimEnd().split("\r\n");
    expect(lines).toHaveLength(2);
    expect(lines[1]).toContain(`"credential.create"`);
    expect(lines[1]).toContain(`"'=HYPERLINK(1)"`);
    expect(visitor.problems).toEqual([]);
    expect(visitor.undocumented).toEqual([]);
  });

  test("[WC94] a rollback to an older version of an addon that keeps data asks again before it is done", async () => {
    const definitions = await world.admin.api.get("/addon-definitions?items_per_page=100");
    const { id: definition } = definitions.body.data.find(({ name }: { name: string }) => name === "postgresql");
    const made = await world.admin.api.post("/addon-instances", {
      name: "db",
      project_id: place.project,
      addon_definition_id: definition,
      chart_version: "0.19.16",
    });
    const path = `/addon-instances/${made.body.id}`;
    await world.admin.api.send("PATCH", path, { body: { chart_version: "0.20.1" } });
    const visitor = await signedIn(editor);
    const { page } = visitor;
    await visitor.goTo(`/o/demo/addons/${made.body.id}?tab=revisions`);
    await page.getByRole("button", { name: "Roll back to 1" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("button", { name: "Roll back" }).click();
    await dialog.getByText("The older version may be unable to read the data").waitFor();
    expect((await world.admin.api.get(path)).body.chart_version).toBe("0.20.1");
    await dialog.getByLabel("Type db to confirm").fill("db");
    await dialog.getByRole("button", { name: "Downgrade nevertheless" }).click();
    await dialog.waitFor({ state: "hidden" });
    expect((await world.admin.api.get(path)).body.chart_version).toBe("0.19.16");
    expect(visitor.problems).toEqual([]);
  });

  test.each([
    ["/o/demo/addons", "Instances"],
    ["/o/demo/members", "Members"],
    ["/account", "Profile"],
  ])("[WC166] a tab of %s that does not exist opens the first one", async (path, first) => {
    const visitor = await signedIn(world.admin);
    await visitor.goTo(`${path}?tab=nope`);
    await visitor.page.locator("main").getByRole("tab", { name: first, selected: true }).waitFor();
    await visitor.page.getByRole("tabpanel").waitFor();
    expect(visitor.problems).toEqual([]);
  });
});

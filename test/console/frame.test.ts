import { afterAll, beforeAll, expect, test } from "vitest";
import { startWorld, type World } from "../world/world.ts";
import { describeInBrowser } from "./browser.ts";

describeInBrowser("the frame", (visit) => {
  let world: World;
  beforeAll(async () => {
    world = await startWorld();
  });
  afterAll(() => world.stop());

  test("[WC140] the console is built for production, also where the tests have built it", async () => {
    const { page, context, goTo } = await visit({ url: world.url });
    // React tells its kind of build to the developer tools of the browser, where they are installed: 0 is for production.
    await using _script = await context.addInitScript(
      "window.builds = []; __REACT_DEVTOOLS_GLOBAL_HOOK__ = { supportsFiber: true, inject: (it) => builds.push(it.bundleType) }",
    );
    await goTo("/login");
    await page.getByRole("heading", { name: "Sign in to Binnacle" }).waitFor();
    expect(await page.evaluate("builds")).toEqual([0]);
  });

  test("[WC141] the console changes its scheme and opens menus and dialogs at once for people who ask for less motion", async () => {
    const { page, context, signIn, goTo } = await visit({ url: world.url });
    await using _script = await context.addInitScript(
      "window.moved = []; addEventListener('transitionrun', ({ target, propertyName }) => moved.push(target.tagName + ' ' + propertyName))",
    );
    await signIn(world.admin.username, world.admin.password);
    await goTo("/o/demo/projects");
    await page.getByRole("heading", { level: 1, name: "Projects" }).waitFor();
    await page.emulateMedia({ colorScheme: "dark", reducedMotion: "reduce" });
    await page.locator("html[data-mantine-color-scheme=dark]").waitFor({ state: "attached" });
    await page.getByRole("button", { name: "Your account" }).click();
    await page.getByRole("menuitem", { name: "Sign out" }).waitFor();
    await page.keyboard.press("Escape");
    await page.keyboard.press("Control+k");
    await page.getByRole("textbox", { name: "Search" }).waitFor();
    expect(await page.evaluate("moved")).toEqual([]);
  });

  test("[WC15] a link that needs a session opens after the sign-in, and the page raises no error", async () => {
    const visitor = await visit({ url: world.url });
    const { page } = visitor;
    await visitor.goTo("/o/demo/projects");
    await page.getByLabel("Username or email").fill(world.admin.username);
    await page.locator("input[type=password]").fill(world.admin.password);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("heading", { level: 1, name: "Projects" }).waitFor();
    expect(new URL(page.url()).pathname).toBe("/o/demo/projects");
    expect(visitor.problems).toEqual([]);
    expect(visitor.undocumented).toEqual([]);
  });

  test("[WC16] no token is kept in the browser's storage or the address", async () => {
    const visitor = await visit({ url: world.url });
    await visitor.signInByForm(world.admin.username, world.admin.password);
    const stored = await visitor.page.evaluate(
      "JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie])",
    );
    expect(stored).not.toMatch(/eyJ|token/i);
    expect(visitor.page.url()).not.toMatch(/eyJ|token/i);
  });

  test("[WC17] a sign-out removes what is on screen, in every tab", async () => {
    const visitor = await visit({ url: world.url });
    await visitor.signInByForm(world.admin.username, world.admin.password);
    const other = await visitor.context.newPage();
    await other.goto(`${world.url}/o/demo/projects`);
    await other.getByRole("button", { name: "Your account" }).waitFor();
    await visitor.page.getByRole("button", { name: "Your account" }).click();
    await visitor.page.getByRole("menuitem", { name: "Sign out" }).click();
    await visitor.page.getByRole("heading", { name: "Sign in to Binnacle" }).waitFor();
    await other.getByRole("heading", { name: "Sign in to Binnacle" }).waitFor();
  });

  test("[WC150] a tab that has slept while somebody else signed in shows the sign-in, and nothing of the earlier user", async () => {
    const person = await world.person();
    const visitor = await visit({ url: world.url });
    const { page } = visitor;
    await visitor.signInByForm(world.admin.username, world.admin.password);
    await page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "Projects" }).click();
    await page.getByRole("heading", { level: 1, name: "Projects" }).waitFor();
    await visitor.signIn(person.username, person.password);
    // The access token is refused as after a sleep, and the browser's cookie is by now of the other user.
    await page.route("**/api/v1/**", (route) =>
      route.request().url().endsWith("/refresh")
        ? route.continue()
        : route.fulfill({ status: 401, json: { detail: "User not authenticated." } }),
    );
    await page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "Members" }).click();
    await page.getByRole("heading", { name: "Sign in to Binnacle" }).waitFor();
    expect(await page.getByRole("navigation").count()).toBe(0);
  });

  test("[WC151] a console that is opened while the server is away says so, and opens when it is back", async () => {
    const visitor = await visit({ url: world.url });
    const { page } = visitor;
    await visitor.signIn(world.admin.username, world.admin.password);
    await page.route("**/api/v1/refresh", (route) => route.fulfill({ status: 503, json: { detail: "Starting." } }));
    await visitor.goTo("/o/demo/projects");
    await page.getByRole("alert").getByText("Starting. It is asked again by itself.").waitFor();
    await page.unroute("**/api/v1/refresh");
    await page.getByRole("heading", { level: 1, name: "Projects" }).waitFor();
  });

  test("[WC17] a sign-out removes the message about the last change", async () => {
    const person = await world.person();
    const visitor = await visit({ url: world.url });
    const { page } = visitor;
    await visitor.signIn(person.username, person.password);
    await visitor.goTo("/account");
    await page.getByLabel("Name", { exact: true }).fill("Another Name");
    await page.getByRole("button", { name: "Save" }).first().click();
    await page.getByText("Your profile is saved.").waitFor();
    await page.getByRole("button", { name: "Your account" }).click();
    await page.getByRole("menuitem", { name: "Sign out" }).click();
    await page.getByRole("heading", { name: "Sign in to Binnacle" }).waitFor();
    expect(await page.getByText("Your profile is saved.").count()).toBe(0);
  });

  test("[WC152] a page whose file is no longer there says that Binnacle was updated where the server has another version, inside the frame", async () => {
    const visitor = await visit({ url: world.url });
    const { page } = visitor;
    await page.route("**/assets/members-page*.js", (route) => route.fulfill({ status: 404 }));
    await visitor.signIn(world.admin.username, world.admin.password);
    await visitor.goTo("/o/demo/members");
    await page.getByText("This part of the console could not be loaded").waitFor();
    await page.route(`${world.url}/`, (route) =>
      route.fulfill({ contentType: "text/html", body: '<script type="module" src="/assets/index-next.js"></script>' }),
    );
    await visitor.goTo("/o/demo/members");
    await page.getByText("Binnacle was updated: reload the page").waitFor();
    await page.unroute(`${world.url}/`);
    await page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "Projects" }).click();
    await page.getByRole("heading", { level: 1, name: "Projects" }).waitFor();
    await page.unroute("**/assets/members-page*.js");
    await visitor.goTo("/o/demo/members");
    await page.getByRole("heading", { level: 1, name: "Members" }).waitFor();
  });

  test("[WC152] a page that is opened for the first time while the server is away says so, and opens when the server answers", async () => {
    const visitor = await visit({ url: world.url });
    const { page } = visitor;
    await visitor.signIn(world.admin.username, world.admin.password);
    await visitor.goTo("/o/demo/projects");
    await page.getByRole("heading", { level: 1, name: "Projects" }).waitFor();
    await page.route("**/*", (route) => route.abort("connectionrefused"));
    await page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "Members" }).click();
    await page.getByRole("heading", { level: 1, name: "The server cannot be reached" }).waitFor();
    expect(await page.getByText("Binnacle was updated").count()).toBe(0);
    expect(await page.getByRole("navigation", { name: "Main" }).isVisible()).toBe(true);
    await page.unroute("**/*");
    await page.getByRole("heading", { level: 1, name: "Members" }).waitFor();
  });

  test("[WC153] a page that fails while it is drawn leaves the frame with a way back", async () => {
    const visitor = await visit({ url: world.url });
    const { page } = visitor;
    // No page expects a list without its items.
    await page.route("**/api/v1/orgs/*/overview*", (route) => route.fulfill({ status: 200, json: {} }));
    await visitor.signIn(world.admin.username, world.admin.password);
    await visitor.goTo("/o/demo/overview");
    await page.getByRole("heading", { level: 1, name: "This page could not be shown" }).waitFor();
    await page.unroute("**/api/v1/orgs/*/overview*");
    await page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "Projects" }).click();
    await page.getByRole("heading", { level: 1, name: "Projects" }).waitFor();
  });

  test("[WC154] a list that the server cannot give says so while it is asked for again, and comes when it can", async () => {
    const visitor = await visit({ url: world.url });
    const { page } = visitor;
    const fail = { status: 500, json: { detail: "Something broke." } };
    await page.route("**/api/v1/orgs/*/members*", (route) => route.fulfill(fail));
    await visitor.signIn(world.admin.username, world.admin.password);
    await visitor.goTo("/o/demo/members");
    await page.getByRole("alert").getByText("Something broke. It is asked again by itself.").waitFor();
    await page.unroute("**/api/v1/orgs/*/members*");
    await page.getByRole("row").filter({ hasText: "admin" }).first().waitFor();
  });

  test("[WC156] a change is reported as done although something on the page cannot be read again", async () => {
    const person = await world.person();
    const visitor = await visit({ url: world.url });
    const { page } = visitor;
    await visitor.signIn(person.username, person.password);
    await visitor.goTo("/account");
    await page.getByLabel("Name", { exact: true }).fill("Another Name");
    await page.route("**/api/v1/orgs?*", (route) =>
      route.fulfill({ status: 500, json: { detail: "Something broke." } }),
    );
    await page.getByRole("button", { name: "Save" }).first().click();
    await page.getByText("Your profile is saved.").waitFor();
  });

  test("[WC157] a narrow window shows the tab that a link opens", async () => {
    const visitor = await visit({ url: world.url, width: 360, height: 700 });
    await visitor.signIn(world.admin.username, world.admin.password);
    await visitor.goTo("/admin?tab=system");
    const { x, width } = (await visitor.page.getByRole("tab", { name: "System" }).boundingBox()) ?? { x: 0, width: 0 };
    expect(width).toBeGreaterThan(0);
    expect(x).toBeGreaterThanOrEqual(0);
    expect(x + width).toBeLessThanOrEqual(360);
  });

  test("[WC167] a superuser opens an organization of others from the administration, and the menu lists only the superuser's own", async () => {
    const owner = await world.person();
    const id = await world.org("Elsewhere");
    await world.admin.api.post(`/orgs/${id}/members`, { user_id: owner.id, role: "admin" });
    await world.admin.api.delete(`/orgs/${id}/members/${world.admin.id}`);
    const { page, signIn, goTo } = await visit({ url: world.url });
    await signIn(world.admin.username, world.admin.password);
    await goTo("/");
    await page.getByRole("button", { name: /change it$/ }).click();
    await page.getByRole("menuitem").first().waitFor();
    expect(await page.getByRole("menuitem", { name: "Elsewhere" }).count()).toBe(0);
    await goTo("/admin?tab=organizations");
    await page.getByRole("link", { name: "Elsewhere" }).click();
    await page.waitForURL("**/o/elsewhere/overview");
    await page.getByRole("button", { name: "Organization Elsewhere, change it" }).waitFor();
  });

  test("[WC155] the console keeps the organization that was shown last while the account and the start page are open", async () => {
    const person = await world.person({ org: await world.org("Acme") });
    await world.admin.api.post(`/orgs/${await world.org("Zenith")}/members`, { user_id: person.id, role: "member" });
    const [, chosen] = (await person.api.get("/orgs")).body.data;
    const { page, signIn, goTo } = await visit({ url: world.url });
    await signIn(person.username, person.password);
    await goTo(`/o/${chosen.slug}/overview`);
    const projects = page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "Projects" });
    await projects.waitFor();
    await page.getByRole("button", { name: "Your account" }).click();
    await page.getByRole("menuitem", { name: "Account" }).click();
    await page.getByRole("tab").first().waitFor();
    expect(await projects.getAttribute("href")).toBe(`/o/${chosen.slug}/projects`);
    await page.getByRole("link", { name: "Binnacle, to the overview" }).click();
    await page.waitForURL(`**/o/${chosen.slug}/overview`);
  });

  test("[WC18] wrong credentials are answered in the API's own words", async () => {
    const { page } = await visit({ url: world.url });
    await page.goto(`${world.url}/login`);
    await page.getByLabel("Username or email").fill("admin");
    await page.locator("input[type=password]").fill("wrong-password");
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("alert").waitFor();
    expect(await page.getByRole("alert").innerText()).toBe("Wrong username, email or password.");
  });
});

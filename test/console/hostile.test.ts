import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Texts } from "../world/talking-operator.ts";
import { startWorld, type World } from "../world/world.ts";
import { describeInBrowser, type Visitor } from "./browser.ts";
import { type Everything, makeEverything, pagesOf } from "./everything.ts";
import { everyView, overhangWhenNarrow, painted, settled } from "./views.ts";

const SCRIPT = `<img src=x onerror="window.pwned=1">`;
const LINKS = `javascript:window.pwned=1 [click](javascript:window.pwned=1) "><script>window.pwned=1</script><svg onload=window.pwned=1>`;
/** Turns the direction of whatever follows, where it is not kept apart. */
const TURNED = "\u202edetrevni\u202c \u2067siht oslA";
const HOSTILE: Texts = {
  name: SCRIPT,
  description: `${SCRIPT}${LINKS} ${TURNED} ${"long".repeat(500)}`.slice(0, 2_000),
  message: `${SCRIPT}${LINKS} ${TURNED} ${"long".repeat(500)}`.slice(0, 1_000),
  logLine: `\u001b[31m${SCRIPT}\u001b[0m \u001b]8;;javascript:window.pwned=1\u0007link\u001b]8;;\u0007 ${LINKS}\u001b[2J`,
};

/** Pictures of every view, for people who want to judge the layout. */
const PICTURES = process.env["BINNACLE_PICTURES"];

const WATCH = `
  window.violations = [];
  addEventListener("securitypolicyviolation", (event) => violations.push(event.violatedDirective + " " + event.blockedURI));`;

/** Whatever in the page would run, load or lead somewhere that the text has chosen. */
const TAKEN = `({
  ran: window.pwned ?? null,
  violations: window.violations,
  elements: [...document.querySelectorAll("a[href^='javascript:' i], img[src='x'], svg[onload], main script")].map((each) => each.outerHTML),
})`;

describeInBrowser("hostile texts", (visit) => {
  let world: World;
  let every: Everything;
  let visitor: Visitor;
  beforeAll(async () => {
    world = await startWorld();
    every = await makeEverything(world, HOSTILE);
    visitor = await visit({ url: world.url });
    await visitor.context.addInitScript(WATCH);
    await visitor.signIn(world.admin.username, world.admin.password);
  });
  afterAll(async () => {
    await every?.operator.stop();
    await world?.stop();
  });

  test("[WC114] [WC16] are shown as text on every page, and no token is in the storage or the address", async () => {
    const { page } = visitor;
    const wide: string[] = [];
    let number = 0;
    for await (const view of everyView(page, pagesOf(every))) {
      expect.soft(await page.evaluate(TAKEN), view).toEqual({ ran: null, violations: [], elements: [] });
      const kept = await page.evaluate("JSON.stringify([location.href, { ...localStorage }, { ...sessionStorage }])");
      expect.soft(kept, view).not.toMatch(/eyJ/);
      const over = await overhangWhenNarrow(page);
      if (over > 0) wide.push(`${view}: ${over}`);
      if (PICTURES) await page.screenshot({ path: join(PICTURES, `${number++}.png`) });
    }
    expect(wide).toEqual([]);
    expect(visitor.problems).toEqual([]);
  }, 900_000);

  test("[WC115] a message from another window changes nothing", async () => {
    const { context } = visitor;
    const opener = await context.newPage();
    await opener.goto("about:blank");
    const [opened] = await Promise.all([
      context.waitForEvent("page"),
      opener.evaluate(`window.opened = window.open(${JSON.stringify(`${world.url}/o/demo/projects`)}); 0`),
    ]);
    await opened.getByRole("heading", { level: 1, name: "Projects" }).waitFor();
    await settled(opened);
    const before = await opened.evaluate("[location.href, document.querySelector('main').textContent]");
    const messages = [SCRIPT, { type: "navigate", to: "/admin" }, { type: "logout" }, { access_token: "eyJ" }];
    await opener.evaluate(`for (const each of ${JSON.stringify(messages)}) opened.postMessage(each, "*")`);
    await painted(opened);
    expect(await opened.evaluate("[location.href, document.querySelector('main').textContent]")).toEqual(before);
    expect(await opened.evaluate("window.pwned ?? null")).toBeNull();
  });

  test("[WC115] another site cannot show the console in a frame", async () => {
    const page = await visitor.context.newPage();
    await page.route("http://elsewhere.test/", (route) =>
      route.fulfill({ contentType: "text/html", body: `<iframe src="${world.url}/o/demo/projects"></iframe>` }),
    );
    await page.goto("http://elsewhere.test/");
    await expect.poll(() => page.frames()[1]?.url(), { timeout: 20_000 }).toMatch(/^chrome-error:/);
    expect(await page.frames()[1]?.getByRole("heading", { name: "Sign in to Binnacle" }).count()).toBe(0);
    const served = await fetch(`${world.url}/o/demo/projects`, { headers: { accept: "text/html" } });
    expect(served.headers.get("content-security-policy")).toContain("frame-ancestors 'self'");
  });
});

import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Texts } from "../world/talking-operator.ts";
import { startWorld, type World } from "../world/world.ts";
import { AXE, lastingFindings, RULES, type Scheme, switchTo } from "./axe.ts";
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
const TAKEN = `(() => {
  const elements = document.querySelectorAll("a[href^='javascript:' i], img[src='x'], svg[onload], main script");
  return {
    isHarmless: !window.pwned && violations.length === 0 && elements.length === 0,
    ran: window.pwned ?? null,
    violations,
    elements: [...elements].map((each) => each.outerHTML),
  };
})()`;
const STORED = "JSON.stringify([location.href, { ...localStorage }, { ...sessionStorage }])";

/** One walk through all of them, because most of the time goes into getting there. */
describeInBrowser("every page, with hostile texts in all that it shows", (visit) => {
  let world: World;
  let every: Everything;
  let visitor: Visitor;
  const found = { light: {} as Record<string, string[]>, dark: {} as Record<string, string[]> };
  const sideways: Record<string, number> = {};
  const taken: Record<string, unknown> = {};
  const kept: Record<string, string> = {};
  const seen: string[] = [];

  beforeAll(async () => {
    world = await startWorld();
    every = await makeEverything(world, HOSTILE);
    visitor = await visit({ url: world.url });
    const { page } = visitor;
    await visitor.context.addInitScript({ content: AXE });
    await visitor.context.addInitScript(WATCH);
    await visitor.signIn(world.admin.username, world.admin.password);
    await visitor.goTo("/");
    await settled(page);
    let scheme: Scheme = "light";
    for await (const view of everyView(page, pagesOf(every))) {
      // The frame is the same on all pages, and is looked at with the first one.
      const within =
        seen.length === 0 ? "body" : (await page.getByRole("dialog").count()) > 0 ? "[role=dialog]" : "main";
      seen.push(view);
      // Every view is looked at in both schemes, first in the one in which the view before it was left.
      const order: readonly Scheme[] = scheme === "light" ? ["light", "dark"] : ["dark", "light"];
      for (const next of order) {
        if (next !== scheme) await switchTo(page, next);
        scheme = next;
        const lasting = await lastingFindings(page, within, RULES[next]);
        if (lasting.length > 0) found[next][view] = lasting;
      }
      const over = await overhangWhenNarrow(page);
      if (over > 0) sideways[view] = over;
      const { isHarmless, ...harm } = await page.evaluate<{ isHarmless: boolean }>(TAKEN);
      if (!isHarmless) taken[view] = harm;
      const stored = await page.evaluate<string>(STORED);
      if (/eyJ/.test(stored)) kept[view] = stored;
      if (PICTURES) await page.screenshot({ path: join(PICTURES, `${seen.length}.png`) });
    }
  }, 900_000);
  afterAll(async () => {
    await every?.operator.stop();
    await world?.stop();
  });

  test("[WC110] no page has a serious finding of axe in the light scheme", () => {
    expect(seen.length).toBeGreaterThan(40);
    expect(found.light).toEqual({});
  });

  test("[WC110] every page has enough contrast in the dark scheme", () => {
    expect(found.dark).toEqual({});
  });

  test("[WC111] every page fits into a window of 360 pixels", () => {
    expect(sideways).toEqual({});
  });

  test("[WC112] no page raises an error, breaks a policy, or calls anything but operations of the API", () => {
    expect(visitor.problems).toEqual([]);
    expect(visitor.undocumented).toEqual([]);
  });

  test("[WC114] every page shows hostile texts as text: they run nothing, load nothing and lead nowhere", () => {
    expect(taken).toEqual({});
  });

  test("[WC16] no page keeps a token in the storage or the address", () => {
    expect(kept).toEqual({});
  });

  test("[WC115] a message from another window changes nothing in the console", async () => {
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
    expect(served.headers.get("content-security-policy")).toContain("frame-ancestors 'none'");
  });
});

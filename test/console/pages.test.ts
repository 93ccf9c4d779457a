import { AxeBuilder } from "@axe-core/playwright";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startWorld, type World } from "../world/world.ts";
import { describeInBrowser, type Visitor } from "./browser.ts";
import { type Everything, makeEverything, pagesOf } from "./everything.ts";
import { everyView, painted } from "./views.ts";

const NARROW = { width: 360, height: 740 };
const WIDE = { width: 1400, height: 900 };

/** The findings of axe that keep somebody from using the page. */
async function findings(page: Page, isInFrame: boolean, rules?: readonly string[]): Promise<string[]> {
  const axe = new AxeBuilder({ page }).setLegacyMode(true);
  // The frame is the same on all pages, and is looked at with the first one.
  if (isInFrame) axe.include("main, [role=dialog]");
  const { violations } = await (rules ? axe.withRules([...rules]) : axe).analyze();
  return violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .flatMap(({ id, nodes }) =>
      nodes.map(({ target, failureSummary }) => `${id} at ${JSON.stringify(target)}: ${failureSummary}`),
    );
}

/** How many pixels of the page are outside of the window. */
const overhang = (page: Page): Promise<number> =>
  page.evaluate("document.scrollingElement.scrollWidth - document.scrollingElement.clientWidth");

describeInBrowser("every page", (visit) => {
  let world: World;
  let every: Everything;
  let visitor: Visitor;
  const found = { light: {} as Record<string, string[]>, dark: {} as Record<string, string[]> };
  const sideways: Record<string, number> = {};
  const seen: string[] = [];

  beforeAll(async () => {
    world = await startWorld();
    every = await makeEverything(world);
    visitor = await visit({ url: world.url });
    const { page } = visitor;
    await visitor.signIn(world.admin.username, world.admin.password);
    for await (const view of everyView(page, pagesOf(every))) {
      seen.push(view);
      const light = await findings(page, seen.length > 1);
      if (light.length > 0) found.light[view] = light;
      // Colours are the only thing in which the two schemes differ.
      await page.emulateMedia({ colorScheme: "dark" });
      const dark = await findings(page, seen.length > 1, ["color-contrast"]);
      if (dark.length > 0) found.dark[view] = dark;
      await page.emulateMedia({ colorScheme: "light" });
      await page.setViewportSize(NARROW);
      await painted(page);
      const over = await overhang(page);
      if (over > 0) sideways[view] = over;
      await page.setViewportSize(WIDE);
    }
  }, 300_000);
  afterAll(async () => {
    await every?.operator.stop();
    await world?.stop();
  });

  test("[WC110] has no serious finding of axe in the light scheme", () => {
    expect(seen.length).toBeGreaterThan(40);
    expect(found.light).toEqual({});
  });

  test("[WC110] has enough contrast in the dark scheme", () => {
    expect(found.dark).toEqual({});
  });

  test("[WC111] fits into a window of 360 pixels", () => {
    expect(sideways).toEqual({});
  });

  test("[WC112] raises no error, breaks no policy, and calls nothing but operations of the API", () => {
    expect(visitor.problems).toEqual([]);
    expect(visitor.undocumented).toEqual([]);
  });
});

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { AxeBuilder } from "@axe-core/playwright";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startWorld, type World } from "../world/world.ts";
import { describeInBrowser, type Visitor } from "./browser.ts";
import { type Everything, makeEverything, pagesOf } from "./everything.ts";
import { everyView, overhangWhenNarrow, painted } from "./views.ts";

type AxeResults = Pick<Awaited<ReturnType<AxeBuilder["analyze"]>>, "violations">;

/** It is given to the page once; the library around it would read it again for every look. */
const AXE = readFileSync(
  createRequire(createRequire(import.meta.url).resolve("@axe-core/playwright")).resolve("axe-core/axe.min.js"),
  "utf8",
);

/** The findings of axe that keep somebody from using the page. */
async function findings(page: Page, within: string, rules?: readonly string[]): Promise<string[]> {
  const options = { resultTypes: ["violations"], ...(rules ? { runOnly: { type: "rule", values: rules } } : {}) };
  const { violations } = await page.evaluate<AxeResults>(
    `axe.run(document.querySelector(${JSON.stringify(within)}) ?? document, ${JSON.stringify(options)}).then(({ violations }) => ({ violations }))`,
  );
  return violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .flatMap(({ id, nodes }) =>
      nodes.map(({ target, failureSummary }) => `${id} at ${target.join(" ")}: ${failureSummary}`),
    );
}

/** Between two schemes some colours are of the one and some of the other. */
async function switchTo(page: Page, colorScheme: "light" | "dark"): Promise<void> {
  await page.emulateMedia({ colorScheme });
  await page.locator(`html[data-mantine-color-scheme=${colorScheme}]`).waitFor({ state: "attached" });
  await painted(page);
}

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
    await visitor.context.addInitScript({ content: AXE });
    await visitor.signIn(world.admin.username, world.admin.password);
    for await (const view of everyView(page, pagesOf(every))) {
      // The frame is the same on all pages, and is looked at with the first one.
      const within =
        seen.length === 0 ? "body" : (await page.getByRole("dialog").count()) > 0 ? "[role=dialog]" : "main";
      seen.push(view);
      const light = await findings(page, within);
      if (light.length > 0) found.light[view] = light;
      // Colours are the only thing in which the two schemes differ.
      await switchTo(page, "dark");
      const dark = await findings(page, within, ["color-contrast"]);
      if (dark.length > 0) found.dark[view] = dark;
      await switchTo(page, "light");
      const over = await overhangWhenNarrow(page);
      if (over > 0) sideways[view] = over;
    }
  }, 900_000);
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

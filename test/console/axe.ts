import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { AxeBuilder } from "@axe-core/playwright";
import type { Page } from "playwright-core";
import { painted } from "./views.ts";

type AxeResults = Pick<Awaited<ReturnType<AxeBuilder["analyze"]>>, "violations">;

/** It is given to the page once; the library around it would read it again for every look. */
export const AXE = readFileSync(
  createRequire(createRequire(import.meta.url).resolve("@axe-core/playwright")).resolve("axe-core/axe.min.js"),
  "utf8",
);

export type Scheme = "light" | "dark";
/** Colours are the only thing in which the two schemes differ. */
export const RULES: Readonly<Record<Scheme, readonly string[] | null>> = { light: null, dark: ["color-contrast"] };

/** The findings of axe that keep somebody from using the page. */
async function findings(page: Page, within: string, rules: readonly string[] | null): Promise<string[]> {
  const options = {
    resultTypes: ["violations"],
    // Style sheets would be parsed again for every look, and none of the rules that run reads them.
    preload: { assets: ["media"] },
    ...(rules ? { runOnly: { type: "rule", values: rules } } : {}),
  };
  const { violations } = await page.evaluate<AxeResults>(
    `axe.run(document.querySelector(${JSON.stringify(within)}) ?? document, ${JSON.stringify(options)}).then(({ violations }) => ({ violations }))`,
  );
  return violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .flatMap(({ id, nodes }) =>
      nodes.map(({ target, failureSummary }) => `${id} at ${target.join(" ")}: ${failureSummary}`),
    );
}

/** A finding that is there again at the next check. The browser may show an element in the other scheme for some frames more. */
export async function lastingFindings(page: Page, within: string, rules: readonly string[] | null): Promise<string[]> {
  let found: string[] = [];
  for (let check = 0; check < 5; check++) {
    found = await findings(page, within, rules);
    if (found.length === 0) break;
    await painted(page);
  }
  return found;
}

/** Between two schemes some colours are of the one and some of the other. */
export async function switchTo(page: Page, colorScheme: Scheme): Promise<void> {
  await page.emulateMedia({ colorScheme });
  await page.locator(`html[data-mantine-color-scheme=${colorScheme}]`).waitFor({ state: "attached" });
  await painted(page);
}

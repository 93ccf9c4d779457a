import type { Page } from "playwright-core";

const CONTENT = "main h1, main [role=alert]";
const PENDING =
  "main[aria-busy=true], :is(main, [role=dialog]) :is([aria-busy=true], .mantine-Skeleton-root, .mantine-Loader-root)";

/** Goes to an address as a link does, without loading the console again. The first page has to be loaded. */
export async function goTo(page: Page, address: string): Promise<void> {
  await page.evaluate(`history.pushState({}, "", ${JSON.stringify(address)})`);
  await painted(page);
}

/** Waits until the page has everything that it asked for. */
export async function settled(page: Page): Promise<void> {
  await page.locator(CONTENT).first().waitFor();
  await page.locator(PENDING).first().waitFor({ state: "detached" });
  await painted(page);
}

/** Waits until whatever was just put into the page is laid out, and has passed into its colours. */
export async function painted(page: Page): Promise<void> {
  await page.evaluate(`new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))).then(() => {
    const ending = document.getAnimations().filter(({ effect }) => effect.getComputedTiming().endTime !== Infinity);
    return Promise.all(ending.map(({ finished }) => finished.catch(() => undefined))).then(() => undefined);
  })`);
}

/** Goes to each page and to each of its tabs, and gives the names of these views while they are on screen. */
export async function* everyView(page: Page, addresses: readonly string[]): AsyncGenerator<string> {
  for (const address of addresses) {
    await goTo(page, address);
    await settled(page);
    yield address;
    // A drawer or dialog that the address opens covers the tabs.
    const isCovered = (await page.getByRole("dialog").count()) > 0;
    const tabs = page.locator("main [role=tab][aria-selected=false]");
    const names = isCovered ? [] : await tabs.allInnerTexts();
    for (const name of names) {
      await page.locator("main").getByRole("tab", { name, exact: true }).click();
      await settled(page);
      yield `${address} (${name})`;
    }
  }
}

/** The pixels of the page that are outside of a narrow window. The lists leave out columns only after they have seen its width. */
export async function overhangWhenNarrow(page: Page): Promise<number> {
  const before = page.viewportSize();
  await page.setViewportSize({ width: 360, height: 740 });
  let over = 0;
  for (let check = 0; check < 20; check++) {
    await painted(page);
    over = await page.evaluate("document.scrollingElement.scrollWidth - document.scrollingElement.clientWidth");
    if (over <= 0) break;
  }
  if (before) await page.setViewportSize(before);
  return over;
}

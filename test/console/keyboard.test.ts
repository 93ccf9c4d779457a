import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startWorld, type World } from "../world/world.ts";
import { describeInBrowser } from "./browser.ts";
import { type Everything, makeEverything } from "./everything.ts";

const SOON = { timeout: 20_000 };
const FOCUSED_NAME =
  "document.activeElement.getAttribute('aria-label') ?? document.activeElement.textContent.slice(0, 100)";

/** Presses Tab until the element of this name has the focus. */
async function tabTo(page: Page, name: string): Promise<void> {
  for (let pressed = 0; pressed < 60; pressed++) {
    await page.keyboard.press("Tab");
    if ((await page.evaluate(FOCUSED_NAME)) === name) return;
  }
  throw new Error(`${name} is not reached by the Tab key`);
}

const focused = (page: Page): Promise<string> => page.evaluate("document.activeElement.tagName");

describeInBrowser("without a mouse", (visit) => {
  let world: World;
  let every: Everything;
  beforeAll(async () => {
    world = await startWorld();
    every = await makeEverything(world);
  });
  afterAll(async () => {
    await every?.operator.stop();
    await world?.stop();
  });

  test("[WC113] [WC127] somebody without a mouse signs in, finds an app by name, and scales it", async () => {
    const { page, problems } = await visit({ url: world.url });
    await page.goto(`${world.url}/o/demo/overview`);
    await page.getByRole("heading", { name: "Sign in to Binnacle" }).waitFor();
    if ((await focused(page)) !== "INPUT") await page.keyboard.press("Tab");
    await page.keyboard.type(world.admin.username);
    await page.keyboard.press("Tab");
    await page.keyboard.type(world.admin.password);
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { level: 1, name: "Overview" }).waitFor();

    await page.keyboard.press("Control+k");
    await page.getByRole("textbox", { name: "Search" }).waitFor();
    await page.keyboard.type("no such name");
    await page.getByText("Nothing has this name.").waitFor();
    await page.keyboard.press("Control+a");
    await page.keyboard.type(every.app);
    await page.getByText(/^App · shop/).waitFor();
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { level: 1, name: every.app }).waitFor();

    await tabTo(page, "More actions");
    await page.keyboard.press("Enter");
    await page.getByRole("menuitem", { name: "Scale" }).waitFor();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    const replicas = page.getByRole("dialog").getByRole("textbox", { name: "Replicas" });
    await replicas.waitFor();
    await expect.poll(() => focused(page), SOON).toBe("INPUT");
    await page.keyboard.press("Control+a");
    await page.keyboard.type("4");
    expect(await replicas.inputValue()).toBe("4");
    await page.keyboard.press("Enter");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    const path = `/apps/${every.namespace}/${every.app}?project_id=${every.projectId}`;
    const { components } = (await world.admin.api.get(path)).body;
    expect(components[0].workload_spec.replicas).toBe(4);
    expect(problems).toEqual([]);
  });

  test("[WC126] a dialog gives the focus back to the button that opened it, or to the button of its menu", async () => {
    const { page, signIn, goTo, problems } = await visit({ url: world.url });
    await signIn(world.admin.username, world.admin.password);
    await goTo(`/o/${every.slug}/apps/${every.namespace}/${every.app}?project=${every.projectId}`);
    await tabTo(page, "More actions");
    await page.keyboard.press("Enter");
    await page.getByRole("menuitem", { name: "Pause", exact: true }).press("Enter");
    const dialog = page.getByRole("dialog", { name: /^Pause/ });
    await dialog.waitFor();
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
    await expect.poll(() => page.evaluate(FOCUSED_NAME), SOON).toBe("More actions");

    await goTo(`/o/${every.slug}/projects/${every.projectId}`);
    await tabTo(page, "Delete");
    await page.keyboard.press("Enter");
    const deletion = page.getByRole("dialog", { name: /^Delete/ });
    await deletion.waitFor();
    await page.keyboard.press("Escape");
    await deletion.waitFor({ state: "detached" });
    await expect.poll(() => page.evaluate(FOCUSED_NAME), SOON).toBe("Delete");
    expect(problems).toEqual([]);
  });

  test("[WC163] a terminal keeps Tab and Escape for the shell, says which key leaves it, and stays inside of its frame", async () => {
    const { page, signIn, goTo, problems } = await visit({ url: world.url });
    await signIn(world.admin.username, world.admin.password);
    await goTo(`/o/${every.slug}/apps/${every.namespace}/${every.app}?project=${every.projectId}&tab=terminal`);
    await page.getByRole("button", { name: "Connect", exact: true }).press("Enter");
    const input = page.getByRole("textbox", { name: "Terminal input" });
    await expect.poll(() => page.evaluate(FOCUSED_NAME), SOON).toBe("Terminal input");
    for (const key of ["Tab", "Shift+Tab", "Escape"]) await page.keyboard.press(key);
    expect(await page.evaluate(FOCUSED_NAME)).toBe("Terminal input");
    const described = await input.getAttribute("aria-describedby");
    const hint = await page.locator(`[id="${described}"]`).textContent();
    expect(hint).toContain("Shift+F6");
    await page.keyboard.press("Shift+F6");
    expect(await page.evaluate(FOCUSED_NAME)).toBe("Disconnect");

    const space = await page.evaluate(`(() => {
      const screen = document.querySelector(".xterm-screen");
      const frame = screen.closest(".xterm").parentElement.parentElement;
      return frame.getBoundingClientRect().bottom - screen.getBoundingClientRect().bottom;
    })()`);
    expect(space).toBeGreaterThanOrEqual(8);
    await page.keyboard.press("Enter");
    await input.waitFor({ state: "detached" });
    expect(problems).toEqual([]);
  });
});

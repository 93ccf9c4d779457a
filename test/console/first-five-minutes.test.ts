import { mkdirSync } from "node:fs";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runWithSandbox, type SandboxRun } from "../world/sandbox-run.ts";
import { dataFolder } from "../world/server-process.ts";
import { describeInBrowser } from "./browser.ts";

/** With `TOUR=1` the pictures of docs/console.md are taken again. */
const TOUR = process.env["TOUR"] === "1" ? new URL("../../docs/console/", import.meta.url).pathname : null;
if (TOUR) mkdirSync(TOUR, { recursive: true });
const SOON = { timeout: 60_000 };

describeInBrowser("the first five minutes", (visit) => {
  let data: Awaited<ReturnType<typeof dataFolder>>;
  let run: SandboxRun;
  beforeAll(async () => {
    data = await dataFolder();
    run = await runWithSandbox(data.path);
    await run.connected();
  });
  afterAll(async () => {
    run?.server.signal("SIGTERM");
    await run?.server.exited;
    await data?.remove();
  });

  test("[WC20] the console leads from the sign-in to an app that runs, is read, scaled, broken, understood and rolled back", async () => {
    const visitor = await visit({ url: run.server.url, width: 1280, height: 800 });
    const { page } = visitor;
    const picture = (name: string) => takePicture(page, name);
    const tab = (name: string) => page.getByRole("tab", { name }).click();
    const says = (words: string | RegExp) => page.getByRole("main").getByText(words).first().waitFor(SOON);
    const choose = async (action: string) => {
      await page.getByRole("button", { name: "More actions" }).click();
      await page.getByRole("menuitem", { name: action }).click();
    };

    await visitor.signInByForm("admin", "binnacle");
    await page.getByRole("heading", { level: 1, name: "Overview" }).waitFor();
    await picture("overview");

    await page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "Templates" }).click();
    await page.getByRole("link", { name: "web-app" }).waitFor();
    await picture("templates");
    await page.getByRole("link", { name: "web-app" }).click();
    await page.getByRole("button", { name: "New project" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Name").fill("shop");
    await dialog.getByRole("button", { name: "Create project" }).click();
    await dialog.waitFor({ state: "hidden" });
    await picture("deploy");
    await page.getByRole("button", { name: "Deploy", exact: true }).click();

    await page.getByRole("heading", { level: 1, name: "web-app" }).waitFor();
    await says("2/2 ready");
    await page.locator('[data-tone="good"]').first().waitFor(SOON);
    await picture("running");

    await tab("Logs");
    await page.getByRole("log").getByText("level=info").first().waitFor(SOON);
    await picture("logs");

    await choose("Scale");
    await page.getByRole("dialog").getByLabel("Replicas").fill("3");
    await page.getByRole("dialog").getByRole("button", { name: "Scale" }).click();
    await tab("Overview");
    await says("3/3 ready");

    await tab("Configuration");
    await page.getByLabel("Image").fill("docker.io/traefik/does-not-exist:1");
    await page.getByRole("button", { name: "Review changes" }).click();
    await picture("review");
    await page
      .getByRole("dialog")
      .getByRole("button", { name: /Deploy/ })
      .click();
    await tab("Overview");
    await says(/does-not-exist/);
    await says(/cannot be pulled|not found/);
    await picture("broken");

    await choose("Roll back");
    // The one below the current is the one that was scaled.
    await page.getByRole("button", { name: "Roll back" }).first().click();
    await picture("roll-back");
    await page
      .getByRole("dialog")
      .getByRole("button", { name: /^Roll back to/ })
      .click();
    await says("Rolled back");
    await tab("Overview");
    await says(/whoami/);
    await page.locator('h1 ~ [data-tone="good"]').waitFor(SOON);

    expect(visitor.problems).toEqual([]);
    expect(visitor.undocumented).toEqual([]);
  }, 300_000);
});

async function takePicture(page: Page, name: string): Promise<void> {
  if (!TOUR) return;
  await page.waitForTimeout(1_500);
  await page.screenshot({ path: `${TOUR}${name}.png` });
}

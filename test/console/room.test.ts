import { randomBytes } from "node:crypto";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { openShop, type Shop } from "../../packages/server/src/apps/app.fixture.ts";
import { createAgentTokens } from "../../packages/server/src/clusters/agent-token.adapter.ts";
import { SOON } from "../../packages/server/src/jobs/jobs.fixture.ts";
import { type SimulatedOperator, simulateOperator } from "../world/simulated-operator.ts";
import { startWorld, type World } from "../world/world.ts";
import { describeInBrowser, type Visitor } from "./browser.ts";
import { painted, settled } from "./views.ts";

const SIGNING_KEY = randomBytes(32).toString("base64url");
const DESKTOP = { width: 1440, height: 900 };
/** Each image stands for a status with a long word. */
const REPORTS = {
  "held-up:1": { phase: "deploying", reason: "ImagePullBackOff", drift: "in_sync" },
  "blocked:1": { phase: "running", reason: null, drift: "blocked_sync" },
  "drifted:1": { phase: "running", reason: null, drift: "drifted" },
} as const;
const STATUSES = ["Deploying, held up", "Blocked by a conflict", "Running, drifted"];

const heightOfRow = async (page: Page) =>
  (await page.getByRole("table").getByRole("row").nth(1).boundingBox())?.height ?? 0;

describeInBrowser("what fits on a screen", (visit) => {
  let world: World;
  let shop: Shop;
  let slug: string;
  let operator: SimulatedOperator;
  let shown: string;

  beforeAll(async () => {
    world = await startWorld({ env: { BINNACLE_SECRET_KEY: SIGNING_KEY } });
    shop = await openShop(world);
    slug = (await world.admin.api.get(`/orgs/${shop.org}`)).body.slug;
    const { token } = await (await createAgentTokens(SIGNING_KEY, world.clock.now)).mint(shop.cluster, 1);
    operator = simulateOperator({
      url: world.url,
      token,
      reportOf(applied) {
        const image = applied.kind === "app" ? applied.body.spec.components[0]?.workload_spec?.image : undefined;
        const report = REPORTS[image as keyof typeof REPORTS];
        if (!report) return undefined;
        const drift = { state: report.drift, summary: null, fields: [], detected_at: null };
        return { phase: report.phase, reason: report.reason, message: null, components: [], drift };
      },
    });
    await vi.waitFor(() => expect(operator.link.isLive).toBe(true), SOON);
    for (const image of Object.keys(REPORTS)) await shop.app([{ name: "web", workload_spec: { image } }]);
    shown = await shop.app([
      {
        name: "web",
        workload_spec: {
          image: "nginx:1",
          ingress: { host: "shop.example.com", port: 80 },
          ports: [{ name: "http", port: 80 }],
        },
      },
    ]);
    for (let i = 0; i < 30; i++)
      await world.admin.api.post(`/orgs/${shop.org}/clusters`, { name: `edge-${String(i).padStart(2, "0")}` });
  }, 120_000);
  afterAll(async () => {
    await operator?.stop();
    await world?.stop();
  });

  async function open(path: string, size = DESKTOP, colorScheme: "light" | "dark" = "light"): Promise<Visitor> {
    const visitor = await visit({ url: world.url, ...size, colorScheme });
    await visitor.signIn(shop.admin.username, shop.admin.password);
    await visitor.goTo(`/o/${slug}/${path}`);
    await settled(visitor.page);
    return visitor;
  }

  test("[WC2917] the rows of a list are 40 pixels high, and 32 once they are compact, also in other lists and after a reload", async () => {
    const { page, goTo } = await open("apps");
    await page.getByRole("row", { name: shown }).waitFor();
    expect(await heightOfRow(page)).toBe(40);
    const compact = page.getByRole("button", { name: "Compact" });
    await compact.click();
    await expect.poll(() => heightOfRow(page)).toBe(32);
    expect(await compact.getAttribute("aria-pressed")).toBe("true");
    await goTo(`/o/${slug}/clusters`);
    await page.getByRole("row", { name: "edge-29" }).waitFor();
    expect(await heightOfRow(page)).toBe(32);
    await compact.click();
    await expect.poll(() => heightOfRow(page)).toBe(40);
  });

  test.each([1440, 1280, 360])(
    "[WC2918] no status is cut in the list of apps in a window of %i pixels",
    async (width) => {
      const { page } = await open("apps", { width, height: 900 });
      for (const word of STATUSES) await page.getByText(word, { exact: true }).waitFor();
      for (const density of ["40", "32"]) {
        await painted(page);
        // What a cell hides lies outside of it; a word that is cut is wider than its element.
        const cut = await page.evaluate(`[...document.querySelectorAll("[role=cell] [data-tone]")].filter((badge) => {
        const [inner, outer] = [badge, badge.closest("[role=row]")].map((each) => each.getBoundingClientRect());
        const cell = badge.closest("[role=cell]").getBoundingClientRect();
        return inner.right > cell.right + 0.5 || inner.top < outer.top || inner.bottom > outer.bottom
          || [badge, ...badge.children].some((each) => each.scrollWidth > each.clientWidth + 2);
      }).map(({ textContent }) => textContent)`);
        expect(cut, `with rows of ${density} pixels`).toEqual([]);
        await page.getByRole("button", { name: "Compact" }).click();
      }
    },
  );

  test("[WC2915] the header of an app is one line with its name, status, address, project and cluster", async () => {
    const { page } = await open(`apps/${shop.namespace}/${shown}?project=${shop.project}`);
    const main = page.getByRole("main");
    await main.getByText("Running", { exact: true }).first().waitFor();
    const parts = [
      main.getByRole("heading", { level: 1, name: shown }),
      main.locator("[data-tone]").first(),
      main.getByRole("link", { name: /^shop\.example\.com/ }),
      main.locator(`a[href*="/projects/"]`).first(),
      main.locator(`a[href*="/clusters/"]`).first(),
      main.getByText(/^generation \d of \d/),
    ];
    const boxes = await Promise.all(parts.map((part) => part.boundingBox()));
    const middles = boxes.map((box) => (box ? box.y + box.height / 2 : Number.NaN));
    expect(Math.max(...middles) - Math.min(...middles)).toBeLessThan(8);
    const tabs = await page.getByRole("tablist").boundingBox();
    expect(tabs?.y).toBeLessThan(130);
  });

  test("[WC2916] what needs attention, the apps and the map share the first screen of the overview", async () => {
    const { page } = await open("overview");
    await page.getByText(/^Attention: [1-9]/).waitFor();
    for (const name of [/^Attention/, "Apps", "Clusters"]) {
      const box = await page.getByRole("region", { name }).boundingBox();
      expect(box, String(name)).not.toBeNull();
      expect((box?.y ?? 0) + (box?.height ?? 0), String(name)).toBeLessThanOrEqual(900);
    }
    const [attention, apps] = await Promise.all(
      [/^Attention/, "Apps"].map((name) => page.getByRole("region", { name }).boundingBox()),
    );
    expect(apps?.x).toBeGreaterThan((attention?.x ?? 0) + (attention?.width ?? 0));
    expect(apps?.y).toBe(attention?.y);
  });

  test.each(["light", "dark"] as const)(
    "[WC2919] the placeholders of fields can be read in the %s scheme",
    async (scheme) => {
      const { page } = await open("apps", DESKTOP, scheme);
      const field = page.getByRole("textbox", { name: "Name, namespace or image" });
      const [text, ground] = await field.evaluate((input) => {
        const { getComputedStyle } = (
          input as unknown as {
            ownerDocument: {
              defaultView: {
                getComputedStyle: (element: unknown, part?: string) => { color: string; backgroundColor: string };
              };
            };
          }
        ).ownerDocument.defaultView;
        return [getComputedStyle(input, "::placeholder").color, getComputedStyle(input).backgroundColor];
      });
      expect(contrastOf(text ?? "", ground ?? "")).toBeGreaterThanOrEqual(4.5);
    },
  );

  test("[WC2920] the console is drawn in fonts of its own server, and a first visit loads at most 250 KB of scripts", async () => {
    const visitor = await open("overview");
    const { page } = visitor;
    const loaded = await page.evaluate<{ name: string; encodedBodySize: number }[]>(
      "performance.getEntriesByType('resource').map(({ name, encodedBodySize }) => ({ name, encodedBodySize }))",
    );
    expect(loaded.filter(({ name }) => /\/assets\/inter-latin-wght.*\.woff2$/.test(name))).toHaveLength(1);
    expect(await page.evaluate("document.fonts.check('14px \"Inter Variable\"')")).toBe(true);
    expect(await page.evaluate("getComputedStyle(document.body).fontFamily")).toMatch(/^"?Inter Variable/);
    const scripts = loaded.filter(({ name }) => new URL(name).pathname.endsWith(".js"));
    expect(scripts.length).toBeGreaterThan(5);
    expect(scripts.reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0)).toBeLessThanOrEqual(250 * 1024);
    expect(visitor.problems).toEqual([]);
  });
});

/** The contrast of two colours as WCAG 2 defines it. */
function contrastOf(one: string, other: string): number {
  const [light = 0, dark = 0] = [one, other].map(luminanceOf).sort((a, b) => b - a);
  return (light + 0.05) / (dark + 0.05);
}

function luminanceOf(color: string): number {
  const [red = 0, green = 0, blue = 0] = (color.match(/[\d.]+/g) ?? []).map((part) => {
    const share = Number(part) / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

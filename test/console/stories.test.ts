import { globSync, readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build, type PreviewServer, preview } from "vite";
import { afterAll, beforeAll, expect, test } from "vitest";
import { AXE, lastingFindings, RULES, type Scheme, switchTo } from "./axe.ts";
import { describeInBrowser, type Visitor } from "./browser.ts";
import { overhangWhenNarrow, painted } from "./views.ts";

const ROOT = new URL("../../packages/console/", import.meta.url).pathname;
/** Pictures of every story in both schemes, for people who want to judge them. */
const PICTURES = process.env["BINNACLE_PICTURES"];

describeInBrowser("the components that pages share", (visit) => {
  let folder: string;
  let server: PreviewServer;
  let visitor: Visitor;
  const names: string[] = [];
  const found: Record<string, readonly string[]> = {};
  const sideways: Record<string, number> = {};

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "stories-"));
    const configFile = join(ROOT, "vite.config.ts");
    const input = join(ROOT, "stories/index.html");
    const options = { outDir: folder, emptyOutDir: true, minify: false, rollupOptions: { input } };
    await build({ configFile, logLevel: "warn", publicDir: false, build: options });
    server = await preview({ configFile, build: options, preview: { port: 0, host: "127.0.0.1" } });
    visitor = await visit({ url: (server.resolvedUrls?.local[0] ?? "").replace(/\/$/, "") });
    const { page } = visitor;
    await visitor.context.addInitScript({ content: AXE });
    await visitor.goTo("/stories/");
    names.push(...((await page.locator("main").getAttribute("data-stories")) ?? "").split("\n"));
    for (const name of names) {
      await visitor.goTo(`/stories/?story=${encodeURIComponent(name)}`);
      await page.getByRole("heading", { level: 1, name, includeHidden: true }).first().waitFor({ state: "attached" });
      for (const scheme of ["dark", "light"] satisfies Scheme[]) {
        await switchTo(page, scheme);
        await painted(page);
        const findings = await lastingFindings(page, "body", RULES[scheme]);
        if (findings.length > 0) found[`${name}, ${scheme}`] = findings;
        if (PICTURES) await page.screenshot({ path: join(PICTURES, `${name}, ${scheme}.png`) });
      }
      const over = await overhangWhenNarrow(page);
      if (over > 0) sideways[name] = over;
    }
  }, 300_000);
  afterAll(async () => {
    await server?.close();
    await rm(folder, { recursive: true, force: true });
  });

  test("[WC479] every state of a shared component has names and contrast in both schemes, and fits into a narrow window", () => {
    expect(names.length).toBeGreaterThan(25);
    expect(found).toEqual({});
    expect(sideways).toEqual({});
  });

  test("[WC478] a refused form marks its field, and shows problems of no field below, with the id of the request", async () => {
    const { page } = visitor;
    await visitor.goTo(`/stories/?story=${encodeURIComponent("Form: refused")}`);
    const name = page.getByRole("textbox", { name: "Name" });
    await page.locator("[aria-invalid=true]").waitFor();
    expect(await name.getAttribute("aria-invalid")).toBe("true");
    expect(await name.inputValue()).toBe("ab");
    const said = await page.getByRole("alert").innerText();
    expect(said).toContain("colour: Extra inputs are not permitted");
    expect(said).not.toContain("at least 3 characters");
    expect(said).toContain("0193c0de");
    await name.fill("abc");
    await page.getByRole("alert").waitFor({ state: "detached" });
    expect(await name.getAttribute("aria-invalid")).not.toBe("true");
  });

  test("[WC2022] a form marks a field that cannot be right, and sends nothing", async () => {
    const { page } = visitor;
    await visitor.goTo(`/stories/?story=${encodeURIComponent("Form: not sent, because a field is wrong")}`);
    const name = page.getByRole("textbox", { name: "Name" });
    await page.getByText("Give at least 3 characters.").waitFor();
    expect(await name.getAttribute("aria-invalid")).toBe("true");
    // The API refuses what is sent here, which the form would say.
    expect(await page.getByRole("alert").count()).toBe(0);
    expect(await page.getByRole("button", { name: "Save" }).isEnabled()).toBe(true);
  });

  test("[WC479] no state of a shared component raises an error or a warning of React", () => {
    expect(visitor.problems).toEqual([]);
  });

  test("[WC479] the stories are not part of the console that is shipped", () => {
    const shipped = globSync("dist/**/*.{js,html}", { cwd: ROOT });
    expect(shipped.length).toBeGreaterThan(10);
    expect(shipped.filter((file) => readFileSync(join(ROOT, file), "utf8").includes("A notice that is"))).toEqual([]);
  });
});

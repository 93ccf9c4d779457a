import { execFileSync } from "node:child_process";
import { setTimeout as delay } from "node:timers/promises";
import { parseArgs } from "node:util";
import { type CDPSession, chromium, type Page } from "playwright-core";
import { findChromium } from "../test/console/chromium.ts";
import { simulateOperator } from "../test/world/simulated-operator.ts";
import { answererOf, logLine } from "../test/world/talking-operator.ts";
import { storeFleet } from "./console-fleet.ts";
import { withStage } from "./stage.ts";
import { printTable } from "./table.ts";

/** The console in a browser, on a large fleet and with a fast log: how soon it shows what was asked for, and how long it is busy. */

const { values: given } = parseArgs({
  options: { minutes: { type: "string", default: "1" }, small: { type: "boolean", default: false } },
});
const FLEET = given.small
  ? { clusters: 50, projects: 10, apps: 200 }
  : { clusters: 5_000, projects: 1_000, apps: 20_000 };
const LINES_PER_MINUTE = 10_000;
const BURST_MS = 60;
const TEXTS = { name: "", description: "", message: "It runs.", logLine: "" };

/** Keeps what the browser says about itself. */
const OBSERVE = `
  window.seen = { tasks: [], shift: 0, painted: null, usable: null };
  new PerformanceObserver((list) => seen.tasks.push(...list.getEntries().map(({ startTime, duration }) => ({ startTime, duration }))))
    .observe({ type: "longtask", buffered: true });
  new PerformanceObserver((list) => { for (const each of list.getEntries()) if (!each.hadRecentInput) seen.shift += each.value; })
    .observe({ type: "layout-shift", buffered: true });
  new PerformanceObserver((list) => { for (const { name, startTime } of list.getEntries()) if (name === "first-contentful-paint") seen.painted = startTime; })
    .observe({ type: "paint", buffered: true });
  new MutationObserver(() => { if (seen.usable === null && document.querySelector("main h1")) seen.usable = performance.now(); })
    .observe(document, { childList: true, subtree: true });`;

interface Seen {
  readonly tasks: readonly { readonly startTime: number; readonly duration: number }[];
  readonly shift: number;
  readonly painted: number | null;
  readonly usable: number | null;
}

const seenOf = (page: Page): Promise<Seen> => page.evaluate<Seen>("seen");
const now = (page: Page): Promise<number> => page.evaluate<number>("performance.now()");

/** The longest task of the main thread since then. The browser tells of those above 50 ms only. */
async function longestSince(page: Page, sinceMs: number): Promise<number> {
  const { tasks } = await seenOf(page);
  return Math.max(0, ...tasks.filter(({ startTime }) => startTime >= sinceMs).map(({ duration }) => duration));
}

const rows: string[][] = [];
const ms = (value: number) => `${Math.round(value)} ms`;
const busy = (value: number) => (value === 0 ? "< 50 ms" : ms(value));

/**
 * Does something and waits until a selector finds what it is to show. Selectors are plain ones and clicks those of the mouse,
 * because finding by role or name walks the whole page, on the thread that is measured.
 */
async function step(session: CDPSession, page: Page, name: string, act: () => Promise<unknown>, shown: string) {
  const trace = await tracing(session);
  const begun = await now(page);
  await act();
  while (!(await page.evaluate<boolean>(`Boolean(${shown})`))) await delay(20);
  const took = (await now(page)) - begun;
  // What is shown first is often followed by more.
  await delay(1_000);
  const longest = `${busy(await longestSince(page, begun))}, ${ms(await trace.mostCpu())} of CPU`;
  rows.push([`${name}: shown`, "≤ 1,000 ms", ms(took)]);
  rows.push([`${name}: longest task`, "≤ 100 ms", longest]);
}

interface Traced {
  readonly name: string;
  readonly pid: number;
  readonly tid: number;
  /** The time of the processor in microseconds. */
  readonly tdur?: number;
  readonly args?: { readonly name?: string };
}

/** Of the tasks on the main threads of pages, the most that the processor worked on one: other work does not make it longer. */
async function tracing(session: CDPSession) {
  const events: Traced[] = [];
  const gather = ({ value }: { value: unknown[] }) => void events.push(...(value as Traced[]));
  session.on("Tracing.dataCollected", gather);
  const traceConfig = { includedCategories: ["toplevel"] };
  await session.send("Tracing.start", { transferMode: "ReportEvents", traceConfig });
  return {
    async mostCpu(): Promise<number> {
      const complete = new Promise((resolve) => session.once("Tracing.tracingComplete", resolve));
      await session.send("Tracing.end");
      await complete;
      session.off("Tracing.dataCollected", gather);
      const threads = events.filter(({ name, args }) => name === "thread_name" && args?.name === "CrRendererMain");
      const keys = new Set(threads.map(({ pid, tid }) => `${pid} ${tid}`));
      return (
        Math.max(0, ...events.filter(({ pid, tid }) => keys.has(`${pid} ${tid}`)).map(({ tdur }) => tdur ?? 0)) / 1_000
      );
    },
  };
}

async function heapMb(session: CDPSession): Promise<number> {
  await session.send("HeapProfiler.collectGarbage");
  const { usedSize } = await session.send("Runtime.getHeapUsage");
  return usedSize / 1024 / 1024;
}

execFileSync(process.execPath, ["scripts/build-console.ts"], { stdio: "inherit" });
const executablePath = findChromium();
if (executablePath === null) throw new Error("This needs Debian's `chromium-headless-shell` or `chromium`.");

await withStage(async ({ binnacle, database, orgId, send, settle }) => {
  const url = `http://127.0.0.1:${binnacle.port}`;
  await storeFleet(database, orgId, FLEET);
  const cluster = await send("POST", `/orgs/${orgId}/clusters`, { name: "with logs" });
  const answerer = { ...answererOf(TEXTS), logs: flood };
  const operator = simulateOperator({
    url,
    token: cluster["connection_token"] ?? "",
    reports: true,
    ports: { answerer },
  });
  const project = await send("POST", "/projects", { name: "logs", cluster_id: cluster["id"] });
  const components = [{ name: "web", workload_spec: { image: "nginx:1.29" } }];
  await send("POST", "/apps", { name: "loud", project_id: project["id"], components });
  await settle();

  const browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--enable-precise-memory-info"] });
  const context = await browser.newContext({ viewport: { width: 1400, height: 900 } });
  await context.addInitScript(OBSERVE);
  const form = { username: "admin", password: "binnacle" };
  await context.request.post(`${url}/api/v1/login`, { form });
  const page = await context.newPage();
  page.setDefaultTimeout(120_000);
  // The second load has the scripts in the browser's cache, as every later visit has; the first one counts.
  await page.goto(`${url}/o/demo/projects`);
  await page.getByRole("row").nth(5).waitFor();
  await delay(2_000);
  const first = await seenOf(page);
  rows.push(["first contentful paint", "≤ 1,000 ms", ms(first.painted ?? Number.NaN)]);
  rows.push(["usable", "≤ 1,500 ms", ms(first.usable ?? Number.NaN)]);

  const session = await context.newCDPSession(page);
  const to = (path: string) => async () => {
    const place = `(({ x, y }) => ({ x: x + 20, y: y + 10 }))(document.querySelector("nav a[href$='/${path}']").getBoundingClientRect())`;
    const { x, y } = await page.evaluate<{ x: number; y: number }>(place);
    await page.mouse.click(x, y);
  };
  const row = (path: string) => `document.querySelector("main [role=row] a[data-row-link][href*='/${path}/']")`;
  await step(session, page, "apps", to("apps"), row("apps"));
  const last = `app-${FLEET.apps - 1}`;
  const filtered = `document.querySelector("a[data-row-link]")?.textContent === "${last}"`;
  await step(session, page, "apps, filtered", () => page.locator("[data-filter]").fill(last), filtered);
  await step(session, page, "clusters", to("clusters"), row("clusters"));
  await step(session, page, "projects", to("projects"), row("projects"));
  await step(
    session,
    page,
    "overview",
    to("overview"),
    "document.querySelector('main h1')?.textContent === 'Overview'",
  );
  rows.push(["layout shift", "≤ 0.05", (await seenOf(page)).shift.toFixed(3)]);

  await page.goto(`${url}/o/demo/apps/logs/loud?project=${project["id"]}&tab=logs`);
  await page
    .getByText(/^line \d+ /)
    .first()
    .waitFor();
  const begun = await now(page);
  const heaps = [await heapMb(session)];
  const cpus: number[] = [];
  for (let minute = 0; minute < Number(given.minutes); minute++) {
    // A trace of the whole minute would itself be work for the machine.
    await delay(45_000);
    const trace = await tracing(session);
    await delay(15_000);
    cpus.push(await trace.mostCpu());
    heaps.push(await heapMb(session));
  }
  const name = `${LINES_PER_MINUTE} lines a minute, ${given.minutes} min`;
  const longest = `${busy(await longestSince(page, begun))}, ${ms(Math.max(...cpus))} of CPU`;
  rows.push([`${name}: longest task`, "≤ 100 ms", longest]);
  rows.push([`${name}: heap by the minute`, "bounded", heaps.map((mb) => `${mb.toFixed(0)} MB`).join(", ")]);
  await browser.close();
  await operator.stop();
}, "api,hub");
printTable(["figure", "aim", "seen"], rows);

/** Answers a request for logs with lines at the pace of a busy app. */
async function* flood(_: unknown, signal: AbortSignal) {
  const perBurst = (LINES_PER_MINUTE / 60_000) * BURST_MS;
  for (let line = 0; !signal.aborted; ) {
    const until = line + perBurst;
    for (; line < until; line++) yield logLine(`line ${line} GET /api/v1/orders/${line * 7919} 200 in 12 ms`);
    await delay(BURST_MS);
  }
}

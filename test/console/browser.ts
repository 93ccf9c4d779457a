import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, inject, type TestOptions } from "vitest";
import openapi from "../../openapi.json" with { type: "json" };
import type {} from "./setup.ts";

export interface Visitor {
  readonly page: Page;
  readonly context: BrowserContext;
  /** Everything that went wrong in the page: errors of scripts, and violations of the content policy. */
  readonly problems: readonly string[];
  /** Calls of the API that are not an operation of `openapi.json`. */
  readonly undocumented: readonly string[];
  goTo(path: string): Promise<void>;
  /** Signs in by the API: the cookie of its answer is the session of the browser. The next page finds it. */
  signIn(username: string, password: string): Promise<void>;
  signInByForm(username: string, password: string): Promise<void>;
}

export interface VisitOptions {
  readonly url: string;
  readonly colorScheme?: "light" | "dark";
  readonly width?: number;
  readonly height?: number;
}

const OPERATIONS = Object.entries(openapi.paths).flatMap(([path, methods]) => {
  const shape = new RegExp(`^/api/v1${path.replace(/\{\w+\}/g, "[^/]+")}$`);
  return Object.keys(methods).map((method) => ({ method: method.toUpperCase(), shape }));
});

const isOperation = (method: string, path: string): boolean =>
  OPERATIONS.some((each) => each.method === method && each.shape.test(path));

/** Tests that need a browser; skipped by name where the machine has none. */
export function describeInBrowser(
  name: string,
  tests: (visit: (options: VisitOptions) => Promise<Visitor>) => void,
  options: TestOptions = {},
): void {
  const executablePath = inject("chromium");
  describe.skipIf(executablePath === null)(name, options, () => {
    let browser: Browser;
    beforeAll(async () => {
      browser = await chromium.launch({ executablePath: executablePath ?? "", args: ["--no-sandbox"] });
    });
    afterAll(() => browser?.close());
    const idle: Page[] = [];
    const taken: Page[] = [];
    beforeEach(() => {
      // Pages of earlier hooks stay theirs.
      taken.length = 0;
    });
    afterEach(async ({ task }) => {
      const failed = task.result?.state === "fail";
      if (failed) await printPages(task.name, taken);
      for (const page of taken) {
        if (!failed && !page.isClosed()) idle.push(await clean(page));
        else await page.context().close();
      }
    });
    tests(async (given) => {
      const page = idle.pop() ?? (await (await browser.newContext()).newPage());
      taken.push(page);
      return visit(page, given);
    });
  });
}

/** A timeout says what was not there; this says what was there instead. */
async function printPages(test: string, taken: readonly Page[]): Promise<void> {
  for (const page of taken.flatMap((each) => each.context().pages())) {
    const text = await page.locator("body").innerText({ timeout: 5_000 }).catch(String);
    process.stderr.write(`"${test}" failed at ${page.url()} with this on the page:\n${text}\n`);
  }
}

/**
 * Leaves a page as a new one would be, for the next test. Its renderer has compiled the console, so that the next sign-in takes a
 * third of what it takes in a new page. A page that stayed where it was would go on following events.
 */
async function clean(page: Page): Promise<Page> {
  const context = page.context();
  const { origin } = new URL(page.url());
  for (const other of context.pages()) if (other !== page) await other.close();
  for (const event of ["pageerror", "console", "request"]) page.removeAllListeners(event);
  await page.unrouteAll({ behavior: "ignoreErrors" });
  await page.goto("about:blank");
  await context.clearCookies();
  if (origin !== "null") {
    const session = await context.newCDPSession(page);
    await session.send("Storage.clearDataForOrigin", { origin, storageTypes: "all" });
    await session.detach();
  }
  return page;
}

async function visit(
  page: Page,
  { url, colorScheme = "light", width = 1400, height = 900 }: VisitOptions,
): Promise<Visitor> {
  const context = page.context();
  await page.setViewportSize({ width, height });
  await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
  page.setDefaultTimeout(30_000);
  const problems: string[] = [];
  const undocumented: string[] = [];
  page.on("pageerror", (error) => problems.push(`error: ${error.message}`));
  page.on("console", (message) => {
    // Refused requests are told to the console by the browser itself, and are not a mistake of the page.
    if (message.type() === "error" && !message.text().startsWith("Failed to load resource"))
      problems.push(message.text());
  });
  page.on("request", (request) => {
    const { pathname, origin } = new URL(request.url());
    if (origin !== new URL(url).origin && !request.url().startsWith("data:"))
      problems.push(`foreign: ${request.url()}`);
    if (pathname.startsWith("/api/") && !isOperation(request.method(), pathname))
      undocumented.push(`${request.method()} ${pathname}`);
  });
  return {
    page,
    context,
    problems,
    undocumented,
    goTo: async (path) => void (await page.goto(url + path)),
    async signIn(username, password) {
      const answer = await context.request.post(`${url}/api/v1/login`, { form: { username, password } });
      if (!answer.ok()) throw new Error(`The login was answered with ${answer.status()}.`);
    },
    async signInByForm(username, password) {
      await page.goto(`${url}/login`);
      await page.getByLabel("Username or email").fill(username);
      await page.locator("input[type=password]").fill(password);
      await page.getByRole("button", { name: "Sign in" }).click();
      await page.getByRole("button", { name: "Your account" }).waitFor();
    },
  };
}

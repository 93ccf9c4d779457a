import { execFileSync } from "node:child_process";
import type { TestProject } from "vitest/node";
import { findChromium } from "./chromium.ts";

const ROOT = new URL("../../", import.meta.url).pathname;

declare module "vitest" {
  interface ProvidedContext {
    /** The browser's executable; null where the machine has none. */
    readonly chromium: string | null;
  }
}

/** Builds the console, unless it is built, and finds a browser. Without one the tests of the console are skipped, loudly. */
export default function setup(project: TestProject): void {
  const chromium = findChromium();
  project.provide("chromium", chromium);
  if (chromium === null) {
    project.vitest.logger.warn(
      "\n  No Chromium was found: the tests of the console in a browser are SKIPPED. Install Debian's `chromium`, or set BINNACLE_CHROMIUM.\n",
    );
    return;
  }
  execFileSync(process.execPath, ["scripts/build-console.ts"], { cwd: ROOT, stdio: "inherit" });
}

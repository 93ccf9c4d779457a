import { existsSync } from "node:fs";

/** The headless shell is the same browser without a window: it takes half the time for a page. */
const PLACES = [
  "/usr/bin/chromium-headless-shell",
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
];

export function findChromium(): string | null {
  const given = process.env["BINNACLE_CHROMIUM"];
  return [...(given ? [given] : []), ...PLACES].find(existsSync) ?? null;
}

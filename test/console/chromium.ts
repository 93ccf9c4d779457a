import { existsSync } from "node:fs";

const PLACES = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

export function findChromium(): string | null {
  const given = process.env["BINNACLE_CHROMIUM"];
  return [...(given ? [given] : []), ...PLACES].find(existsSync) ?? null;
}

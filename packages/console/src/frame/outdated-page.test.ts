import { expect, test } from "vitest";
import { isOutdatedPage } from "./outdated-page.ts";

test.each([
  [new TypeError("Failed to fetch dynamically imported module: http://localhost/assets/apps-page-1.js"), true],
  [new TypeError("error loading dynamically imported module: http://localhost/assets/apps-page-1.js"), true],
  [new TypeError("Importing a module script failed."), true],
  [new Error("Unable to preload CSS for /assets/apps-page-1.css"), true],
  [new TypeError("Cannot read properties of undefined"), false],
  ["Failed to fetch dynamically imported module", false],
])(
  "[WC152] a part of the console that could not be loaded is recognized by the browser's error: %o",
  (error, expected) => {
    expect(isOutdatedPage(error)).toBe(expected);
  },
);

import { expect, test } from "vitest";
import { isNotLoaded, NotLoaded, withoutReload } from "./not-loaded.ts";

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
    expect(isNotLoaded(error)).toBe(expected);
  },
);

test("[WC152] a part that could not be loaded does not have the router reload the console, and other errors stay as they are", async () => {
  const refused = withoutReload(Promise.reject(new TypeError("Failed to fetch dynamically imported module: /a.js")));
  await expect(refused).rejects.toBeInstanceOf(NotLoaded);
  await expect(refused).rejects.toThrow(/^A part of the console/);
  await expect(withoutReload(Promise.reject(new RangeError("other")))).rejects.toBeInstanceOf(RangeError);
  await expect(withoutReload(Promise.resolve(7))).resolves.toBe(7);
});

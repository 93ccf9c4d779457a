import { expect, test } from "vitest";
import { browserOf } from "./browser-name.ts";

const WEBKIT = "AppleWebKit/537.36 (KHTML, like Gecko)";

test.each([
  [`Mozilla/5.0 (X11; Linux x86_64) ${WEBKIT} Chrome/140.0.0.0 Safari/537.36`, "Chrome on Linux"],
  [`Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${WEBKIT} Chrome/140.0 Safari/537.36 Edg/140.0`, "Edge on Windows"],
  ["Mozilla/5.0 (Macintosh; Intel Mac OS X 10.15; rv:140.0) Gecko/20100101 Firefox/140.0", "Firefox on macOS"],
  ["Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605 Version/18.0 Safari/604.1", "Safari on iOS"],
  [`Mozilla/5.0 (X11; Linux x86_64) ${WEBKIT} HeadlessChrome/140.0 Safari/537.36`, "Chrome on Linux"],
  ["curl/8.5.0", "curl"],
  ["my-script <b>1</b>", "my-script <b>1</b>"],
  [null, null],
])("[WC87] a session is shown by the browser and system that it names: %#", (agent, words) => {
  expect(browserOf(agent)).toBe(words);
});

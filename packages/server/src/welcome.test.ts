import { expect, test } from "vitest";
import { servingLine, welcome } from "./welcome.ts";

const URL = "http://127.0.0.1:8080";

test("[ST5] programs can find the address in the line that the server prints when it serves", () => {
  expect(/is serving at (\S+)/.exec(servingLine(URL))?.[1]).toBe(URL);
});

test("[ST5] the banner has the addresses of console and documentation, whom to sign in as, and the state of the sandbox", () => {
  const banner = welcome(URL, "admin / binnacle", "connected");
  expect(banner).toContain(`Console:   ${URL} (sign in as admin / binnacle)\n`);
  expect(banner).toContain(`API docs:  ${URL}/docs\n`);
  expect(banner).toContain("Sandbox:   connected");
});

test("[ST5] the banner does not name a configured superuser", () => {
  expect(welcome(URL, null, "none")).not.toMatch(/ as /);
});

test.each([
  ["late", /not connected yet/],
  ["ended", /it has ended/],
  ["deleted", /its cluster was deleted/],
  ["none", /off/],
] as const)("[ST5] the banner says that the sandbox is %s", (state, words) => {
  const line = welcome(URL, null, state)
    .split("\n")
    .find((text) => text.includes("Sandbox:"));
  expect(line).toMatch(words);
  expect(line).not.toContain(": connected");
});

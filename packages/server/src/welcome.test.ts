import { expect, test } from "vitest";
import { servingLine, welcome } from "./welcome.ts";

const URL = "http://127.0.0.1:8080";

test("[ST5] the line of the server's address is one that programs find", () => {
  expect(/is serving at (\S+)/.exec(servingLine(URL))?.[1]).toBe(URL);
});

test("[ST5] the banner says where the console is and as whom to sign in, where the documentation is, and how the sandbox is", () => {
  const banner = welcome(URL, "admin / binnacle", "connected");
  expect(banner).toContain(`Console:   ${URL} (sign in as admin / binnacle)\n`);
  expect(banner).toContain(`API docs:  ${URL}/docs\n`);
  expect(banner).toContain("Sandbox:   connected");
});

test("[ST5] a configured superuser is not named", () => {
  expect(welcome(URL, null, "none")).not.toMatch(/ as /);
});

test.each([
  ["late", /not connected yet/],
  ["ended", /it has ended/],
  ["deleted", /its cluster was deleted/],
  ["none", /off/],
] as const)("[ST5] the banner says so where the sandbox is %s", (state, words) => {
  const line = welcome(URL, null, state)
    .split("\n")
    .find((text) => text.includes("Sandbox:"));
  expect(line).toMatch(words);
  expect(line).not.toContain(": connected");
});

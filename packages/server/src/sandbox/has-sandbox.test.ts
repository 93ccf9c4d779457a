import { expect, test } from "vitest";
import { hasSandbox } from "./has-sandbox.ts";

const LOCAL = { environment: "local", sandbox: "on", roles: ["api", "hub", "worker"] } as const;

test.each([
  ["local as it comes", {}, true],
  ["local that leaves it out", { sandbox: "off" }, false],
  ["staging", { environment: "staging" }, false],
  ["production", { environment: "production" }, false],
  ["a hub alone", { roles: ["hub"] }, false],
  ["an API alone", { roles: ["api", "worker"] }, false],
] as const)("[SB6] the sandbox in %s", (_, changes, isThere) => {
  expect(hasSandbox({ ...LOCAL, ...changes })).toBe(isThere);
});

import { expect, test } from "vitest";
import openapi from "../../../../openapi.json" with { type: "json" };
import { codeOf, grantsOf, isPowerful, placeOf, SCOPES, suspicionsOf } from "./grants.ts";

const device = {
  kind: "token",
  scopes: [],
  org_id: null,
  org_name: null,
  project_id: null,
  project_name: null,
} as const;

test("[WC85] the console describes every scope of the API in words", () => {
  const { post } = openapi.paths["/cli-tokens"];
  const { scopes } = post.requestBody.content["application/json"].schema.properties;
  expect(SCOPES.toSorted()).toEqual(scopes.items.enum.toSorted());
});

test.each([
  [{ ...device, scopes: ["read"] as const }, /^See everything/, false],
  [{ ...device, scopes: ["write"] as const }, /^Change everything/, true],
  [{ ...device, scopes: ["clusters:register"] as const }, /credentials of their operators/, true],
  [{ ...device, kind: "session" } as const, /^Do everything that you may do, everywhere/, true],
  [{ ...device, scopes: ["new:scope" as "read"] }, /new:scope, which this page does not know/, false],
])("[WC85] the approval of a device says in words what it gives: %#", (login, words, powerful) => {
  expect(grantsOf(login)[0]).toMatch(words);
  expect(isPowerful(login)).toBe(powerful);
});

test.each([
  [device, "In all your organizations and projects"],
  [{ ...device, kind: "session" } as const, "Everywhere"],
  [{ ...device, org_id: "o", org_name: "demo" }, "Only in the organization demo"],
  [{ ...device, org_id: "o" }, "Only in an organization that you do not see"],
  [{ ...device, project_id: "p", project_name: "shop" }, "Only in the project shop"],
  [{ ...device, project_id: "p" }, "Only in a project that you do not see"],
])("[WC85] the approval of a device says where the access works: %#", (login, words) => {
  expect(placeOf(login)).toBe(words);
});

test.each([
  [{ source_address: "10.0.0.1", age_seconds: 5 }, "10.0.0.1", 0],
  [{ source_address: "10.0.0.1", age_seconds: 5 }, null, 0],
  [{ source_address: "203.0.113.9", age_seconds: 5 }, "10.0.0.1", 1],
  [{ source_address: null, age_seconds: 5 }, "10.0.0.1", 1],
  [{ source_address: "203.0.113.9", age_seconds: 301 }, "10.0.0.1", 2],
])("[WC86] the approval of a device names signs that somebody else began the login: %#", (login, own, count) => {
  expect(suspicionsOf(login, own)).toHaveLength(count);
});

test.each([
  ["bcdf-ghjk", "BCDF-GHJK"],
  [" BCDFGHJK ", "BCDF-GHJK"],
  ["bcdf ghjk", "BCDF-GHJK"],
  ["bcdf", null],
  ["bcdf-ghj1", null],
  ["../../../x", null],
  ["", null],
])("[WC86] the typed device code %j is read as %j", (typed, code) => {
  expect(codeOf(typed)).toBe(code);
});

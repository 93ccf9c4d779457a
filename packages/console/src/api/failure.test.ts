import { Conflict, Invalid, NotFound, ServerFault, Unreachable } from "@binnacle/client";
import { expect, test } from "vitest";
import { failureOf, failureView, isTransient, placeErrors, prefixed, retryDelayMs, unprefixed } from "./failure.ts";

const facts = { operation: "getApp", requestId: "req-1" };

test("[WC10] an error is shown in the API's own words, with the request's id", () => {
  expect(failureView(new Conflict("The app is being deleted.", { ...facts, status: 409 }))).toEqual({
    kind: "conflict",
    title: "In conflict with the present state",
    detail: "The app is being deleted.",
    requestId: "req-1",
    fields: {},
  });
});

test("[WC10] an error about a field is shown at the field", () => {
  const body = { detail: [{ loc: ["body", "components", 0, "name"], msg: "Too long.", type: "x" }] };
  expect(failureView(new Invalid("Too long.", { ...facts, body })).fields).toEqual({
    "components.0.name": "Too long.",
  });
});

test("[WC10] an address with an id that is not a UUID is shown as not found", () => {
  const body = { detail: [{ loc: ["path", "id"], msg: "Input should be a valid UUID", type: "uuid_parsing" }] };
  expect(failureView(new Invalid("Input should be a valid UUID", { ...facts, body }))).toMatchObject({
    kind: "missing",
    title: "Not found",
    fields: {},
  });
});

test("[WC10] an error of a change whose answer was lost says that it may have been carried out", () => {
  const { detail } = failureView(new Unreachable("The connection broke off.", { ...facts, mayHaveHappened: true }));
  expect(detail).toBe("The connection broke off. It may have been carried out nevertheless.");
});

test("[WC10] an error of a refresh whose answer was lost does not say that it may have been carried out", () => {
  const refresh = { operation: "refreshAccessToken", mayHaveHappened: true };
  expect(failureView(new Unreachable("The connection broke off.", refresh)).detail).toBe("The connection broke off.");
});

test.each([
  [{ error: null, failureCount: 0, failureReason: null }, null],
  [{ error: null, failureCount: 1, failureReason: "away" }, null],
  [{ error: null, failureCount: 2, failureReason: "away" }, "away"],
  [{ error: "refused", failureCount: 1, failureReason: "refused" }, "refused"],
  [{ error: null }, null],
])("[WC154] a failed read that is tried again shows its failure from the second one on: %o", (tried, expected) => {
  expect(failureOf(tried)).toBe(expected);
});

test("[WC151] a server that is away is asked again after growing delays of at most ten seconds", () => {
  expect([0, 1, 2, 3, 4, 50].map(retryDelayMs)).toEqual([1_000, 2_000, 4_000, 8_000, 10_000, 10_000]);
});

test.each([
  [new Unreachable("", facts), true],
  [new ServerFault("", { ...facts, status: 503 }), true],
  [new NotFound("", facts), false],
  [new TypeError("a bug"), false],
])("[WC11] the page keeps what it shows where another try may succeed: %o", (error, expected) => {
  expect(isTransient(error)).toBe(expected);
});

test("[WC478] messages of the API are placed at the fields of a form, and those about no field are kept apart", () => {
  const values = { name: "", tags: ["web"], settings: { gitops: { branch: "" } }, values: { "auth.users": "[]" } };
  const problems = {
    name: "Too short.",
    "tags.0": "Too long.",
    "tags.1": "Too long as well.",
    "settings.gitops.branch": "Not a branch.",
    "settings.gitops": "Not allowed.",
    "values.auth.users.0": "Not a name.",
    "values.auth": "Not a map.",
    colour: "Not permitted.",
    "": "Not an object.",
  };
  expect(placeErrors(problems, values)).toEqual({
    fields: {
      name: "Too short.",
      tags: "Too long.",
      "settings.gitops.branch": "Not a branch.",
      "values.auth.users": "Not a name.",
    },
    rest: ["settings.gitops: Not allowed.", "values.auth: Not a map.", "colour: Not permitted.", "Not an object."],
  });
});

test.each([
  ["parameters", { host: "" }, { host: "Taken." }],
  ["values", { "auth.user": "" }, { "auth.user": "Taken." }],
])("[WC82] what the API refuses in the map %s of a form is shown at the entry", (map, typed, expected) => {
  const problems = { ...prefixed(map, expected), name: "Too long.", [map]: "Too large." };
  const { fields, rest } = placeErrors(problems, { name: "", [map]: typed });
  expect(unprefixed(map, fields)).toEqual(expected);
  expect(rest).toEqual([`${map}: Too large.`]);
});

import { Conflict, Invalid, NotFound, ServerFault, Unreachable } from "@binnacle/client";
import { expect, test } from "vitest";
import { failureOf, failureView, isTransient, retryDelayMs } from "./failure.ts";

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

test("[WC10] what is wrong with a field is shown at the field", () => {
  const body = { detail: [{ loc: ["body", "components", 0, "name"], msg: "Too long.", type: "x" }] };
  expect(failureView(new Invalid("Too long.", { ...facts, body })).fields).toEqual({
    "components.0.name": "Too long.",
  });
});

test("[WC10] an address with an id that is none is one at which nothing is", () => {
  const body = { detail: [{ loc: ["path", "id"], msg: "Input should be a valid UUID", type: "uuid_parsing" }] };
  expect(failureView(new Invalid("Input should be a valid UUID", { ...facts, body }))).toMatchObject({
    kind: "missing",
    title: "Not found",
    fields: {},
  });
});

test("[WC10] a change whose answer was lost says that it may have been carried out", () => {
  const { detail } = failureView(new Unreachable("The connection broke off.", { ...facts, mayHaveHappened: true }));
  expect(detail).toBe("The connection broke off. It may have been carried out nevertheless.");
});

test("[WC10] a refresh of the session whose answer was lost does not", () => {
  const refresh = { operation: "refreshAccessToken", mayHaveHappened: true };
  expect(failureView(new Unreachable("The connection broke off.", refresh)).detail).toBe("The connection broke off.");
});

test.each([
  [{ error: null, failureCount: 0, failureReason: null }, null],
  [{ error: null, failureCount: 1, failureReason: "away" }, null],
  [{ error: null, failureCount: 2, failureReason: "away" }, "away"],
  [{ error: "refused", failureCount: 1, failureReason: "refused" }, "refused"],
  [{ error: null }, null],
])("[WC154] of a read that is tried again, the failure is shown from the second one on: %o", (tried, expected) => {
  expect(failureOf(tried)).toBe(expected);
});

test("[WC151] a server that is away is asked again after longer and longer, at most ten seconds", () => {
  expect([0, 1, 2, 3, 4, 50].map(retryDelayMs)).toEqual([1_000, 2_000, 4_000, 8_000, 10_000, 10_000]);
});

test.each([
  [new Unreachable("", facts), true],
  [new ServerFault("", { ...facts, status: 503 }), true],
  [new NotFound("", facts), false],
  [new TypeError("a bug"), false],
])("[WC11] what is on screen stays where another try may succeed: %o", (error, expected) => {
  expect(isTransient(error)).toBe(expected);
});

import { CLOSE } from "@binnacle/contract";
import { expect, test } from "vitest";
import { isRenewalDue, overdue, PATIENCE } from "./overdue.ts";

const session = { state: "live", startedAtMs: 0, heardAtMs: 0, cloggedSinceMs: null } as const;
const at = (nowMs: number, fields: object) => overdue({ ...session, ...fields }, nowMs, PATIENCE);

test.each([
  ["[HB9] a hello may take 10 seconds", { state: "greeting" }, 10_000, null],
  ["[HB9] and no more", { state: "greeting" }, 10_001, CLOSE.protocolError],
  ["[HB25] nothing may be heard for 75 seconds", {}, 75_000, null],
  ["[HB25] and no longer", {}, 75_001, "dead"],
  ["[HB25] counted from the last word", { heardAtMs: 60_000 }, 130_000, null],
  ["[HB49] a socket may be full for 30 seconds", { heardAtMs: 60_000, cloggedSinceMs: 60_000 }, 90_000, null],
  ["[HB49] and no longer", { heardAtMs: 60_000, cloggedSinceMs: 60_000 }, 90_001, CLOSE.busy],
])("%s", (_, fields, nowMs, code) => {
  const why = at(nowMs, fields);
  expect(Array.isArray(why) ? why[0] : why).toBe(code);
});

test("[HB28] a token is renewed when less than a third of its life is left", () => {
  const isDue = (leftMs: number) => isRenewalDue(new Date(leftMs), 300, new Date(0));
  expect([isDue(200), isDue(100), isDue(99), isDue(-1)]).toEqual([false, false, true, true]);
});

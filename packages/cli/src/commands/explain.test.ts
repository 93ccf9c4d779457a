import { expect, test } from "vitest";
import { machine } from "../host.fixture.ts";

test("[BC373] `explain` explains a reason in any case of letters, without a login", async () => {
  const { code, out } = await machine().run("explain", "crashloopbackoff", "-o", "json");
  expect(code).toBe(0);
  expect(JSON.parse(out)).toMatchObject({ reason: "CrashLoopBackOff", action: expect.stringContaining("logs") });
});

test("[BC373] `explain` says that it does not know a reason, and ends with 3", async () => {
  const { code, err } = await machine().run("explain", "ReasonOfTomorrow");
  expect([code, err]).toEqual([3, expect.stringContaining("does not know the reason ReasonOfTomorrow")]);
});

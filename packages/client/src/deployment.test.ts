import { expect, test } from "vitest";
import { errorFrom, ManualClock } from "./client.fixture.ts";
import type { Client } from "./client.ts";
import { waitForRevision } from "./deployment.ts";
import { nearest } from "./nearest.ts";
import { describeOperation, operationAt } from "./operation.ts";

const APP = { namespace: "shop", name: "front", project_id: "p", revision: 2 };

/** A control plane whose deployment has these states, one after the other. */
function having(...statuses: string[]) {
  let looks = 0;
  const status = () => statuses[Math.min(looks++, statuses.length - 1)];
  return {
    call: async (operation: string) =>
      operation === "getApp"
        ? { ...APP, phase: "running", phase_message: "It crashes." }
        : { revision: 2, status: status(), message: null },
    async *pages() {
      yield { revision: 3, deployment_id: "other" };
      yield { revision: 2, deployment_id: "this" };
    },
  } as unknown as Client;
}

test("[CN2901] waitForDeployment ends with the app once its revision runs, and tells its progress", async () => {
  const clock = new ManualClock();
  const seen: string[] = [];
  const onProgress = (_: unknown, { status }: { status: string }) => seen.push(status);
  const client = having("pending", "pending", "succeeded");
  expect(await clock.run(waitForRevision(client, clock, APP, { onProgress }))).toMatchObject({ phase: "running" });
  expect([seen, clock.pendingTimers]).toEqual([["pending", "pending", "succeeded"], 0]);
});

test.each([
  ["failed", "Revision 2 of shop/front has failed: It crashes."],
  ["superseded", "Revision 2 of shop/front was replaced: revision 2 is newer."],
])("[CN2901] waitForDeployment fails with the cause where the deployment is %s", async (status, message) => {
  const clock = new ManualClock();
  const error = await errorFrom(clock.run(waitForRevision(having("pending", status), clock, APP, {})));
  expect(error).toMatchObject({ name: "DeploymentFailed", message, deployment: { status } });
});

test("[CN2901] waitForDeployment ends when its time has passed, and at once by its signal", async () => {
  const clock = new ManualClock();
  const late = await errorFrom(clock.run(waitForRevision(having("pending"), clock, APP, { timeoutMs: 5_000 })));
  expect(late).toMatchObject({ name: "TimedOut" });
  const leaving = new AbortController();
  leaving.abort(new Error("enough"));
  const left = waitForRevision(having("pending"), clock, APP, { signal: leaving.signal });
  expect(await errorFrom(clock.run(left))).toMatchObject({ message: "enough" });
});

test("[CN2902] an operation that does not exist is answered with the one that was probably meant", () => {
  expect(() => describeOperation("getAp" as "getApp")).toThrow('There is no operation "getAp". Did you mean "getApp"?');
  expect(() => describeOperation("zzzzzzzz" as "getApp")).toThrow(/^There is no operation "zzzzzzzz"\.$/);
  expect(nearest("lsit", ["list", "last", "show"])).toEqual(["list"]);
  expect(nearest("x", ["list"])).toEqual([]);
});

test("[CN2903] the operation of a method and a path is found, with the parameters of the path", () => {
  expect(operationAt("GET", "/apps/shop/front")).toEqual({
    name: "getApp",
    params: { namespace: "shop", name: "front" },
  });
  // A path that is written out goes before one with a parameter at its place.
  expect(operationAt("GET", "/user/me")?.name).toBe("getMe");
  expect(operationAt("PURGE", "/apps")).toBeNull();
});

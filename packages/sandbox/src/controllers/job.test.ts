import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Job } from "./job.ts";
import { job } from "./objects.fixture.ts";
import { conditionOf, isActive } from "./pod.ts";
import { World } from "./world.fixture.ts";

let world: World;
beforeEach(() => {
  world = new World();
});
afterEach(() => {
  world.stop();
  expect(world.errors).toEqual([]);
});

const once = () => world.get<Job>("jobs.batch", "once");
const FAILS = { annotations: { "sandbox.binnacle.dev/fate": "fail" } };

describe("a job", () => {
  test("[SC30] a Job completes, and its status tells when", async () => {
    world.create("jobs.batch", job("once"));
    await world.pass(1);
    expect(once()["status"]).toMatchObject({ active: 1, ready: 1, startTime: "2026-03-02T10:00:00Z" });
    await world.pass(10);
    expect(once()["status"]).toMatchObject({ succeeded: 1, completionTime: "2026-03-02T10:00:02Z", ready: 0 });
    expect(once()["status"]).not.toHaveProperty("active");
    expect(conditionOf(once(), "Complete")).toMatchObject({ status: "True" });
    expect(world.pods()).toMatchObject([
      { metadata: { labels: { "job-name": "once" } }, status: { phase: "Succeeded" } },
    ]);
  });

  test("[SC30] a Job runs as many pods at once as it may until enough have succeeded", async () => {
    world.create("jobs.batch", job("once", { completions: 5, parallelism: 2 }));
    let most = 0;
    await world.pass(30, () => {
      most = Math.max(most, world.pods().filter(isActive).length);
    });
    expect(most).toBe(2);
    expect(once()["status"]).toMatchObject({ succeeded: 5 });
    expect(world.pods()).toHaveLength(5);
  });

  test("[SC30] an indexed Job completes each of its indexes", async () => {
    world.create("jobs.batch", job("once", { completions: 3, parallelism: 3, completionMode: "Indexed" }));
    await world.pass(10);
    expect(once()["status"]).toMatchObject({ succeeded: 3, completedIndexes: "0-2" });
  });

  test("[SC31] a Job retries after a growing pause, and fails when its retries are used up", async () => {
    world.create("jobs.batch", job("once", { backoffLimit: 2 }, FAILS));
    await world.pass(9);
    expect(world.pods()).toHaveLength(1);
    await world.pass(10);
    expect(world.pods()).toHaveLength(2);
    await world.pass(60);
    expect(once()["status"]).toMatchObject({ failed: 3 });
    expect(conditionOf(once(), "Failed")).toMatchObject({ status: "True", reason: "BackoffLimitExceeded" });
    await world.pass(600);
    expect(world.pods()).toHaveLength(3);
  });

  test("[SC31] restarts of containers count as retries of a Job whose pods restart them", async () => {
    const crashing = {
      annotations: { "sandbox.binnacle.dev/fate": "crash" },
      spec: { restartPolicy: "OnFailure" as const },
    };
    world.create("jobs.batch", job("once", { backoffLimit: 1 }, crashing));
    await world.pass(60);
    expect(conditionOf(once(), "Failed")).toMatchObject({ reason: "BackoffLimitExceeded" });
    expect(world.pods().filter(isActive)).toEqual([]);
  });

  test("[SC31] a Job fails when it takes longer than its deadline", async () => {
    const hanging = { annotations: { "sandbox.binnacle.dev/fate": "unready" } };
    world.create("jobs.batch", job("once", { activeDeadlineSeconds: 20 }, hanging));
    await world.pass(19);
    expect(conditionOf(once(), "Failed")).toBeUndefined();
    await world.pass(5);
    expect(conditionOf(once(), "Failed")).toMatchObject({ status: "True", reason: "DeadlineExceeded" });
    expect(world.pods().filter(isActive)).toEqual([]);
  });

  test("[SC32] a suspended Job has no pods until it is resumed", async () => {
    world.create("jobs.batch", job("once", { suspend: true }));
    await world.pass(10);
    expect(world.pods()).toEqual([]);
    expect(conditionOf(once(), "Suspended")).toMatchObject({ status: "True", reason: "JobSuspended" });
    world.store.patch("jobs.batch", "once", "default", { spec: { suspend: false } });
    await world.pass(10);
    expect(conditionOf(once(), "Suspended")).toMatchObject({ status: "False", reason: "JobResumed" });
    expect(once()["status"]).toMatchObject({ succeeded: 1 });
  });

  test("[SC32] a finished Job is deleted with its pods after its time to live", async () => {
    world.create("jobs.batch", job("once", { ttlSecondsAfterFinished: 30 }));
    await world.pass(20);
    expect(world.list("jobs.batch")).toHaveLength(1);
    await world.pass(30);
    expect([...world.list("jobs.batch"), ...world.pods()]).toEqual([]);
  });
});

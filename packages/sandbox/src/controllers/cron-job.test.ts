import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { CronJob } from "./cron-job.ts";
import { lastRunMs, nextRunMs, scheduleOf } from "./cron-schedule.ts";
import { cronJob, job } from "./objects.fixture.ts";
import { World } from "./world.fixture.ts";

const at = (text: string) => Date.parse(text);

describe("a schedule", () => {
  test.each([
    ["*/15 * * * *", "2026-03-02T10:00:00Z", "2026-03-02T10:15:00Z"],
    ["0 3 * * *", "2026-03-02T10:00:00Z", "2026-03-03T03:00:00Z"],
    ["30 10 * * *", "2026-03-02T10:29:59Z", "2026-03-02T10:30:00Z"],
    ["0 0 1 * *", "2026-03-02T10:00:00Z", "2026-04-01T00:00:00Z"],
    ["0 0 29 2 *", "2026-03-02T10:00:00Z", "2028-02-29T00:00:00Z"],
    ["0 9-17/4 * * mon-fri", "2026-03-06T17:00:00Z", "2026-03-09T09:00:00Z"],
    ["0 0 13 * 5", "2026-03-02T10:00:00Z", "2026-03-06T00:00:00Z"],
    ["0 0 * * 7", "2026-03-02T10:00:00Z", "2026-03-08T00:00:00Z"],
    ["5,35 10 * jan,mar *", "2026-03-02T10:05:00Z", "2026-03-02T10:35:00Z"],
    ["@hourly", "2026-03-02T10:00:00Z", "2026-03-02T11:00:00Z"],
    ["@weekly", "2026-03-02T10:00:00Z", "2026-03-08T00:00:00Z"],
    ["@yearly", "2026-03-02T10:00:00Z", "2027-01-01T00:00:00Z"],
  ])("[SC35] the schedule %s comes after %s at %s", (text, after, next) => {
    const schedule = scheduleOf(text);
    expect(schedule && new Date(nextRunMs(schedule, at(after)) ?? 0)).toEqual(new Date(next));
  });

  test.each([
    "",
    "* * * *",
    "60 * * * *",
    "* 24 * * *",
    "* * 0 * *",
    "a * * * *",
    "5-1 * * * *",
    "*/0 * * * *",
    "@often",
  ])("[SC35] the text %j is not a schedule", (text) => expect(scheduleOf(text)).toBeNull());

  test("[SC35] a schedule that never comes has no next time", () => {
    const never = scheduleOf("0 0 30 2 *");
    expect(never && nextRunMs(never, at("2026-03-02T10:00:00Z"))).toBeNull();
  });

  test("[SC35] the last time before the next run of a schedule is the run before it", () => {
    const numbers = (least: number, most: number) =>
      fc.oneof(fc.constant("*"), fc.integer({ min: least, max: most }).map(String));
    const text = fc.tuple(numbers(0, 59), numbers(0, 23), numbers(1, 28), numbers(1, 12), numbers(0, 6));
    fc.assert(
      fc.property(text, fc.integer({ min: 0, max: 3_000_000 }), (fields, minutes) => {
        const schedule = scheduleOf(fields.join(" "));
        const fromMs = at("2026-01-01T00:00:00Z") + minutes * 60_000;
        const nextMs = schedule && nextRunMs(schedule, fromMs);
        if (!schedule || nextMs === null) throw new Error("there is always a next time");
        expect(nextMs).toBeGreaterThan(fromMs);
        expect(lastRunMs(schedule, nextMs, fromMs)).toBe(nextMs);
        expect(lastRunMs(schedule, nextMs - 1, fromMs)).toBeNull();
      }),
    );
  });
});

describe("a cron job", () => {
  let world: World;
  beforeEach(() => {
    world = new World();
  });
  afterEach(() => {
    world.stop();
    expect(world.errors).toEqual([]);
  });
  const cron = () => world.get<CronJob>("cronjobs.batch", "tick");
  const runs = () => world.list("jobs.batch");

  test("[SC36] a CronJob runs a Job at each of its times, and keeps as many as its history limit", async () => {
    world.create("cronjobs.batch", cronJob("tick", { schedule: "*/5 * * * *", successfulJobsHistoryLimit: 2 }));
    await world.pass(4 * 60);
    expect(runs()).toEqual([]);
    await world.pass(60);
    expect(runs()).toMatchObject([
      {
        metadata: {
          name: `tick-${at("2026-03-02T10:05:00Z") / 60_000}`,
          annotations: { "batch.kubernetes.io/cronjob-scheduled-timestamp": "2026-03-02T10:05:00Z" },
        },
      },
    ]);
    expect(cron()["status"]).toMatchObject({ lastScheduleTime: "2026-03-02T10:05:00Z", active: [{ kind: "Job" }] });
    await world.pass(16 * 60);
    expect(runs()).toHaveLength(2);
    expect(cron()["status"]).toEqual({
      lastScheduleTime: "2026-03-02T10:20:00Z",
      lastSuccessfulTime: "2026-03-02T10:20:02Z",
    });
    expect(world.pods()).toHaveLength(2);
  });

  test("[SC36] a suspended CronJob runs nothing, and afterwards makes up for the newest missed time alone", async () => {
    world.create("cronjobs.batch", cronJob("tick", { schedule: "* * * * *", suspend: true }));
    await world.pass(600);
    expect(runs()).toEqual([]);
    world.store.patch("cronjobs.batch", "tick", "default", { spec: { suspend: false } });
    await world.pass(1);
    expect(runs()).toHaveLength(1);
  });

  test.each([
    ["Allow", 3, 3],
    ["Forbid", 1, 1],
    ["Replace", 1, 1],
  ])(
    "[SC37] a CronJob whose runs take long has, by the policy %s, %i at once and %i left",
    async (concurrencyPolicy, most, left) => {
      const jobTemplate = { spec: job("run", {}, { annotations: { "sandbox.binnacle.dev/fate": "unready" } })["spec"] };
      world.create("cronjobs.batch", cronJob("tick", { schedule: "* * * * *", concurrencyPolicy, jobTemplate }));
      let seen = 0;
      await world.pass(3 * 60 + 10, () => {
        seen = Math.max(seen, runs().length);
      });
      expect(seen).toBe(most);
      expect(runs()).toHaveLength(left);
      const last = concurrencyPolicy === "Forbid" ? "10:01" : "10:03";
      expect(runs().at(-1)?.metadata.creationTimestamp).toContain(last);
    },
  );
});

import { type Following, startWorld } from "@binnacle/world";
import { sql } from "kysely";
import { afterAll, describe, expect, test } from "vitest";
import { bringJob, provisionedCluster } from "../clusters/clusters.fixture.ts";
import { followLog } from "./log-follow.runner.ts";
import { PROVISIONING_TOPIC } from "./provisioning.ts";

const world = await startWorld({ env: { BINNACLE_ROLES: "api" } });
const db = world.database.kysely;
const { org, admin, member } = await world.orgWithPeople();
afterAll(() => world.stop());

async function runningJob(): Promise<string> {
  const { provisioning_job_id } = await provisionedCluster(admin.api, org);
  await bringJob(db, provisioning_job_id, "running");
  return provisioning_job_id;
}

/** As the worker prints: stored, and then hinted. */
async function print(job: string, ...lines: string[]): Promise<void> {
  const at = world.clock.now();
  await db
    .insertInto("provisioning_log_lines")
    .values(lines.map((line) => ({ job_id: job, at, line })))
    .execute();
  world.bus.publish(PROVISIONING_TOPIC, { job_id: job });
}

async function end(job: string, status: "succeeded" | "failed"): Promise<void> {
  await bringJob(db, job, status);
  world.bus.publish(PROVISIONING_TOPIC, { job_id: job });
}

const followed = (job: string, { api } = member, lastEventId?: string): Promise<Following> =>
  api
    .with({ accept: "text/event-stream", ...(lastEventId ? { "last-event-id": lastEventId } : {}) })
    .follow(`/provisioning-jobs/${job}/logs`);

const linesOf = (frames: readonly { event: string; data: { line: string } }[]) =>
  frames.flatMap(({ event, data }) => (event === "log" ? [data.line] : []));

describe("GET /provisioning-jobs/{id}/logs as server-sent events", () => {
  test("[PV20] a log stream begins with the lines so far, follows new ones, and ends with the job's status", async () => {
    const job = await runningJob();
    await print(job, "init", "plan");
    const stream = await followed(job);
    expect([stream.status, stream.headers.get("content-type")]).toEqual([200, "text/event-stream; charset=utf-8"]);
    const first = await stream.next();
    expect(first).toEqual({
      event: "log",
      id: String(first?.data.position),
      data: { position: expect.any(Number), time: world.clock.now().toISOString(), line: "init" },
    });
    expect((await stream.next())?.data.line).toBe("plan");
    await print(job, "apply");
    expect((await stream.next())?.data.line).toBe("apply");
    await print(job, "a line with\ttabs and ünïcode", "");
    await end(job, "succeeded");
    const rest = await stream.rest();
    expect(linesOf(rest)).toEqual(["a line with\ttabs and ünïcode", ""]);
    expect(rest.at(-1)).toEqual({ event: "end", data: { status: "succeeded" } });
  });

  test("[PV20] the log stream of a job that has ended ends at once, and the log is still readable as JSON", async () => {
    const job = await runningJob();
    await print(job, "init");
    await end(job, "failed");
    const frames = await (await followed(job)).rest();
    expect([linesOf(frames), frames.at(-1)?.data]).toEqual([["init"], { status: "failed" }]);
    expect((await member.api.get(`/provisioning-jobs/${job}/logs`)).body).toEqual({ logs: "init\n" });
  });

  test("[PV20] a log stream ends without a status where its job was deleted, also if no hint came", async () => {
    const job = await runningJob();
    const stream = await followed(job);
    await db.deleteFrom("provisioning_jobs").where("id", "=", job).execute();
    expect((await stream.rest()).at(-1)).toEqual({ event: "end", data: { status: null } });
  });

  test("[PV21] each of several readers goes on after Last-Event-ID, without loss or repetition", async () => {
    const job = await runningJob();
    const printed = Array.from({ length: 1_200 }, (_, index) => `line ${index}`);
    await print(job, ...printed.slice(0, 700));
    const whole = await followed(job, admin);
    const broken = await followed(job);
    const read: string[] = [];
    let last = "";
    for (const _ of printed.slice(0, 333)) {
      const frame = await broken.next();
      read.push(frame?.data.line);
      last = frame?.id ?? "";
    }
    broken.leave();
    await print(job, ...printed.slice(700));
    await end(job, "succeeded");
    read.push(...linesOf(await (await followed(job, member, last)).rest()));
    expect(read).toEqual(printed);
    expect(linesOf(await whole.rest())).toEqual(printed);
  });

  test("[PV22] a log stream of a reader who loses the cluster ends without saying that the job has ended", async () => {
    const job = await runningJob();
    const leaving = await world.person({ org });
    const stream = await followed(job, leaving);
    await world.admin.api.delete(`/orgs/${org}/members/${leaving.id}`);
    expect(await stream.rest()).toEqual([]);
    expect((await followed(job, leaving)).status).toBe(404);
  });

  test("[PV22] a log stream ends when its reader's token expires", async () => {
    const job = await runningJob();
    const reader = await world.person({ org });
    const stream = await followed(job, reader);
    world.clock.advance(24 * 60 * 60_000);
    expect(await stream.rest()).toEqual([]);
    world.clock.advance(-24 * 60 * 60_000);
  });

  test("[PV22] the log stream of a job counts among the log streams of a person", async () => {
    const job = await runningJob();
    const reader = await world.person({ org });
    const streams = await Promise.all(Array.from({ length: 20 }, () => followed(job, reader)));
    expect((await followed(job, reader)).status).toBe(429);
    for (const stream of streams) stream.leave();
  });
});

test("[PV23] a log of 100,000 lines is read back whole, as JSON and as events", async () => {
  const job = await runningJob();
  await sql`insert into provisioning_log_lines (job_id, at, line)
    select ${job}, ${world.clock.now()}, 'resource ' || n || ': Still creating...' from generate_series(1, 100000) n`.execute(
    db,
  );
  await bringJob(db, job, "succeeded");
  const { body } = await member.api.get(`/provisioning-jobs/${job}/logs`);
  const lines = (body.logs as string).split("\n").slice(0, -1);
  expect([lines.length, lines[0], lines.at(-1)]).toEqual([
    100_000,
    "resource 1: Still creating...",
    "resource 100000: Still creating...",
  ]);
  expect(linesOf(await (await followed(job)).rest())).toEqual(lines);
}, 60_000);

test("[PV24] a client that does not read its stream has at most one page of lines waiting, and holds up nobody", async () => {
  const job = await runningJob();
  await print(job, ...Array.from({ length: 2_000 }, (_, index) => `line ${index}`));
  await bringJob(db, job, "succeeded");
  const written: string[] = [];
  const taken = Promise.withResolvers<void>();
  const full = Promise.withResolvers<void>();
  const reading = followLog(
    { db, bus: world.bus },
    { jobId: job, after: 0, signal: new AbortController().signal },
    {
      write: (text) => written.push(String(text)),
      drained: () => {
        full.resolve();
        return taken.promise;
      },
      end: () => undefined,
    },
  );
  await full.promise;
  const frames = await (await followed(job)).rest();
  expect(linesOf(frames)).toHaveLength(2_000);
  expect(written.join("").match(/^event: log$/gm)).toHaveLength(500);
  taken.resolve();
  await reading;
  expect(written.join("").match(/^event: log$/gm)).toHaveLength(2_000);
});

import { TASK_KINDS } from "@binnacle/contract";
import { describe, expect, test } from "vitest";
import { jobKindOf, maySee, type TaskJob, taskHandlers, wireTask } from "./task.ts";

const ANN = "01932c07-31f1-7a4e-8d8b-6f1a2f0c5d11";
const BOB = "01932c07-31f1-7a4e-8d8b-6f1a2f0c5d22";

const job: TaskJob = {
  id: "01932c07-31f1-7a4e-8d8b-6f1a2f0c5d33",
  kind: "task.ping",
  status: "running",
  attempts: 1,
  result: null,
  error_message: null,
  created_by: ANN,
  org_id: null,
  created_at: new Date("2030-01-01T00:00:00Z"),
  updated_at: new Date("2030-01-01T00:00:01Z"),
  started_at: new Date("2030-01-01T00:00:01Z"),
  finished_at: null,
};

describe("tasks", () => {
  test("[TA1] every kind of task is a kind of job and has a handler", () => {
    const handlers = taskHandlers({ resync: async () => undefined });
    expect(Object.keys(handlers)).toEqual(TASK_KINDS.map(jobKindOf));
  });

  test("[TA3] a task is visible to its creator and to superusers", () => {
    expect(maySee(job, { id: ANN, isSuperuser: false, boundary: null })).toBe(true);
    expect(maySee(job, { id: BOB, isSuperuser: false, boundary: null })).toBe(false);
    expect(maySee(job, { id: BOB, isSuperuser: true, boundary: null })).toBe(true);
  });

  test("[CT36] a bound CLI token sees the tasks about clusters of its organization, even as a superuser's", () => {
    const about = { ...job, kind: "task.resync_cluster", org_id: "an org" };
    const superuser = { id: ANN, isSuperuser: true };
    expect(maySee(about, { ...superuser, boundary: { org_id: "an org" } })).toBe(true);
    expect(maySee(about, { ...superuser, boundary: { org_id: "another org" } })).toBe(false);
    expect(maySee(about, { ...superuser, boundary: { project_id: "a project" } })).toBe(false);
    expect(maySee(job, { ...superuser, boundary: { org_id: "an org" } })).toBe(false);
  });

  test("[TA4] a job that is not a task is visible to nobody, not even to a superuser", () => {
    expect(maySee({ ...job, kind: "provision" }, { id: ANN, isSuperuser: true, boundary: null })).toBe(false);
  });

  test("[TA5] a task on the wire has its status, attempts, result and times", () => {
    expect(wireTask(job)).toEqual({
      id: job.id,
      kind: "ping",
      status: "running",
      attempts: 1,
      result: null,
      error_message: null,
      created_at: "2030-01-01T00:00:00.000Z",
      updated_at: "2030-01-01T00:00:01.000Z",
      started_at: "2030-01-01T00:00:01.000Z",
      finished_at: null,
    });
  });
});

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { afterFailure, idlePauseMs, PermanentJobError, RunLater, retryInMs, storedMessage } from "./job.ts";

const always = (value: number) => () => value;
const almostOne = 1 - Number.EPSILON;

describe("backoff", () => {
  test("[JB1] the longest delay of a retry doubles from one second up to five minutes", () => {
    const longest = Array.from({ length: 12 }, (_, index) =>
      Math.ceil(retryInMs(index + 1, always(almostOne)) / 1_000),
    );
    expect(longest).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300, 300]);
  });

  test("[JB1] the delay of a retry is between zero and the longest one, whatever the number of attempts", () => {
    const unit = fc.double({ min: 0, max: almostOne, noNaN: true });
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 100_000 }), unit, (attempts, random) => {
        const pauseMs = retryInMs(attempts, always(random));
        expect(Number.isInteger(pauseMs)).toBe(true);
        expect(pauseMs).toBeGreaterThanOrEqual(0);
        expect(pauseMs).toBeLessThanOrEqual(300_000);
      }),
    );
    expect(retryInMs(7, always(0))).toBe(0);
    expect(retryInMs(7, always(0.5))).toBe(32_000);
  });
});

describe("after a failure", () => {
  test("[JB2] a failed job is retried while it has attempts left", () => {
    const error = new Error("The cluster did not answer.");
    expect(afterFailure({ attempts: 2, maxAttempts: 3 }, error, always(0.5))).toEqual({
      status: "pending",
      retryInMs: 1_000,
      errorMessage: "The cluster did not answer.",
    });
    expect(afterFailure({ attempts: 3, maxAttempts: 3 }, error, always(0.5))).toEqual({
      status: "failed",
      errorMessage: "The cluster did not answer.",
    });
  });

  test("[JB27] a job that is asked to wait is put back for as long as that, also in its last attempt", () => {
    const error = new RunLater("The cloud answers fewer calls.", 90_000);
    expect(afterFailure({ attempts: 3, maxAttempts: 3 }, error, always(0.5))).toEqual({
      status: "pending",
      retryInMs: 90_000,
      errorMessage: "The cloud answers fewer calls.",
      isFree: true,
    });
  });

  test("[JB2] a permanent error ends the job, however many attempts are left", () => {
    const failure = afterFailure(
      { attempts: 1, maxAttempts: 9 },
      new PermanentJobError("No such region."),
      always(0.5),
    );
    expect(failure).toEqual({ status: "failed", errorMessage: "No such region." });
  });
});

describe("message for people", () => {
  test.each([
    [new Error("disk full"), "disk full"],
    ["just words", "just words"],
    [new RangeError(""), "RangeError"],
    [new AggregateError([new Error("first"), new Error(""), "third"]), "first; Error; third"],
    [undefined, "The job failed."],
    [{ message: "not an error" }, "The job failed."],
    [new Error("a\0b"), "ab"],
  ])("[JB3] the error %s is stored as the message %j", (error, message) => {
    expect(storedMessage(error)).toBe(message);
  });

  test("[JB3] a stored error message has 1 to 2,000 characters, is well-formed and has neither NUL nor a stack", () => {
    const text = fc.oneof(
      fc.string({ unit: "binary", maxLength: 50 }),
      fc.string({ unit: "binary", minLength: 1_950, maxLength: 2_100 }),
    );
    fc.assert(
      fc.property(text, (words) => {
        const error = new Error(words);
        const message = storedMessage(error);
        expect(message.length).toBeGreaterThan(0);
        expect(message.length).toBeLessThanOrEqual(2_000);
        expect(message.isWellFormed()).toBe(true);
        expect(message).not.toContain("\0");
        expect(message).not.toContain(import.meta.filename);
      }),
    );
  });
});

test.each([
  ["nothing waits", null, 5_000],
  ["the next job is due later", 60_000, 5_000],
  ["the next job is due sooner", 3_000, 3_000],
  ["the next job is due at once", 10, 1_000],
  ["a job that is due waits for its lane", -5_000, 1_000],
])(
  "[JB16] a worker that polls every second and has found no job pauses as long as it may where %s",
  (_, dueMs, pauseMs) => {
    expect(idlePauseMs(1_000, dueMs)).toBe(pauseMs);
  },
);

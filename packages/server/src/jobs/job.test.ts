import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { afterFailure, PermanentJobError, retryInMs, storedMessage } from "./job.ts";

const always = (value: number) => () => value;
const almostOne = 1 - Number.EPSILON;

describe("backoff", () => {
  test("[JB1] the longest pause doubles from one second up to five minutes", () => {
    const longest = Array.from({ length: 12 }, (_, index) =>
      Math.ceil(retryInMs(index + 1, always(almostOne)) / 1_000),
    );
    expect(longest).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300, 300]);
  });

  test("[JB1] a pause lies anywhere between none and the longest one, whatever the number of attempts", () => {
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
  test("[JB2] a job is tried again while it has attempts left", () => {
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

  test("[JB2] a permanent error ends the job whatever attempts are left", () => {
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
  ])("[JB3] %s is stored as %j", (error, message) => {
    expect(storedMessage(error)).toBe(message);
  });

  test("[JB3] a message has 1 to 2,000 characters, is well-formed and holds neither NUL nor a stack", () => {
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

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { normalisePath, type RateLimit, type Spending, spend, type Usage } from "./tier.ts";

const START = Date.UTC(2030, 0, 1);
const THREE_A_MINUTE: RateLimit = { limit: 3, periodSeconds: 60 };

interface Request {
  readonly atMs: number;
  readonly spending: Spending;
}

function replay(pausesMs: readonly number[], limit: RateLimit): Request[] {
  let usage: Usage | null = null;
  let atMs = START;
  return pausesMs.map((pauseMs) => {
    atMs += pauseMs;
    const spending = spend(usage, limit, atMs);
    usage = spending.usage;
    return { atMs, spending };
  });
}

const anyLimit = fc.record({ limit: fc.integer({ min: 0, max: 8 }), periodSeconds: fc.integer({ min: 1, max: 90 }) });
const positiveLimit = anyLimit.filter(({ limit }) => limit > 0);
const pauses = fc.array(
  fc.oneof({ weight: 5, arbitrary: fc.integer({ min: 0, max: 3_000 }) }, fc.integer({ min: 0, max: 100_000 })),
  { maxLength: 100 },
);
const skewedPauses = fc.array(fc.integer({ min: -100_000, max: 30_000 }), { maxLength: 100 });

describe("task throttle", () => {
  test("[RL1] a window of a rate limit opens with the first request, admits the limit and refuses the rest", () => {
    const verdicts = replay([0, 10_000, 10_000, 10_000, 29_999, 1], THREE_A_MINUTE).map(({ spending }) => spending);
    expect(verdicts.map(({ admitted }) => admitted)).toEqual([true, true, true, false, false, true]);
    expect(verdicts.at(2)?.usage).toEqual({ windowStartedAtMs: START, count: 3 });
    expect(verdicts.at(-1)?.usage).toEqual({ windowStartedAtMs: START + 60_000, count: 1 });
  });

  test("[RL1] no window of a rate limit admits more than the limit, and windows do not overlap", () => {
    fc.assert(
      fc.property(pauses, anyLimit, (pausesMs, limit) => {
        const admitted = replay(pausesMs, limit).filter(({ spending }) => spending.admitted);
        const perWindow = Map.groupBy(admitted, ({ spending }) => spending.usage.windowStartedAtMs);
        for (const [startedAtMs, requests] of perWindow) {
          expect(requests.length).toBeLessThanOrEqual(limit.limit);
          expect(requests.at(0)?.atMs).toBe(startedAtMs);
          for (const { atMs } of requests) expect(atMs - startedAtMs).toBeLessThan(limit.periodSeconds * 1_000);
        }
        const starts = [...perWindow.keys()];
        for (const [index, startedAtMs] of starts.entries()) {
          const next = starts[index + 1];
          if (next !== undefined) expect(next - startedAtMs).toBeGreaterThanOrEqual(limit.periodSeconds * 1_000);
        }
      }),
    );
  });

  test("[RL2] a request that a rate limit refuses is not counted", () => {
    fc.assert(
      fc.property(pauses, positiveLimit, (pausesMs, limit) => {
        let before: Usage | null = null;
        for (const { spending } of replay(pausesMs, limit)) {
          if (!spending.admitted) expect(spending.usage).toEqual(before);
          before = spending.usage;
        }
      }),
    );
  });

  test("[RL3] the wait of a refused request is in whole seconds, rounded up and at least one", () => {
    const full: Usage = { windowStartedAtMs: START, count: 3 };
    const waitAt = (offsetMs: number) => spend(full, THREE_A_MINUTE, START + offsetMs);
    expect(waitAt(0)).toMatchObject({ admitted: false, retryAfterSeconds: 60 });
    expect(waitAt(1)).toMatchObject({ admitted: false, retryAfterSeconds: 60 });
    expect(waitAt(59_000)).toMatchObject({ admitted: false, retryAfterSeconds: 1 });
    expect(waitAt(59_999)).toMatchObject({ admitted: false, retryAfterSeconds: 1 });
  });

  test("[RL3] a request after the given wait is admitted, even when the clock was set back before", () => {
    fc.assert(
      fc.property(fc.oneof(pauses, skewedPauses), positiveLimit, (pausesMs, limit) => {
        for (const { atMs, spending } of replay(pausesMs, limit)) {
          if (spending.admitted) continue;
          expect(Number.isInteger(spending.retryAfterSeconds)).toBe(true);
          expect(spending.retryAfterSeconds).toBeGreaterThanOrEqual(1);
          expect(spending.retryAfterSeconds).toBeLessThanOrEqual(limit.periodSeconds);
          expect(spend(spending.usage, limit, atMs + spending.retryAfterSeconds * 1_000).admitted).toBe(true);
        }
      }),
    );
  });

  test("[RL4] a rate limit of zero admits nothing and opens no window", () => {
    const refused = spend(null, { limit: 0, periodSeconds: 60 }, START);
    expect(refused).toEqual({
      admitted: false,
      usage: { windowStartedAtMs: START, count: 0 },
      retryAfterSeconds: 60,
    });
    expect(spend(refused.usage, THREE_A_MINUTE, START + 30_000).usage).toEqual({
      windowStartedAtMs: START + 30_000,
      count: 1,
    });
    fc.assert(
      fc.property(pauses, fc.integer({ min: 1, max: 90 }), (pausesMs, periodSeconds) => {
        expect(replay(pausesMs, { limit: 0, periodSeconds }).every(({ spending }) => !spending.admitted)).toBe(true);
      }),
    );
  });

  test("[RL5] a changed limit applies from the next request on, in the window that is open", () => {
    const usage: Usage = { windowStartedAtMs: START, count: 3 };
    expect(spend(usage, { limit: 4, periodSeconds: 60 }, START + 1).admitted).toBe(true);
    expect(spend(usage, { limit: 2, periodSeconds: 60 }, START + 1).admitted).toBe(false);
    expect(spend(usage, { limit: 2, periodSeconds: 10 }, START + 10_000).admitted).toBe(true);
  });
});

describe("path of a limit", () => {
  test.each([
    ["tasks", "/tasks"],
    ["/tasks", "/tasks"],
    ["//tasks///7//", "/tasks/7"],
    ["/api/v1/tasks/", "/tasks"],
    ["api/v1/tasks", "/tasks"],
    ["//api//v1//tasks", "/tasks"],
    ["/api/v1/api/v1/tasks", "/tasks"],
    ["/api/v10/tasks", "/api/v10/tasks"],
    ["/tasks/api/v1", "/tasks/api/v1"],
    ["/tasks?page=2#top", "/tasks"],
    ["/tasks/#a?b\nc", "/tasks"],
    ["/api/v1", "/"],
    ["/", "/"],
    ["", "/"],
  ])("[RL6] the path %j of a limit is stored as %j", (path, normalised) => {
    expect(normalisePath(path)).toBe(normalised);
  });

  const anyPath = fc.oneof(
    fc.string(),
    fc.array(fc.constantFrom("/", "//", "api", "v1", "/api/v1", "tasks", "7", "?", "#", "\n")).map((it) => it.join("")),
  );

  test("[RL6] the stored path of a limit has one leading slash and no trailing or repeated slash, base, query or fragment", () => {
    fc.assert(
      fc.property(anyPath, (path) => {
        const normalised = normalisePath(path);
        expect(normalised).toMatch(/^\/(?:[^/?#]+(?:\/[^/?#]+)*)?$/);
        expect(normalised).not.toMatch(/^\/api\/v1(?:\/|$)/);
      }),
    );
  });

  test("[RL7] normalising the path of a limit twice gives the same as once", () => {
    fc.assert(
      fc.property(anyPath, (path) => {
        expect(normalisePath(normalisePath(path))).toBe(normalisePath(path));
      }),
    );
  });
});

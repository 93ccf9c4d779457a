import fc from "fast-check";
import { expect, test } from "vitest";
import { describeOperation, type OperationName } from "./operation.ts";
import { backoff, cutOf, DEFAULT_RETRY, type Failed, mayHaveHappened, retryAfterOf, retryDelay } from "./retry.ts";

const answer = (status: number, retryAfterSeconds: number | null = null, isOfApi = true): Failed => ({
  kind: "answer",
  status,
  retryAfterSeconds,
  isOfApi,
});
const CUT: Failed = { kind: "cut" };
const NOT_SENT: Failed = { kind: "not_sent" };
const isRetried = (failed: Failed, name: OperationName) =>
  retryDelay(failed, describeOperation(name), 1, DEFAULT_RETRY, 0.5) !== null;

test.each<[OperationName, Failed, boolean]>([
  ["getApp", CUT, true],
  ["updateOrg", CUT, true],
  ["deleteApp", CUT, true],
  ["createApp", CUT, true],
  ["refreshAccessToken", CUT, true],
  ["login", CUT, false],
  ["updateApp", CUT, false],
  ["scaleApp", CUT, false],
  ["rotateClusterToken", CUT, false],
  ["startDeviceLogin", CUT, false],
  ["scaleApp", NOT_SENT, true],
  ["updateApp", NOT_SENT, true],
  ["scaleApp", answer(429, 1), true],
  ["scaleApp", answer(503, 1), false],
  ["updateApp", answer(502, null, false), false],
  ["createApp", answer(503, 1), true],
])("[CN7] the operation %s after %j is sent again: %j", (name, failed, isExpected) => {
  expect(isRetried(failed, name)).toBe(isExpected);
});

test.each<[Failed, boolean]>([
  [answer(503, 1), true],
  [answer(503), false],
  [answer(502), false],
  [answer(504), false],
  [answer(502, null, false), true],
  [answer(503, null, false), true],
  [answer(504, null, false), true],
  [answer(429, 1), true],
  [answer(429), false],
  [answer(500), false],
  [answer(500, null, false), false],
  [answer(404), false],
  [answer(409), false],
  [{ kind: "unreadable" }, false],
])("[CN11] a read that ends with %j is sent again: %j", (failed, isExpected) => {
  expect(isRetried(failed, "getApp")).toBe(isExpected);
});

test("[CN9] a wait that the server asks for is observed with some jitter, unless it is too long", () => {
  const delay = (seconds: number) =>
    retryDelay(answer(429, seconds), describeOperation("getApp"), 1, DEFAULT_RETRY, 0.5);
  expect([delay(0), delay(3), delay(30), delay(31)]).toEqual([125, 3125, 30_125, null]);
});

test("[CN10] waits are random within a range that doubles up to a limit, and attempts are counted", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 100 }), fc.double({ min: 0, max: 0.999, noNaN: true }), (attempt, random) => {
      const delay = backoff(attempt, 250, 8_000, random);
      expect(delay).toBeGreaterThanOrEqual(0);
      expect(delay).toBeLessThanOrEqual(Math.min(8_000, 250 * 2 ** (attempt - 1)));
    }),
  );
  const delays = [1, 2, 3, 4].map((attempt) =>
    retryDelay(CUT, describeOperation("getApp"), attempt, DEFAULT_RETRY, 0.5),
  );
  expect(delays).toEqual([125, 250, 500, null]);
});

test.each<[OperationName, Failed, boolean]>([
  ["scaleApp", CUT, true],
  ["scaleApp", { kind: "unreadable" }, true],
  ["scaleApp", answer(503, 1), true],
  ["scaleApp", NOT_SENT, false],
  ["scaleApp", answer(429, 1), false],
  ["scaleApp", answer(409), false],
  ["getApp", CUT, false],
])("[CN14] the operation %s after %j may have been carried out: %j", (name, failed, isExpected) => {
  expect(mayHaveHappened(failed, describeOperation(name))).toBe(isExpected);
});

test("[CN9] Retry-After is read as seconds and as a date", () => {
  const now = Date.UTC(2026, 0, 1);
  const read = (header: string | null) => retryAfterOf(header, now);
  expect([read(null), read(""), read("7"), read("soon"), read("Thu, 01 Jan 2026 00:00:09 GMT")]).toEqual([
    null,
    null,
    7,
    null,
    9,
  ]);
  expect(read("Wed, 31 Dec 2025 00:00:00 GMT")).toBe(0);
});

test("[CN7] only a connection that was never made counts as not sent", () => {
  const kindOf = (code: string) => cutOf(new TypeError("fetch failed", { cause: { code } })).failed.kind;
  expect(["ECONNREFUSED", "ENOTFOUND", "ECONNRESET", "UND_ERR_SOCKET", "EPIPE"].map(kindOf)).toEqual([
    "not_sent",
    "not_sent",
    "cut",
    "cut",
    "cut",
  ]);
  expect(cutOf(new TypeError("Failed to fetch")).failed.kind).toBe("cut");
  expect(cutOf("whatever").failed.kind).toBe("cut");
});

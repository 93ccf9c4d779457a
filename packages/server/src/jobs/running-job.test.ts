import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { keepLease } from "./running-job.runner.ts";

const LEASE_MS = 9_000;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function start(renew: () => Promise<boolean>, claimTookMs = 0) {
  const onLost = vi.fn();
  const onRenewalError = vi.fn();
  const claimSentAtMs = performance.now() - claimTookMs;
  return {
    onLost,
    onRenewalError,
    lease: keepLease({ leaseMs: LEASE_MS, claimSentAtMs, renew, onRenewalError, onLost }),
  };
}

describe("lease", () => {
  test("[JB17] the lease of a job is renewed three times within its length, for as long as the job runs", async () => {
    const renew = vi.fn(async () => true);
    const { onLost, lease } = start(renew);
    await vi.advanceTimersByTimeAsync(10 * LEASE_MS);
    expect(renew).toHaveBeenCalledTimes(30);
    expect(onLost).not.toHaveBeenCalled();
    lease.stop();
    await vi.advanceTimersByTimeAsync(10 * LEASE_MS);
    expect(renew).toHaveBeenCalledTimes(30);
    expect(onLost).not.toHaveBeenCalled();
  });

  test("[JB18] a refused renewal loses the job at once, and only once", async () => {
    const { onLost } = start(async () => false);
    await vi.advanceTimersByTimeAsync(LEASE_MS / 3);
    expect(onLost).toHaveBeenCalledExactlyOnceWith("another worker took it");
    await vi.advanceTimersByTimeAsync(10 * LEASE_MS);
    expect(onLost).toHaveBeenCalledTimes(1);
  });

  test.each([
    ["fails", () => Promise.reject(new Error("no database"))],
    ["hangs", () => new Promise<boolean>(() => undefined)],
  ])("[JB18] a job is lost when every renewal %s for the length of a lease from the claim", async (_, renew) => {
    const { onLost } = start(renew, 1_000);
    await vi.advanceTimersByTimeAsync(LEASE_MS - 1_001);
    expect(onLost).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(1);
    expect(onLost).toHaveBeenCalledExactlyOnceWith("its lease could not be renewed in time");
  });

  test("[JB18] one successful renewal prolongs the lease, counted from when the renewal was sent", async () => {
    const slow = () => new Promise<boolean>((resolve) => setTimeout(resolve, 2_000, true));
    const renew = vi
      .fn<() => Promise<boolean>>()
      .mockImplementationOnce(slow)
      .mockRejectedValue(new Error("no database"));
    const { onLost, onRenewalError } = start(renew);
    await vi.advanceTimersByTimeAsync(LEASE_MS / 3 + LEASE_MS - 1);
    expect(onLost).not.toHaveBeenCalled();
    expect(onRenewalError).toHaveBeenCalledTimes(2);
    await vi.advanceTimersByTimeAsync(1);
    expect(onLost).toHaveBeenCalledTimes(1);
  });
});

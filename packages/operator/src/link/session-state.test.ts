import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { realClock } from "../kube/real-clock.adapter.ts";
import { MemoryStore } from "./memory-store.fixture.ts";
import { createSessionState } from "./session-state.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const log = { debug: vi.fn(), info: vi.fn(), warn: vi.fn(), error: vi.fn() };

async function keeping(store = new MemoryStore()) {
  const operator = createSessionState(store, { clock: realClock, log });
  await operator.known();
  return { store, operator };
}

test("[OL23] frequent changes are written at most every five seconds, and known at once", async () => {
  const { store, operator } = await keeping();
  for (let revision = 1; revision <= 100; revision += 1) {
    operator.note({ revision });
    await vi.advanceTimersByTimeAsync(100);
  }
  expect(await operator.known()).toMatchObject({ revision: 100 });
  expect(store.remembered).toHaveLength(2);
  await vi.advanceTimersByTimeAsync(5_000);
  expect(store.kept.revision).toBe(100);
});

test("[OL23] a revision never falls, and the same again is not written", async () => {
  const { store, operator } = await keeping();
  operator.note({ revision: 7 });
  operator.note({ revision: 5, settings: { drift_policy: "heal" } });
  await operator.flush();
  expect(store.remembered).toEqual([{ revision: 7 }]);
  operator.note({ revision: 7 });
  await operator.flush();
  expect(store.remembered).toHaveLength(1);
});

test("[OL23] changed settings are written with the revision", async () => {
  const { store, operator } = await keeping();
  operator.note({ settings: { drift_policy: "report" } });
  operator.note({ revision: 1 });
  await vi.advanceTimersByTimeAsync(5_000);
  expect(store.remembered).toEqual([{ settings: { drift_policy: "report" }, revision: 1 }]);
});

test("[OL23] a state that could not be written is tried again, without overwriting what came since", async () => {
  const { store, operator } = await keeping();
  vi.spyOn(store, "remember").mockRejectedValueOnce(new Error("away"));
  operator.note({ revision: 3 });
  await vi.advanceTimersByTimeAsync(5_000);
  operator.note({ revision: 4 });
  await vi.advanceTimersByTimeAsync(5_000);
  expect(store.kept.revision).toBe(4);
  expect(log.warn).toHaveBeenCalledOnce();
});

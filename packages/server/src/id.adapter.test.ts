import { afterEach, expect, test, vi } from "vitest";
import { newId } from "./id.adapter.ts";

afterEach(() => vi.useRealTimers());

const sorted = (ids: readonly string[]) => [...ids].sort();

test("[CV30] ids grow, also within a millisecond, and are unique", () => {
  vi.useFakeTimers({ now: Date.now() + 1_000 });
  const ids = Array.from({ length: 10_000 }, newId);
  expect(ids).toEqual(sorted(ids));
  expect(new Set(ids).size).toBe(ids.length);
});

test("[CV30] ids go on growing while a clock that was set back catches up", () => {
  vi.useFakeTimers({ now: Date.now() + 5_000 });
  const before = newId();
  vi.setSystemTime(Date.now() - 60_000);
  const ids = [before, newId(), newId()];
  expect(ids).toEqual(sorted(ids));
});

import { type FreshDatabase, freshDatabase } from "@binnacle/world/database";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { createDatabaseClock } from "./database-clock.store.ts";

let fresh: FreshDatabase;
beforeAll(async () => {
  fresh = await freshDatabase();
});
afterAll(() => fresh.drop());

const MINUTES_MS = 60_000;

test.each([
  ["10 minutes ahead of", 10],
  ["10 minutes behind", -10],
])("[HA7] a process whose clock is %s that of the database follows the database and says so", async (_, minutes) => {
  const log = { debug: vi.fn(), info: vi.fn(), warn: vi.fn(), error: vi.fn() };
  const clock = createDatabaseClock(log, () => Date.now() + minutes * MINUTES_MS);
  await clock.start(fresh.database.kysely);
  clock.stop();
  expect(Math.abs(clock.now().getTime() - Date.now())).toBeLessThan(5_000);
  const way = minutes > 0 ? "ahead of" : "behind";
  expect(log.warn).toHaveBeenCalledWith(
    expect.any(Object),
    expect.stringContaining(`600 seconds ${way} that of the database`),
  );
});

test("[HA7] a clock that agrees with that of the database is left as it is", async () => {
  const log = { debug: vi.fn(), info: vi.fn(), warn: vi.fn(), error: vi.fn() };
  const at = Date.now() + 500;
  const clock = createDatabaseClock(log, () => at);
  await clock.start(fresh.database.kysely);
  clock.stop();
  expect([clock.now().getTime(), log.warn.mock.calls]).toEqual([at, []]);
});

test("[HA7] a clock that is set while the process runs changes nothing until it is compared again, and is followed then", async () => {
  const log = { debug: vi.fn(), info: vi.fn(), warn: vi.fn(), error: vi.fn() };
  let setByMs = 0;
  let passedMs = 0;
  const startedAt = Date.now();
  const clock = createDatabaseClock(
    log,
    () => startedAt + passedMs + setByMs,
    () => passedMs,
  );
  await clock.start(fresh.database.kysely);
  clock.stop();
  passedMs = 10_000;
  setByMs = 60 * MINUTES_MS;
  expect(clock.now().getTime() - startedAt).toBe(10_000);
  setByMs = -60 * MINUTES_MS;
  expect(clock.now().getTime() - startedAt).toBe(10_000);
  await clock.start(fresh.database.kysely);
  clock.stop();
  expect(log.warn).toHaveBeenCalledTimes(1);
  expect(Math.abs(clock.now().getTime() - Date.now())).toBeLessThan(5_000);
});

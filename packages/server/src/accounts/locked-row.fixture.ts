import type { World } from "@binnacle/world";
import { expect, onTestFinished } from "vitest";

const WAITING = "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";

/** A row that the test holds, as another request would, until it has done something to it. */
export interface HeldRow {
  /** Resolves once a statement of the control plane is held up. */
  waitedFor(): Promise<void>;
  /** Does it and lets go. */
  release(statement: string): Promise<void>;
}

/** Both statements name the row as `$1`. */
export async function hold({ database }: World, select: string, key: string): Promise<HeldRow> {
  const holder = await database.pool.connect();
  onTestFinished(() => holder.release(true));
  await holder.query("begin");
  await holder.query(`${select} for update`, [key]);
  return {
    async waitedFor() {
      await expect
        .poll(async () => (await database.pool.query(WAITING)).rowCount, { timeout: 10_000 })
        .toBeGreaterThan(0);
    },
    async release(statement) {
      await holder.query(statement, [key]);
      await holder.query("commit");
    },
  };
}

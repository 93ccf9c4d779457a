import { randomFillSync } from "node:crypto";
import { v7 } from "uuid";

const BYTES_PER_ID = 16;

/** Randomness is drawn for many ids at once: a call for each costs more than all the rest of it. */
const pool = new Uint8Array(256 * BYTES_PER_ID);
let used = pool.length;

/** Ids grow with time, so ordering by id is ordering by creation, finer than any clock column. */
export function newId(): string {
  if (used === pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  used += BYTES_PER_ID;
  return v7({ random: pool.subarray(used - BYTES_PER_ID, used) });
}

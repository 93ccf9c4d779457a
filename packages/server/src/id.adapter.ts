import { randomFillSync } from "node:crypto";
import { v7 } from "uuid";

const BYTES_PER_ID = 16;

/** Randomness is drawn for many ids at once: a call for each costs more than all the rest of it. */
const pool = Buffer.alloc(256 * BYTES_PER_ID);
let used = pool.length;

let msecs = 0;
let seq = 0;

/**
 * Ids grow with time, so ordering by id is ordering by creation, finer than any clock column: within a millisecond, and
 * while a clock that was set back catches up, the sequence number counts on.
 */
export function newId(): string {
  if (used === pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  const random = pool.subarray(used, used + BYTES_PER_ID);
  used += BYTES_PER_ID;

  const now = Date.now();
  if (now > msecs) {
    msecs = now;
    // Half of the numbers stay free to be counted through.
    seq = random.readUInt32BE(6) >>> 1;
  } else {
    seq += 1;
  }
  return v7({ msecs, seq, random });
}

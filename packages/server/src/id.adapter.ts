import { randomBytes, randomFillSync } from "node:crypto";
import { v7 } from "uuid";

const BYTES_PER_ID = 16;

/** Random bytes are drawn for many ids at once, because a call for each would cost more than the rest. */
const pool = Buffer.alloc(256 * BYTES_PER_ID);
let used = pool.length;

let msecs = 0;
let seq = 0;

/**
 * Ids grow with time, so ordering by id is ordering by creation. Within a millisecond, and while a clock that was set
 * back catches up, the sequence number is incremented.
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
    // Half of the range stays free for increments.
    seq = random.readUInt32BE(6) >>> 1;
  } else {
    seq += 1;
  }
  return v7({ msecs, seq, random });
}

const SECRET_BYTES = 24;

/** A generated password. Hexadecimal digits need no quoting in a password, a URL or a shell. */
export const newSecret = (): string => randomBytes(SECRET_BYTES).toString("hex");

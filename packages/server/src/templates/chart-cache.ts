import { createHash } from "node:crypto";
import { ChartInspection } from "@binnacle/contract";
import Type from "typebox";
import { Check } from "typebox/value";

/** What was read of a chart, and when, in milliseconds. */
export interface SharedChart {
  readonly at: number;
  readonly inspection: ChartInspection;
}

/** All organizations together take no more room than these slots: a chart replaces the one that has the same. */
const SLOTS = 128;
const MOST_CHARACTERS = 512 * 1024;

const Shared = Type.Object({ digest: Type.String(), at: Type.Integer(), inspection: ChartInspection });

/** The key names the credentials that the chart was read with, and is stored as a digest: others have the Redis too. */
const digestOf = (key: string): string => createHash("sha256").update(key).digest("hex");

export const slotOf = (key: string): string => `chart:${Number.parseInt(digestOf(key).slice(0, 8), 16) % SLOTS}`;

/** Returns null for a chart that is too large to be shared. */
export function writtenKept(key: string, { at, inspection }: SharedChart): string | null {
  const text = JSON.stringify({ digest: digestOf(key), at, inspection });
  return text.length > MOST_CHARACTERS ? null : text;
}

/** Returns null for anything but the chart of this key: a slot may hold another one, or something that another version wrote. */
export function readKept(text: string | null, key: string): SharedChart | null {
  if (text === null) return null;
  try {
    const value: unknown = JSON.parse(text);
    return Check(Shared, value) && value.digest === digestOf(key) ? value : null;
  } catch {
    return null;
  }
}

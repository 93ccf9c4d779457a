import { LINK_LIMITS, type OperatorFrames } from "@binnacle/contract";
import type { PendingRow } from "../dispatch/kind.ts";

/** Something that was sent and not yet confirmed on record. */
export interface InFlight {
  readonly row: PendingRow;
  readonly frameId: string;
  /** Null for a removal. */
  readonly hash: string | null;
  readonly sentAtMs: number;
  /** Confirmed by the operator; it leaves once the database knows. */
  readonly isAcked: boolean;
  /** Nothing was heard of it for too long. */
  readonly isDue: boolean;
}

/** `sweep`: not before the next look at everything. `change`: not before there is something else to say. */
interface Hold {
  readonly row: PendingRow;
  readonly until: "sweep" | "change";
}

const LONGEST_STEP = 1_000_000;

/** What the cluster of a session has been told and has still to be told. Its maps are made when they are needed. */
export class Delivery {
  #inFlight: Map<string, InFlight> | null = null;
  #holds: Map<string, Hold> | null = null;
  #first: PendingRow[] | null = null;
  #stale: Map<string, number> | null = null;

  get isIdle(): boolean {
    return (this.#inFlight?.size ?? 0) === 0 && (this.#first?.length ?? 0) === 0;
  }

  get room(): number {
    return LINK_LIMITS.inFlight - (this.#inFlight?.size ?? 0);
  }

  /** How many rows have to be read to find enough that can be sent, whatever stands before them. */
  get depth(): number {
    return LINK_LIMITS.inFlight + (this.#inFlight?.size ?? 0) + (this.#holds?.size ?? 0);
  }

  /** Told before anything else: what is not among the untold rows. */
  tellFirst(rows: readonly PendingRow[]): void {
    if (rows.length > 0) this.#first = [...(this.#first ?? []), ...rows];
  }

  /** Which may be sent now: one at a time of each key, and not too many of all. */
  choose(untold: readonly PendingRow[]): PendingRow[] {
    const chosen = new Map<string, PendingRow>();
    let room = this.room;
    for (const row of [...(this.#first ?? []), ...untold]) {
      const before = this.#inFlight?.get(row.key);
      const isAgain = before?.isDue === true && before.row.resource_id === row.resource_id;
      if (chosen.has(row.key) || (before && !isAgain) || this.#isHeld(row)) continue;
      if (!isAgain && room-- <= 0) break;
      chosen.set(row.key, row);
    }
    return [...chosen.values()];
  }

  /** The id to send it under: the same content goes under the same id again, so that a late answer still counts. */
  frameIdFor(row: PendingRow, hash: string | null, fresh: () => string): string {
    const before = this.#inFlight?.get(row.key);
    const isSame = before?.hash === hash && before.row.generation === row.generation;
    return before && isSame ? before.frameId : fresh();
  }

  sent(row: PendingRow, frameId: string, hash: string | null, nowMs: number): void {
    const place = this.#first?.indexOf(row) ?? -1;
    if (place >= 0) this.#first?.splice(place, 1);
    this.#inFlight ??= new Map();
    this.#inFlight.set(row.key, { row, frameId, hash, sentAtMs: nowMs, isAcked: false, isDue: false });
  }

  /** What the answer is about; null for one that is not expected: a second one, or one about something else. */
  answered({ ref, key }: Pick<OperatorFrames["ack"], "ref" | "key">): InFlight | null {
    const entry = this.#inFlight?.get(key);
    return entry && !entry.isAcked && entry.frameId === ref ? entry : null;
  }

  acked(entry: InFlight): void {
    this.#inFlight?.set(entry.row.key, { ...entry, isAcked: true, isDue: false });
  }

  /** On record, or given up: the key is free for what comes next. */
  settle(row: PendingRow): void {
    const entry = this.#inFlight?.get(row.key);
    if (entry?.row === row) this.#inFlight?.delete(row.key);
  }

  /** How far to go above a generation that the cluster calls stale: it does not say by how much, so ever further. */
  stepAbove({ key }: PendingRow): number {
    this.#stale ??= new Map();
    const step = Math.min(2 * (this.#stale.get(key) ?? 0.5), LONGEST_STEP);
    this.#stale.set(key, step);
    return step;
  }

  hold(row: PendingRow, until: Hold["until"]): void {
    this.settle(row);
    this.#holds ??= new Map();
    this.#holds.set(row.key, { row, until });
  }

  /** True where nothing of these has to be waited for: an operator that refuses a row for good has been told it. */
  isTold(untold: readonly PendingRow[]): boolean {
    return this.isIdle && untold.every((row) => this.#isHeld(row) && this.#holds?.get(row.key)?.until === "change");
  }

  /** A new look at everything: true where there is something to try again. */
  sweep(nowMs: number): boolean {
    let isWorthwhile = (this.#first?.length ?? 0) > 0;
    for (const [key, { until }] of this.#holds ?? []) {
      if (until !== "sweep") continue;
      this.#holds?.delete(key);
      isWorthwhile = true;
    }
    for (const [key, entry] of this.#inFlight ?? []) {
      if (entry.isAcked || nowMs - entry.sentAtMs < LINK_LIMITS.ackWithinMs) continue;
      this.#inFlight?.set(key, { ...entry, isDue: true });
      isWorthwhile = true;
    }
    return isWorthwhile;
  }

  #isHeld(row: PendingRow): boolean {
    const hold = this.#holds?.get(row.key);
    return hold?.row.resource_id === row.resource_id && hold.row.generation === row.generation;
  }
}

import { createHash } from "node:crypto";
import {
  canonicalJson,
  type DesiredBodies,
  type DesiredKind,
  type HubFrames,
  LINK_LIMITS,
  type OperatorFrames,
} from "@binnacle/contract";
import type { Span } from "@binnacle/tracing";
import type { PendingRow } from "../dispatch/kind.ts";

/** A row that was sent and whose confirmation is not stored yet. */
export interface InFlight {
  readonly row: PendingRow;
  readonly frameId: string;
  /** Null for a removal. */
  readonly hash: string | null;
  readonly sentAtMs: number;
  /** The operator has confirmed it; the entry leaves once that is stored. */
  readonly isAcked: boolean;
  /** It was not answered in time and is to be sent again. */
  readonly isDue: boolean;
  /** The span of this delivery, where tracing is on. It ends with the answer. */
  readonly span: Span | null;
}

/** A row that is not sent before the next `sweep`, or before a `change` of the resource. */
interface Hold {
  readonly row: PendingRow;
  readonly until: "sweep" | "change";
}

const LONGEST_STEP = 1_000_000;

/** Tracks what is in flight to the cluster of one session. Its maps are created when they are needed. */
export class Delivery {
  #inFlight: Map<string, InFlight> | null = null;
  #holds: Map<string, Hold> | null = null;
  #first: PendingRow[] | null = null;
  #stale: Map<string, number> | null = null;

  get isIdle(): boolean {
    return (this.#inFlight?.size ?? 0) === 0 && (this.#first?.length ?? 0) === 0;
  }

  /** How many more frames may be in flight. */
  get capacity(): number {
    return LINK_LIMITS.inFlight - (this.#inFlight?.size ?? 0);
  }

  /** How many rows have to be read to find enough that can be sent, behind those that cannot. */
  get readLimit(): number {
    return LINK_LIMITS.inFlight + (this.#inFlight?.size ?? 0) + (this.#holds?.size ?? 0);
  }

  /** Sends rows before all others: they are not found among the pending rows. */
  sendFirst(rows: readonly PendingRow[]): void {
    if (rows.length > 0) this.#first = [...(this.#first ?? []), ...rows];
  }

  /** Chooses the rows that may be sent now: one per key, within the capacity. */
  choose(pending: readonly PendingRow[]): PendingRow[] {
    const chosen = new Map<string, PendingRow>();
    let capacity = this.capacity;
    for (const row of [...(this.#first ?? []), ...pending]) {
      const before = this.#inFlight?.get(row.key);
      const isAgain = before?.isDue === true && before.row.resource_id === row.resource_id;
      if (chosen.has(row.key) || (before && !isAgain) || this.#isHeld(row)) continue;
      if (!isAgain && capacity-- <= 0) break;
      chosen.set(row.key, row);
    }
    return [...chosen.values()];
  }

  /** The same content is sent again under the same frame id, so that a late answer still counts. */
  frameIdFor(row: PendingRow, hash: string | null, fresh: () => string): string {
    const before = this.#inFlight?.get(row.key);
    const isSame = before?.hash === hash && before.row.generation === row.generation;
    return before && isSame ? before.frameId : fresh();
  }

  /** The same generation is delivered within one span, however often it is sent. */
  spanFor(row: PendingRow, start: () => Span | null): Span | null {
    const before = this.#inFlight?.get(row.key);
    const isSame = before?.row.generation === row.generation && before.row.resource_id === row.resource_id;
    if (before && !isSame) before.span?.end("The resource has changed meanwhile.");
    return isSame && before?.span ? before.span : start();
  }

  sent(row: PendingRow, frameId: string, hash: string | null, nowMs: number, span: Span | null = null): void {
    const place = this.#first?.indexOf(row) ?? -1;
    if (place >= 0) this.#first?.splice(place, 1);
    this.#inFlight ??= new Map();
    this.#inFlight.set(row.key, { row, frameId, hash, sentAtMs: nowMs, isAcked: false, isDue: false, span });
  }

  /** The entry that an answer is about. Null for a second answer, or one about something that was not sent. */
  answered({ ref, key }: Pick<OperatorFrames["ack"], "ref" | "key">): InFlight | null {
    const entry = this.#inFlight?.get(key);
    return entry && !entry.isAcked && entry.frameId === ref ? entry : null;
  }

  acked(entry: InFlight): void {
    this.#inFlight?.set(entry.row.key, { ...entry, isAcked: true, isDue: false });
  }

  /** The session has ended: nothing more is answered. */
  ended(): void {
    for (const { isAcked, span } of this.#inFlight?.values() ?? []) {
      if (!isAcked) span?.end("The session of the operator has ended.");
    }
  }

  /** Frees the key for the next row, once the confirmation is stored or the row is held. */
  settle(row: PendingRow): void {
    const entry = this.#inFlight?.get(row.key);
    if (entry?.row === row) this.#inFlight?.delete(row.key);
  }

  /** The step above a stale generation. A cluster does not say by how much it is ahead, so the step doubles each time. */
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

  /** True where no pending row has to be waited for. A row that was permanently refused counts as delivered. */
  isDelivered(pending: readonly PendingRow[]): boolean {
    return this.isIdle && pending.every((row) => this.#isHeld(row) && this.#holds?.get(row.key)?.until === "change");
  }

  /** Releases what was held until the sweep and marks what was not answered in time. True where there is something to send. */
  sweep(nowMs: number): boolean {
    let hasWork = (this.#first?.length ?? 0) > 0;
    for (const [key, { until }] of this.#holds ?? []) {
      if (until !== "sweep") continue;
      this.#holds?.delete(key);
      hasWork = true;
    }
    for (const [key, entry] of this.#inFlight ?? []) {
      if (entry.isAcked || nowMs - entry.sentAtMs < LINK_LIMITS.ackWithinMs) continue;
      this.#inFlight?.set(key, { ...entry, isDue: true });
      hasWork = true;
    }
    return hasWork;
  }

  #isHeld(row: PendingRow): boolean {
    const hold = this.#holds?.get(row.key);
    return hold?.row.resource_id === row.resource_id && hold.row.generation === row.generation;
  }
}

/** A body as it is sent, and the hash under which the cluster keeps it. */
export interface Content {
  readonly text: string;
  readonly hash: string;
}

export function contentOf(body: DesiredBodies[DesiredKind]): Content {
  const text = canonicalJson(body);
  return { text, hash: createHash("sha256").update(text).digest("hex") };
}

/** Tells the operator which trace it continues. It is not part of the content, so it never causes a resource to be sent. */
type Trace = Pick<HubFrames["remove"], "traceparent">;
const NO_TRACE: Trace = {};

/** The frame is assembled from text, so that the body is serialized once, for the hash and for the wire. */
export function applyText(
  row: PendingRow,
  content: Content,
  id: string,
  session: string,
  trace: Trace = NO_TRACE,
): string {
  const { kind, key, resource_id, generation } = row;
  const { hash } = content;
  const head: Omit<HubFrames["apply"], "body"> = {
    type: "apply",
    id,
    session,
    kind,
    key,
    resource_id,
    generation,
    hash,
    ...trace,
  };
  return `${JSON.stringify(head).slice(0, -1)},"body":${content.text}}`;
}

export function removeText(row: PendingRow, id: string, session: string, trace: Trace = NO_TRACE): string {
  const { kind, key, resource_id, generation } = row;
  const frame: HubFrames["remove"] = { type: "remove", id, session, kind, key, resource_id, generation, ...trace };
  return JSON.stringify(frame);
}

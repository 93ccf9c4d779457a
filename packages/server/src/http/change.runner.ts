import { createHash } from "node:crypto";
import type { Span } from "@binnacle/tracing";
import { ACCESS_TOPIC, type AccessChange, type AccessUnit } from "../access/access-change.ts";
import { appendAudit } from "../audit/audit.store.ts";
import { type Actor, type AuditRow, auditRow, type ChangeRecord, type Place } from "../audit/audit.ts";
import type { Bus } from "../bus/bus.ts";
import type { Clock } from "../clock.ts";
import { inTransaction, isForeignKeyViolation, type Queries } from "../database/transaction.ts";
import { dispatchResources, type FindResources } from "../dispatch/dispatch.store.ts";
import { DISPATCH_TOPIC, type DispatchedResource } from "../dispatch/dispatch.ts";
import { type Announcement, activityOf, EVENTS_TOPIC } from "../events/event.ts";
import { unauthenticated } from "../fault.ts";
import { newId } from "../id.adapter.ts";
import type { Vault } from "../vault/vault.ts";
import { claimKey, type IdempotencyKey, storeAnswer } from "./idempotency.store.ts";

/** The unit of work of a change: its transaction, its audit entry and its announcements. */
export interface Unit extends AccessUnit {
  /** Puts the change on record; the entry commits with it or not at all. */
  record(entry: ChangeRecord): void;
  /** Says that there was nothing left to change, so that there is nothing to put on record. */
  unchanged(): void;
  /** Runs once the change has been committed: for hints, never for anything that must not be lost. */
  afterCommit(effect: () => void): void;
  /** Tells the subscribers of the event stream, once the change has been committed. */
  announce(announcement: Announcement): void;
  /**
   * Raises the generation of resources of one cluster, and hints to the hub once the change has been committed. It is the
   * last write of a change, because it locks the row of the cluster.
   */
  dispatch(clusterId: string, resources: readonly DispatchedResource[] | FindResources): Promise<void>;
}

export type Change = <T>(work: (unit: Unit) => Promise<T>) => Promise<T>;

export interface ChangeContext {
  readonly actor: Actor;
  readonly sourceAddress: string;
  readonly requestId: string;
  /** The cluster or project that the request is about, if there is one. */
  readonly place?: Place | null;
  readonly idempotency: IdempotencyKey | null;
  /** The request goes on for long, and its begin and its end are changes of their own. */
  readonly isLasting?: boolean;
  /** The span of the request, where tracing is on. */
  readonly span?: Span | null | undefined;
}

interface Ports {
  readonly db: Queries;
  readonly vault: Vault;
  readonly clock: Clock;
  readonly bus: Bus;
}

/** One change for each request: a second one would find the request's own Idempotency-Key taken. */
export function changeFor({ db, vault, clock, bus }: Ports, context: ChangeContext): Change {
  let isMade = false;
  return async (work) => {
    if (isMade && !context.isLasting) throw new Error("A request makes one change.");
    isMade = true;
    let effects: (() => void)[] = [];
    const span = context.span?.child("transaction") ?? null;
    const result = await inTransaction(db, async (tx) => {
      const records: ChangeRecord[] = [];
      let isUnchanged = false;
      const accessChanges: AccessChange[] = [];
      effects = [];
      const answered = context.idempotency && (await claimKey(tx, vault, context.idempotency, clock()));
      if (answered) return answered.answer as Awaited<ReturnType<typeof work>>;
      const answer = await work({
        db: tx,
        record: (entry) => records.push(entry),
        unchanged: () => {
          isUnchanged = true;
        },
        accessChanged: (change) => accessChanges.push(change),
        afterCommit: (effect) => effects.push(effect),
        announce: (announcement) =>
          effects.push(() => bus.publish(EVENTS_TOPIC, { id: newId(), time: clock().toISOString(), ...announcement })),
        async dispatch(clusterId, resources) {
          await dispatchResources(tx, clusterId, resources, clock(), span?.traceparent);
          effects.push(() => bus.publish(DISPATCH_TOPIC, { cluster_id: clusterId }));
        },
      });
      if (records.length === 0 && !isUnchanged) throw new Error("A change was made that leaves no audit entry.");
      const entries = records.map((record): [AuditRow, Place | null] => [
        auditRow(record, context, newId(), clock()),
        record.place ?? context.place ?? null,
      ]);
      if (entries.length > 0) {
        await appendAudit(
          tx,
          entries.map(([row]) => row),
        );
      }
      // First of all: whoever loses access by the change has lost it when the rest is announced.
      effects.unshift(
        ...accessChanges.map((change) => () => bus.publish(ACCESS_TOPIC, change)),
        ...entries.map((entry) => () => bus.publish(EVENTS_TOPIC, activityOf(...entry))),
      );
      if (context.idempotency) await storeAnswer(tx, vault, context.idempotency, answer);
      return answer;
    }).catch((error: unknown) => {
      span?.end("The transaction was rolled back.");
      return rethrowCallerGone(error);
    });
    span?.end();
    for (const effect of effects) effect();
    return result;
  };
}

/** The foreign keys of rows that a change writes for the caller. */
const OF_THE_CALLER = [
  "cli_tokens_user_id_fkey",
  "device_logins_user_id_fkey",
  "idempotency_keys_user_id_fkey",
  "rate_usage_user_id_fkey",
];

/** A caller who is deleted while the change is under way is refused as one who was deleted before. */
function rethrowCallerGone(error: unknown): never {
  if (OF_THE_CALLER.some((constraint) => isForeignKeyViolation(error, constraint))) throw unauthenticated();
  throw error;
}

/** Tells two requests under one key apart: the same key with another body is somebody's mistake. */
export function fingerprintOf(operationId: string, ...parts: readonly unknown[]): string {
  return createHash("sha256")
    .update(JSON.stringify([operationId, ...parts]))
    .digest("base64");
}

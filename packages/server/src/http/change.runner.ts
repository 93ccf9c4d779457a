import { createHash } from "node:crypto";
import type { Span } from "@binnacle/tracing";
import { ACCESS_TOPIC, type AccessChange, type AccessUnit } from "../access/access-change.ts";
import type { Location } from "../access/place.ts";
import { auditStatements } from "../audit/audit.store.ts";
import { type Actor, type AuditRow, auditRow, type ChangeRecord } from "../audit/audit.ts";
import type { Bus } from "../bus/bus.ts";
import type { Clock } from "../clock.ts";
import { type Bound, runTogether } from "../database/prepared.adapter.ts";
import { inTransaction, isForeignKeyViolation, type Queries } from "../database/transaction.ts";
import { dispatchResources, type FindResources } from "../dispatch/dispatch.store.ts";
import { DISPATCH_TOPIC, type DispatchedResource } from "../dispatch/dispatch.ts";
import type { DispatchCause, DispatchWatch } from "../dispatch/dispatch-watch.ts";
import { type Announcement, activityOf, type Event, eventOf, publishEvents } from "../events/event.ts";
import { logStatements } from "../events/event-log.store.ts";
import { unauthenticated } from "../fault.ts";
import { newId } from "../id.adapter.ts";
import { JOBS_TOPIC } from "../jobs/job.ts";
import type { Vault } from "../vault/vault.ts";
import { answerStatement, claimKey, type IdempotencyKey } from "./idempotency.store.ts";

/** The unit of work of a change: its transaction, its audit entry and its announcements. */
export interface Unit extends AccessUnit {
  /** Puts the change on record; the entry commits with it or not at all. */
  record(entry: ChangeRecord): void;
  /** Sends a statement with those that end the change, in one round trip: for rows that nothing in the change reads or refers to. */
  write(statement: Bound): void;
  /** Says that there was nothing left to change, so that there is nothing to put on record. */
  unchanged(): void;
  /** Runs once the change has been committed: for hints, never for anything that must not be lost. */
  afterCommit(effect: () => void): void;
  /** Tells the subscribers of the event stream, once the change has been committed. */
  announce(announcement: Announcement): void;
  /**
   * Raises the generation of resources of one cluster as the last write of the change, because that locks the row of the
   * cluster, and hints to the hub once the change has been committed.
   */
  dispatch(clusterId: string, resources: readonly DispatchedResource[] | FindResources): void;
}

export type Change = <T>(work: (unit: Unit) => Promise<T>) => Promise<T>;

export interface ChangeContext {
  readonly actor: Actor;
  readonly sourceAddress: string;
  readonly requestId: string;
  /** The cluster or project that the request is about, if there is one. */
  readonly place?: Location | null;
  readonly idempotency: IdempotencyKey | null;
  /** The request goes on for long, and its begin and its end are changes of their own. */
  readonly isLasting?: boolean;
  /** The work is done as in the change itself and then rolled back: nothing of it is kept, dispatched or told to anybody. */
  readonly isDryRun?: boolean;
  /** The span of the request, where tracing is on. */
  readonly span?: Span | null | undefined;
}

interface Ports {
  readonly db: Queries;
  readonly vault: Vault;
  readonly clock: Clock;
  readonly bus: Bus;
  readonly dispatchWatch: DispatchWatch;
}

/** Carries the answer of a dry run out of its transaction, which it rolls back. */
class RolledBack extends Error {
  readonly answer: unknown;

  constructor(answer: unknown) {
    super("A dry run is rolled back.");
    this.answer = answer;
  }
}

/** One change for each request: a second one would find the request's own Idempotency-Key taken. */
export function changeFor({ db, vault, clock, bus, dispatchWatch }: Ports, context: ChangeContext): Change {
  let isMade = false;
  return async (work) => {
    if (isMade && !context.isLasting) throw new Error("A request makes one change.");
    isMade = true;
    let effects: (() => void)[] = [];
    const span = context.span?.child("transaction") ?? null;
    const result = await inTransaction(db, async (tx) => {
      const records: ChangeRecord[] = [];
      const writes: Bound[] = [];
      let isUnchanged = false;
      const accessChanges: AccessChange[] = [];
      const announced: Event[] = [];
      const dispatches: [clusterId: string, resources: readonly DispatchedResource[] | FindResources][] = [];
      effects = [];
      const answered = context.idempotency && (await claimKey(tx, vault, context.idempotency, clock()));
      if (answered) return answered.answer as Awaited<ReturnType<typeof work>>;
      const answer = await work({
        db: tx,
        record: (entry) => records.push(entry),
        write: (statement) => writes.push(statement),
        unchanged: () => {
          isUnchanged = true;
        },
        accessChanged: (change) => accessChanges.push(change),
        afterCommit: (effect) => effects.push(effect),
        announce: (announcement) => announced.push(eventOf(announcement, newId(), clock())),
        dispatch(clusterId, resources) {
          dispatches.push([clusterId, resources]);
          effects.push(() => bus.publish(DISPATCH_TOPIC, { cluster_id: clusterId }));
        },
      });
      if (records.length === 0 && !isUnchanged) throw new Error("A change was made that leaves no audit entry.");
      // Before the row of the cluster is locked: what follows records and announces the change, and can refuse nothing that stays.
      if (context.isDryRun) throw new RolledBack(answer);
      const entries = records.map((record): [AuditRow, Location | null] => [
        auditRow(record, context, newId(), clock()),
        record.place ?? context.place ?? null,
      ]);
      const events = [...entries.map((entry) => activityOf(...entry)), ...announced];
      const ending = [...auditStatements(entries.map(([row]) => row)), ...logStatements(events, accessChanges)];
      if (context.idempotency) writes.push(answerStatement(vault, context.idempotency, answer));
      let around = { before: writes, after: ending };
      const cause = causeOf(context, entries[0]?.[0], clock());
      for (const [clusterId, resources] of dispatches) {
        const question = dispatchWatch.ask(clusterId);
        const dispatched = await dispatchResources(tx, clusterId, resources, clock(), span?.traceparent, {
          ...around,
          question,
        });
        around = { before: [], after: [] };
        const isWoken = await dispatchWatch.follow(tx, clusterId, dispatched.resources, dispatched.answer, cause);
        if (isWoken) effects.push(() => bus.publish(JOBS_TOPIC, {}));
      }
      const left = [...around.before, ...around.after];
      if (left.length > 0) await runTogether(tx, left);
      // First of all: whoever loses access by the change has lost it when the rest is announced.
      effects.unshift(...accessChanges.map((change) => () => bus.publish(ACCESS_TOPIC, change)), () =>
        publishEvents(bus, events),
      );
      return answer;
    }).catch((error: unknown) => {
      if (error instanceof RolledBack) {
        effects = [];
        return error.answer as Awaited<ReturnType<typeof work>>;
      }
      span?.end("The transaction was rolled back.");
      return rethrowCallerGone(error);
    });
    span?.end();
    for (const effect of effects) effect();
    return result;
  };
}

const causeOf = ({ actor, requestId }: ChangeContext, entry: AuditRow | undefined, at: Date): DispatchCause => ({
  at,
  auditId: entry?.id ?? null,
  summary: [entry?.action, entry?.resource_name].filter(Boolean).join(" ") || "change",
  actorId: actor.id,
  requestId,
});

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

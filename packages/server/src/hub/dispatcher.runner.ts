import { type DesiredBodies, type DesiredKind, LINK_LIMITS } from "@binnacle/contract";
import type { Span, Tracer } from "@binnacle/tracing";
import type { Queries } from "../database/transaction.ts";
import type { PendingRow } from "../dispatch/kind.ts";
import { Fault } from "../fault.ts";
import { newId } from "../id.adapter.ts";
import { type Log, pauseMsAfter, watchOutage } from "../outage.ts";
import { applyText, type Content, contentOf, type InFlight, removeText } from "./delivery.ts";
import { findPending, type PendingRows, storeConfirmations } from "./desired-rows.store.ts";
import type { BodySource } from "./ports.ts";
import type { Session } from "./session.ts";

/** Hints that come within this time share a round. */
const COALESCE_MS = 5;
/** Rounds are short, so that a cluster with few changes does not wait for those with many. */
const CLUSTERS_PER_ROUND = 200;
const CONGESTION_CHECK_MS = 50;

type Body = DesiredBodies[DesiredKind];

interface Confirmed {
  readonly session: Session;
  readonly entry: InFlight;
}

const pauseMs = (failures: number) => (failures > 0 ? pauseMsAfter(failures) : COALESCE_MS);

export interface DispatcherPorts {
  readonly db: Queries;
  readonly bodies: BodySource;
  readonly log: Log;
  readonly tracer?: Tracer | null;
  /** The session of the cluster in this process, where there is one to which changes can be delivered. */
  liveSession(clusterId: string): Session | null;
  /** Reports, in the operator's place, that a row can never be stored in the cluster. */
  reject(session: Session, row: PendingRow, message: string): void;
}

export interface Dispatcher {
  /** Looks for pending rows of the cluster soon. */
  wake(clusterId: string): void;
  confirm(session: Session, entry: InFlight): void;
  /** Resolves once the confirmations so far are stored, or could not be. */
  settled(): Promise<void>;
  stop(): Promise<void>;
}

/**
 * Delivers pending rows to all clusters of this hub, in rounds. A round reads the rows, makes their bodies and sends them.
 * Confirmations are stored meanwhile, in batches of their own: a round would wait for the disk with each. Every step serves
 * all clusters at once, so that it costs the same few statements however many there are.
 */
export function startDispatcher({ db, bodies, log, tracer, liveSession, reject }: DispatcherPorts): Dispatcher {
  const outage = watchOutage(log, "delivering changes to clusters");
  const woken = new Set<string>();
  let confirmed: Confirmed[] = [];
  /** Those of `confirmed` that are being stored. */
  let batch: readonly Confirmed[] = [];
  const congested = new Set<Session>();
  let congestionTimer: NodeJS.Timeout | undefined;
  let timer: NodeJS.Timeout | null = null;
  let round: Promise<void> | null = null;
  let storeTimer: NodeJS.Timeout | null = null;
  let storing: Promise<void> | null = null;
  const failures = { delivering: 0, storing: 0 };
  let isStopped = false;

  function schedule(afterMs = COALESCE_MS): void {
    if (timer !== null || round !== null || isStopped) return;
    timer = setTimeout(() => {
      timer = null;
      round = run().finally(() => {
        round = null;
        const confirming = clustersConfirming();
        if ([...woken].some((clusterId) => !confirming.has(clusterId))) schedule(pauseMs(failures.delivering));
      });
    }, afterMs);
  }

  function scheduleStoring(afterMs = COALESCE_MS): void {
    if (storeTimer !== null || storing !== null || isStopped) return;
    storeTimer = setTimeout(() => {
      storeTimer = null;
      void store();
    }, afterMs);
  }

  async function run(): Promise<void> {
    const batch = takeWoken();
    try {
      await deliver(batch.flatMap((clusterId) => liveSession(clusterId) ?? []));
      succeeded("delivering");
    } catch (error) {
      for (const clusterId of batch) woken.add(clusterId);
      failures.delivering += 1;
      outage.failed(error);
    }
  }

  function succeeded(what: keyof typeof failures): void {
    failures[what] = 0;
    if (failures.delivering + failures.storing === 0) outage.recovered();
  }

  /** A cluster whose confirmation is being stored waits until it is, or it would be sent the same rows again. */
  function takeWoken(): string[] {
    const confirming = clustersConfirming();
    const batch: string[] = [];
    for (const clusterId of woken) {
      if (batch.length === CLUSTERS_PER_ROUND) break;
      if (!confirming.has(clusterId)) batch.push(clusterId);
    }
    for (const clusterId of batch) woken.delete(clusterId);
    return batch;
  }

  const clustersConfirming = (): ReadonlySet<string> =>
    new Set([...batch, ...confirmed].map(({ session }) => session.clusterId));

  /** Stores the confirmations so far, after those that are being stored. */
  function store(): Promise<void> {
    storing ??= storeConfirmed().finally(() => {
      storing = null;
      if (confirmed.length > 0) scheduleStoring(pauseMs(failures.storing));
    });
    return storing;
  }

  async function storeConfirmed(): Promise<void> {
    if (confirmed.length === 0) return;
    batch = confirmed;
    confirmed = [];
    try {
      await storeConfirmations(
        db,
        batch.map(({ session: { fence }, entry: { row, hash } }) => ({ fence, row, hash })),
      );
      // A round that has read these rows as pending still finds them in flight.
      await round;
      for (const { session, entry } of batch) {
        session.delivery.settle(entry.row);
        woken.add(session.clusterId);
      }
      succeeded("storing");
    } catch (error) {
      confirmed = [...batch, ...confirmed];
      failures.storing += 1;
      outage.failed(error);
    }
    batch = [];
    if (woken.size > 0) schedule(pauseMs(failures.delivering));
  }

  async function deliver(sessions: readonly Session[]): Promise<void> {
    const ready = sessions.filter((session) => session.delivery.capacity > 0 && !isCongested(session));
    if (ready.length === 0) return;
    const queries = ready.map(({ clusterId, delivery }) => ({ clusterId, limit: delivery.readLimit }));
    const found = await findPending(db, queries);
    const chosen = ready.flatMap((session) => {
      const pending = found.get(session.clusterId);
      return pending ? [{ session, pending, rows: session.delivery.choose(pending.rows) }] : [];
    });
    const wanted = chosen.flatMap(({ rows }) => rows.filter(({ removed_at }) => removed_at === null));
    const made: ReadonlyMap<PendingRow, Body | Fault> = wanted.length > 0 ? await bodies.bodiesOf(wanted) : new Map();
    for (const { session, pending, rows } of chosen) {
      for (const row of rows) {
        if (session.state !== "live" || isCongested(session)) break;
        send(session, row, made.get(row));
      }
      endSync(session, pending);
    }
  }

  /** Nothing is sent to a congested socket until it has drained. */
  function isCongested(session: Session): boolean {
    const isFull = session.checkCongestion(performance.now());
    if (isFull) {
      congested.add(session);
      congestionTimer ??= setInterval(checkCongested, CONGESTION_CHECK_MS);
    }
    return isFull;
  }

  function checkCongested(): void {
    for (const session of congested) {
      if (session.checkCongestion(performance.now()) && session.state === "live") continue;
      congested.delete(session);
      woken.add(session.clusterId);
      schedule();
    }
    if (congested.size > 0) return;
    clearInterval(congestionTimer);
    congestionTimer = undefined;
  }

  function send(session: Session, row: PendingRow, body: Body | Fault | undefined): void {
    if (row.removed_at !== null) sendRemoval(session, row);
    else if (body instanceof Fault) refuse(session, row, body.message);
    else if (body) sendContent(session, row, contentOf(body));
    // The record was deleted meanwhile; its tombstone is found by the next sweep.
    else session.delivery.hold(row, "sweep");
  }

  function sendRemoval(session: Session, row: PendingRow): void {
    const id = session.delivery.frameIdFor(row, null, newId);
    const span = spanFor(session, row);
    session.delivery.sent(row, id, null, performance.now(), span);
    session.sendText(removeText(row, id, session.sessionId, traceOf(row, span)));
  }

  function sendContent(session: Session, row: PendingRow, content: Content): void {
    const id = session.delivery.frameIdFor(row, content.hash, newId);
    const span = spanFor(session, row);
    const text = applyText(row, content, id, session.sessionId, traceOf(row, span));
    if (Buffer.byteLength(text) > LINK_LIMITS.frameBytes) {
      span?.end("It is too large to be sent to the cluster.");
      refuse(session, row, "It is too large to be sent to the cluster.");
      return;
    }
    session.delivery.sent(row, id, content.hash, performance.now(), span);
    session.sendText(text);
  }

  /** From the commit of the change to its confirmation. There is none for a row that no traced change is behind. */
  function spanFor({ delivery, clusterId }: Session, row: PendingRow): Span | null {
    if (!tracer || !row.traceparent) return null;
    return delivery.spanFor(row, () =>
      tracer.start("deliver", {
        parent: row.traceparent,
        startedAtMs: Math.min(row.updated_at?.getTime() ?? Date.now(), Date.now()),
        attributes: {
          "binnacle.cluster_id": clusterId,
          "binnacle.kind": row.kind,
          "binnacle.resource_id": row.resource_id,
          "binnacle.generation": row.generation,
        },
      }),
    );
  }

  /** A permanent failure: the row waits for the next change of its resource, whose status shows the reason. */
  function refuse(session: Session, row: PendingRow, why: string): void {
    session.delivery.hold(row, "change");
    reject(session, row, why);
  }

  function endSync(session: Session, { revision, rows }: PendingRows): void {
    if (session.delivery.isDelivered(rows)) session.sendSyncEnd(revision);
  }

  return {
    wake(clusterId) {
      woken.add(clusterId);
      schedule();
    },
    confirm(session, entry) {
      entry.span?.end();
      session.delivery.acked(entry);
      confirmed.push({ session, entry });
      scheduleStoring();
    },
    async settled() {
      await storing;
      await store();
    },
    async stop() {
      isStopped = true;
      for (const pending of [timer, storeTimer]) if (pending !== null) clearTimeout(pending);
      clearInterval(congestionTimer);
      await round;
      await storing;
    },
  };
}

/** A hub that does not trace passes on the trace of the change, so that the operator still joins it. */
function traceOf({ traceparent }: PendingRow, span: Span | null): { readonly traceparent?: string } {
  const given = span?.traceparent ?? traceparent;
  return given ? { traceparent: given } : {};
}

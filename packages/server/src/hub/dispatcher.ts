import { type DesiredBodies, type DesiredKind, LINK_LIMITS } from "@binnacle/contract";
import type { Queries } from "../database/transaction.ts";
import type { PendingRow } from "../dispatch/kind.ts";
import { Fault } from "../fault.ts";
import { newId } from "../id.ts";
import { type Log, pauseMsAfter, watchOutage } from "../outage.ts";
import { type Confirmation, findPending, type PendingRows, recordConfirmations } from "./delivery.store.ts";
import type { InFlight } from "./delivery.ts";
import { applyText, type Content, contentOf, removeText } from "./dispatched-frame.ts";
import type { BodySource } from "./ports.ts";
import type { Session } from "./session.ts";

/** Hints that come together are answered together. */
const COALESCE_MS = 5;
/** A round is short, so that a cluster with little to be told does not wait for those with much. */
const CLUSTERS_A_ROUND = 200;
const CLOGGED_LOOK_MS = 50;

type Body = DesiredBodies[DesiredKind];

export interface DispatcherPorts {
  readonly db: Queries;
  readonly bodies: BodySource;
  readonly log: Log;
  /** The session of the cluster here, where there is one that can be told something. */
  liveSession(clusterId: string): Session | null;
  /** Reports, in the operator's place, that a row can never be stored in the cluster. */
  reject(session: Session, row: PendingRow, message: string): void;
}

export interface Dispatcher {
  /** There may be something to tell. */
  wake(clusterId: string): void;
  confirm(session: Session, entry: InFlight): void;
  /** Comes back once what was confirmed so far is on record, or has failed to be. */
  settled(): Promise<void>;
  stop(): Promise<void>;
}

/**
 * Tells all clusters of this hub what they have to be told, in rounds: what is untold is read, its content is made, and it is
 * sent, while what was confirmed is written; each for all clusters at once, so that a round costs the same few statements however
 * many there are.
 */
export function startDispatcher({ db, bodies, log, liveSession, reject }: DispatcherPorts): Dispatcher {
  const outage = watchOutage(log, "telling clusters what they are to hold");
  const woken = new Set<string>();
  let confirmed: { readonly session: Session; readonly entry: InFlight }[] = [];
  const clogged = new Set<Session>();
  let cloggedTimer: NodeJS.Timeout | undefined;
  let timer: NodeJS.Timeout | null = null;
  let round: Promise<void> | null = null;
  let failures = 0;
  let isStopped = false;

  function schedule(afterMs = COALESCE_MS): void {
    if (timer !== null || round !== null || isStopped) return;
    timer = setTimeout(() => {
      timer = null;
      round = run().finally(() => {
        round = null;
        if (woken.size > 0 || confirmed.length > 0) schedule(failures > 0 ? pauseMsAfter(failures) : COALESCE_MS);
      });
    }, afterMs);
  }

  async function run(): Promise<void> {
    const taken = takeWoken();
    const sessions = taken.flatMap((clusterId) => liveSession(clusterId) ?? []);
    const [written, told] = await Promise.allSettled([writeConfirmed(), tell(sessions)]);
    if (told.status === "rejected") for (const clusterId of taken) woken.add(clusterId);
    const failed = [written, told].find(({ status }) => status === "rejected");
    failures = failed ? failures + 1 : 0;
    if (failed?.status === "rejected") outage.failed(failed.reason);
    else outage.recovered();
  }

  /** A cluster whose confirmation is being written meanwhile has its turn after that, or it would be told the same again. */
  function takeWoken(): string[] {
    const confirming = new Set(confirmed.map(({ session }) => session.clusterId));
    const taken: string[] = [];
    for (const clusterId of woken) {
      if (taken.length === CLUSTERS_A_ROUND) break;
      if (!confirming.has(clusterId)) taken.push(clusterId);
    }
    for (const clusterId of taken) woken.delete(clusterId);
    return taken;
  }

  async function writeConfirmed(): Promise<void> {
    if (confirmed.length === 0) return;
    const batch = confirmed;
    confirmed = [];
    try {
      await recordConfirmations(db, batch.map(confirmationOf));
    } catch (error) {
      confirmed = [...batch, ...confirmed];
      throw error;
    }
    for (const { session, entry } of batch) {
      session.delivery.settle(entry.row);
      woken.add(session.clusterId);
    }
  }

  async function tell(sessions: readonly Session[]): Promise<void> {
    const ready = sessions.filter((session) => session.delivery.room > 0 && !isClogged(session));
    if (ready.length === 0) return;
    const asked = ready.map(({ clusterId, delivery }) => ({ clusterId, most: delivery.depth }));
    const found = await findPending(db, asked);
    const chosen = ready.flatMap((session) => {
      const pending = found.get(session.clusterId);
      return pending ? [{ session, pending, rows: session.delivery.choose(pending.rows) }] : [];
    });
    const wanted = chosen.flatMap(({ rows }) => rows.filter(({ removed_at }) => removed_at === null));
    const made: ReadonlyMap<PendingRow, Body | Fault> = wanted.length > 0 ? await bodies.bodiesOf(wanted) : new Map();
    for (const { session, pending, rows } of chosen) {
      for (const row of rows) {
        if (session.state !== "live" || isClogged(session)) break;
        send(session, row, made.get(row));
      }
      endSync(session, pending);
    }
  }

  /** One that does not take what it was sent is left alone until it does. */
  function isClogged(session: Session): boolean {
    if (session.isClogged) {
      session.cloggedSinceMs ??= performance.now();
      clogged.add(session);
      cloggedTimer ??= setInterval(lookAtClogged, CLOGGED_LOOK_MS);
    }
    return session.isClogged;
  }

  function lookAtClogged(): void {
    for (const session of clogged) {
      if (session.isClogged && session.state === "live") continue;
      clogged.delete(session);
      session.cloggedSinceMs = null;
      woken.add(session.clusterId);
      schedule();
    }
    if (clogged.size > 0) return;
    clearInterval(cloggedTimer);
    cloggedTimer = undefined;
  }

  function send(session: Session, row: PendingRow, body: Body | Fault | undefined): void {
    if (row.removed_at !== null) sendRemoval(session, row);
    else if (body instanceof Fault) refuse(session, row, body.message);
    else if (body) sendContent(session, row, contentOf(body));
    // Gone meanwhile: its tombstone comes with the next look.
    else session.delivery.hold(row, "sweep");
  }

  function sendRemoval(session: Session, row: PendingRow): void {
    const id = session.delivery.frameIdFor(row, null, newId);
    session.delivery.sent(row, id, null, performance.now());
    session.sendText(removeText(row, id, session.sessionId));
  }

  function sendContent(session: Session, row: PendingRow, content: Content): void {
    const id = session.delivery.frameIdFor(row, content.hash, newId);
    const text = applyText(row, content, id, session.sessionId);
    if (Buffer.byteLength(text) > LINK_LIMITS.frameBytes) {
      refuse(session, row, "It is too large to be sent to the cluster.");
      return;
    }
    session.delivery.sent(row, id, content.hash, performance.now());
    session.sendText(text);
  }

  /** What can never be told as it is waits for its next change, and whoever made it is told why. */
  function refuse(session: Session, row: PendingRow, why: string): void {
    session.delivery.hold(row, "change");
    reject(session, row, why);
  }

  function endSync(session: Session, { revision, rows }: PendingRows): void {
    if (session.state !== "live" || session.isRestored || revision === session.toldRevision) return;
    if (!session.delivery.isTold(rows)) return;
    session.toldRevision = revision;
    session.send({ type: "sync_end", session: session.sessionId, revision });
  }

  return {
    wake(clusterId) {
      woken.add(clusterId);
      schedule();
    },
    confirm(session, entry) {
      session.delivery.acked(entry);
      confirmed.push({ session, entry });
      schedule();
    },
    async settled() {
      await round;
      await writeConfirmed().catch(outage.failed);
    },
    async stop() {
      isStopped = true;
      if (timer !== null) clearTimeout(timer);
      clearInterval(cloggedTimer);
      await round;
    },
  };
}

function confirmationOf({ session, entry }: { session: Session; entry: InFlight }): Confirmation {
  return { fence: session.fence, row: entry.row, hash: entry.hash };
}

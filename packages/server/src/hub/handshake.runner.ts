import { CLOSE, DETACH_REQUEST, type OperatorFrames, UPGRADE_REQUEST } from "@binnacle/contract";
import { isUnreachable } from "../database/transaction.ts";
import { reissueResources } from "../dispatch/dispatch.store.ts";
import type { DispatchedKind } from "../dispatch/kind.ts";
import { watchOutage } from "../outage.ts";
import { clearConfirmations, findExpected } from "./desired-rows.store.ts";
import { REFUSALS } from "./hints.adapter.ts";
import { diffInventory } from "./inventory-diff.ts";
import { AdmissionGate, AdmissionQueue, retryReason } from "./pacing.ts";
import type { HubClusters } from "./ports.ts";
import { type Admission, type Arrival, admit, admitTogether, findRevision } from "./session.store.ts";
import { isRevoked, type Session } from "./session.ts";
import { createWelcome, type Greeting, type WelcomePorts } from "./welcome.runner.ts";

/** The most unknown keys that one line of the log names. */
const MAX_LOGGED_KEYS = 20;

/** Each batch takes a connection to the database, and the first of a crowd waits for no one else. */
const BATCHES = 2;
/** Large enough that statements cost little for each, and small enough that the locks are held for milliseconds. */
const BATCH_SIZE = 50;
/** As many as are admitted on a slow machine before their operators give up after 30 seconds. */
const WAITING_HELLOS = 5_000;
/** What cannot be done in a batch: clusters that are locked, and inventories. */
const CONCURRENT_ALONE = 4;
const WAITING_ALONE = 5_000;

interface Ports extends WelcomePorts {
  readonly kinds: readonly DispatchedKind[];
  readonly clusters: HubClusters;
}

export interface Handshake {
  greet(session: Session, hello: OperatorFrames["hello"]): void;
  /** Ends the session with the answer whether it would be admitted. The session that the cluster has stays. */
  rehearse(session: Session): void;
  compare(session: Session): Promise<void>;
}

/**
 * Takes operators from their hello to a live session. Operators that come together, as thousands do after a restart, are
 * admitted together: a batch costs the same few statements however many it has.
 */
export function createHandshake(ports: Ports): Handshake {
  const { hub, db, clock } = ports;
  const outage = watchOutage(ports.log, "the handshake with operators");
  const welcome = createWelcome(ports, outage.failed);
  const queue = new AdmissionQueue<Greeting>({ batches: BATCHES, batchSize: BATCH_SIZE, maxWaiting: WAITING_HELLOS });
  const gate = new AdmissionGate(CONCURRENT_ALONE, WAITING_ALONE);
  const sendAway = (session: Session) => session.end(CLOSE.busy, retryReason(Math.random()));

  /** A failure here is one of the database. The operators retry until it has recovered. */
  async function withDatabase(greeted: readonly Session[], work: () => Promise<void>): Promise<void> {
    try {
      await work();
      outage.recovered();
    } catch (error) {
      outage.failed(error);
      for (const session of greeted) if (session.state !== "live") sendAway(session);
    }
  }

  /** Waits for a turn, so that a crowd does not exhaust the database. */
  async function alone(session: Session, work: () => Promise<void>): Promise<void> {
    const turn = gate.enter();
    if (turn === null) return sendAway(session);
    await turn;
    if (session.state !== "ended") await withDatabase([session], work);
    gate.leave();
  }

  function admitWaiting(): void {
    for (let batch = queue.take(); batch.length > 0; batch = queue.take()) {
      const greetings = batch.filter(({ session }) => session.state !== "ended");
      const admission = withDatabase(
        greetings.map(({ session }) => session),
        () => admitBatch(greetings),
      );
      void admission.then(() => {
        queue.leave();
        admitWaiting();
      });
    }
  }

  async function admitBatch(greetings: readonly Greeting[]): Promise<void> {
    if (greetings.length === 0) return;
    const admissions = await registerBatch(greetings);
    for (const greeting of greetings) {
      if (!admissions.has(greeting.clusterId)) void alone(greeting.session, () => admitAlone(greeting));
    }
    await welcome(greetings, admissions);
  }

  /** Where one cannot be stored, all of the batch are admitted one by one, so that it holds up nobody but itself. */
  async function registerBatch(greetings: readonly Greeting[]): Promise<ReadonlyMap<string, Admission>> {
    try {
      return await admitTogether(db, hub, greetings.map(arrivalOf), clock());
    } catch (error) {
      if (isUnreachable(error)) throw error;
      return new Map();
    }
  }

  async function admitAlone(greeting: Greeting): Promise<void> {
    const admission = await admit(db, hub, arrivalOf(greeting), clock());
    await welcome([greeting], new Map([[greeting.clusterId, admission]]));
  }

  return {
    greet(session, hello) {
      session.beginAdmission();
      if (!queue.enter({ clusterId: session.clusterId, session, hello })) return sendAway(session);
      admitWaiting();
    },
    rehearse(session) {
      session.beginAdmission();
      void alone(session, async () => {
        const floor = (await ports.clusters.tokenFloors([session.clusterId])).get(session.clusterId);
        if (floor === undefined) session.end(...REFUSALS.deleted);
        else if (isRevoked(session.tokenVersion, floor)) session.end(...REFUSALS.revoked);
        else session.end(CLOSE.trialPassed, "the hub would admit this operator");
      });
    },
    compare: (session) => alone(session, () => compareInventory(ports, session)),
  };
}

async function compareInventory({ db, kinds, clock, log, wake }: Ports, session: Session): Promise<void> {
  const { clusterId } = session;
  const { entries, revision: operatorRevision } = session.takeInventory();
  const isRestored = operatorRevision !== null && operatorRevision > (await findRevision(db, clusterId));
  const rows = (await findExpected(db, [clusterId])).get(clusterId) ?? [];
  const { pending, reissued, unknown } = diffInventory(rows, entries, isRestored);
  await clearConfirmations(db, clusterId, pending);
  await reissueResources(db, kinds, clusterId, reissued, clock());
  const counted = { pending: pending.length, reissued: reissued.length, unknown: unknown.length };
  if (isRestored || unknown.length > 0) {
    log.warn(
      { cluster_id: clusterId, isRestored, ...counted, keys: unknown.slice(0, MAX_LOGGED_KEYS) },
      "the cluster holds resources that the database does not know, as after a restore; nothing is removed from it",
    );
  } else {
    log.info(
      { cluster_id: clusterId, ...counted },
      "the inventory of the cluster differs from the database; the difference is sent again",
    );
  }
  session.goLive(isRestored && unknown.length > 0);
  wake(clusterId);
}

const arrivalOf = ({ clusterId, session, hello }: Greeting): Arrival => ({
  clusterId,
  tokenVersion: session.tokenVersion,
  operatorVersion: hello.operator_version,
  facts: hello.facts,
  canUpgrade: hello.requests?.includes(UPGRADE_REQUEST) ?? false,
  suspends: hello.suspends ?? false,
  detaches: hello.requests?.includes(DETACH_REQUEST) ?? false,
});

import { createHash } from "node:crypto";
import type { RepositoryCredential } from "@binnacle/charts";
import { CLOSE, LINK_LIMITS, LINK_VERSION, NEGOTIATED_REQUESTS, type OperatorFrames } from "@binnacle/contract";
import type { Bus } from "../bus/bus.ts";
import type { Clock } from "../clock.ts";
import { isUnreachable, type Queries } from "../database/transaction.ts";
import { reissueResources } from "../dispatch/dispatch.store.ts";
import type { DispatchedKind } from "../dispatch/kind.ts";
import { newId } from "../id.adapter.ts";
import { type Log, watchOutage } from "../outage.ts";
import { announceConnected } from "./connection-status.runner.ts";
import { clearConfirmations, findExpected } from "./desired-rows.store.ts";
import { REFUSALS, SESSIONS_TAKEN_TOPIC } from "./hints.adapter.ts";
import { diffInventory, type ExpectedRow, expectedText, isConfirmedRemoval } from "./inventory-diff.ts";
import { AdmissionGate, AdmissionQueue, retryReason, spreadSeconds } from "./pacing.ts";
import type { ChartCredentials, HubClusters } from "./ports.ts";
import { type Admission, type Arrival, admit, admitTogether, findRevision } from "./session.store.ts";
import type { Session } from "./session.ts";
import type { SessionTable } from "./session-table.ts";

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

interface Ports {
  readonly hubId: string;
  readonly db: Queries;
  readonly kinds: readonly DispatchedKind[];
  readonly bus: Bus;
  readonly clock: Clock;
  readonly clusters: HubClusters;
  readonly log: Log;
  readonly sessions: SessionTable;
  readonly repositories: ChartCredentials;
  /** Deletes the registration of a session that has ended meanwhile. */
  release(session: Session): void;
  wake(clusterId: string): void;
}

export interface Handshake {
  greet(session: Session, hello: OperatorFrames["hello"]): void;
  compare(session: Session): Promise<void>;
}

interface Greeting {
  readonly clusterId: string;
  readonly session: Session;
  readonly hello: OperatorFrames["hello"];
}

interface Admitted extends Greeting {
  readonly admission: Admission & { readonly refused: null };
}

/**
 * Takes operators from their hello to a live session. Operators that come together, as thousands do after a restart, are
 * admitted together: a batch costs the same few statements however many it has.
 */
export function createHandshake(ports: Ports): Handshake {
  const { hubId, db, kinds, bus, clock, log, sessions, repositories, release, wake } = ports;
  const outage = watchOutage(log, "the handshake with operators");
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
    await welcomeAll(greetings, admissions);
  }

  /** Where one cannot be stored, all of the batch are admitted one by one, so that it holds up nobody but itself. */
  async function registerBatch(greetings: readonly Greeting[]): Promise<ReadonlyMap<string, Admission>> {
    try {
      return await admitTogether(db, hubId, greetings.map(arrivalOf), clock());
    } catch (error) {
      if (isUnreachable(error)) throw error;
      return new Map();
    }
  }

  async function admitAlone(greeting: Greeting): Promise<void> {
    const admission = await admit(db, hubId, arrivalOf(greeting), clock());
    await welcomeAll([greeting], new Map([[greeting.clusterId, admission]]));
  }

  async function welcomeAll(greetings: readonly Greeting[], admissions: ReadonlyMap<string, Admission>): Promise<void> {
    const admitted = greetings.flatMap((greeting) => {
      const admission = admissions.get(greeting.clusterId);
      return admission && isRegistered(greeting, admission) ? [{ ...greeting, admission }] : [];
    });
    if (admitted.length === 0) return;
    const taken = admitted.map(({ clusterId, admission: { epoch } }) => ({ cluster_id: clusterId, epoch }));
    bus.publish(SESSIONS_TAKEN_TOPIC, { sessions: taken });
    const clusterIds = admitted.map(({ clusterId }) => clusterId);
    const [expected, credentials] = await Promise.all([findExpected(db, clusterIds), credentialsFor(admitted)]);
    for (const one of admitted) {
      const { orgId, isAbandoned } = one.admission;
      const { stamp, credentials: given } = isAbandoned ? NEVER_ANY : (credentials.get(orgId) ?? NO_CREDENTIALS);
      one.session.noteRepositories(stamp);
      welcomeOne(one, expected.get(one.clusterId) ?? [], given);
    }
    const before = admitted.map(({ clusterId, admission: { leaseBefore, firstConnectedBefore } }) => {
      return [clusterId, { session_lease_until: leaseBefore, first_connected_at: firstConnectedBefore }] as const;
    });
    await announceConnected(ports, new Map(before)).catch(outage.failed);
  }

  function isRegistered(
    { session, clusterId, hello }: Greeting,
    admission: Admission,
  ): admission is Admission & { readonly refused: null } {
    if (admission.refused !== null) {
      session.end(...REFUSALS[admission.refused]);
      return false;
    }
    const { epoch, orgId, clusterName, driftPolicy } = admission;
    const fence = { clusterId, hubId, epoch };
    const requests = NEGOTIATED_REQUESTS.filter((name) => hello.requests?.includes(name));
    const sessionId = newId();
    session.register({ fence, sessionId, orgId, clusterName, requests, driftPolicy, repositoriesStamp: "" });
    if (session.isRevoked) session.end(...REFUSALS.revoked);
    // A session that has ended meanwhile must not stay registered.
    const isHeld = session.state !== "ended" && sessions.add(session);
    if (!isHeld) release(session);
    return isHeld;
  }

  /** By organization. Most have none, which one statement finds for all of them. */
  async function credentialsFor(admitted: readonly Admitted[]): Promise<ReadonlyMap<string, Credentials>> {
    const orgIds = new Set(admitted.map(({ admission }) => admission.orgId));
    const stamps = await repositories.stampsOf([...orgIds]);
    const found = [...stamps.keys()].map(async (orgId) => [orgId, await repositories.of(orgId)] as const);
    return new Map(await Promise.all(found));
  }

  function welcomeOne(
    { session, hello, admission }: Admitted,
    rows: readonly ExpectedRow[],
    credentials: readonly RepositoryCredential[],
  ): void {
    const { clusterId: cluster_id } = session;
    const isEqual = createHash("sha256").update(expectedText(rows)).digest("hex") === hello.digest;
    session.delivery.sendFirst(rows.filter(isConfirmedRemoval));
    welcome(session, hello, isEqual ? "digest" : "inventory", credentials);
    const version = hello.operator_version;
    log.info({ cluster_id, cluster: admission.clusterName, version }, "an operator has connected");
  }

  function welcome(
    session: Session,
    { id: ref, revision }: OperatorFrames["hello"],
    resume: "digest" | "inventory",
    chartRepositories: readonly RepositoryCredential[],
  ): void {
    if (session.state === "ended" || session.registration === null) return;
    if (resume === "digest") session.goLive();
    else session.awaitInventory(revision);
    session.send({
      type: "welcome",
      ref,
      session: session.sessionId,
      version: LINK_VERSION,
      heartbeat_seconds: LINK_LIMITS.heartbeatSeconds,
      reconnect_spread_seconds: spreadSeconds(sessions.size),
      resume,
      settings: { drift_policy: session.registration.driftPolicy },
      chart_repositories: [...chartRepositories],
    });
    if (resume === "digest") wake(session.clusterId);
  }

  async function compareInventory(session: Session): Promise<void> {
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

  return {
    greet(session, hello) {
      session.beginAdmission();
      if (!queue.enter({ clusterId: session.clusterId, session, hello })) return sendAway(session);
      admitWaiting();
    },
    compare: (session) => alone(session, () => compareInventory(session)),
  };
}

type Credentials = Awaited<ReturnType<ChartCredentials["of"]>>;
const NO_CREDENTIALS: Credentials = { stamp: "", credentials: [] };
/** An abandoned cluster is out of control, and nothing is installed on it any more. */
const NEVER_ANY = { stamp: null, credentials: [] };

const arrivalOf = ({ clusterId, session, hello }: Greeting): Arrival => ({
  clusterId,
  tokenVersion: session.tokenVersion,
  operatorVersion: hello.operator_version,
  facts: hello.facts,
});

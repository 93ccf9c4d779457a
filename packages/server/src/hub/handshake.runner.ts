import { createHash } from "node:crypto";
import type { RepositoryCredential } from "@binnacle/charts";
import { CLOSE, LINK_LIMITS, LINK_VERSION, NEGOTIATED_REQUESTS, type OperatorFrames } from "@binnacle/contract";
import type { Bus } from "../bus/bus.ts";
import type { Clock } from "../clock.ts";
import type { Queries } from "../database/transaction.ts";
import { reissueResources } from "../dispatch/dispatch.store.ts";
import type { DispatchedKind } from "../dispatch/kind.ts";
import { newId } from "../id.adapter.ts";
import { type Log, watchOutage } from "../outage.ts";
import { announceConnected } from "./connection-status.runner.ts";
import { clearConfirmations, findExpected } from "./desired-rows.store.ts";
import { REFUSALS, SESSION_TAKEN_TOPIC } from "./hints.adapter.ts";
import { diffInventory, expectedText, isConfirmedRemoval } from "./inventory-diff.ts";
import { AdmissionGate, retryReason, spreadSeconds } from "./pacing.ts";
import type { ChartCredentials, HubClusters } from "./ports.ts";
import { admit, findRevision } from "./session.store.ts";
import type { Session } from "./session.ts";
import type { SessionTable } from "./session-table.ts";

/** The most unknown keys that one line of the log names. */
const MAX_LOGGED_KEYS = 20;

const CONCURRENT_HANDSHAKES = 8;
const WAITING_HANDSHAKES = 2_000;

interface Ports {
  readonly hubId: string;
  readonly db: Queries;
  readonly kinds: readonly DispatchedKind[];
  readonly bus: Bus;
  readonly clock: Clock;
  readonly clusters: HubClusters;
  readonly log: Log;
  readonly sessions: SessionTable;
  readonly repositories: Pick<ChartCredentials, "of">;
  /** Deletes the registration of a session that has ended meanwhile. */
  release(session: Session): void;
  wake(clusterId: string): void;
}

export interface Handshake {
  greet(session: Session, hello: OperatorFrames["hello"]): Promise<void>;
  compare(session: Session): Promise<void>;
}

/** Takes an operator from its hello to a live session. */
export function createHandshake(ports: Ports): Handshake {
  const { hubId, db, kinds, bus, clock, log, sessions, repositories, release, wake } = ports;
  const outage = watchOutage(log, "the handshake with operators");
  const gate = new AdmissionGate(CONCURRENT_HANDSHAKES, WAITING_HANDSHAKES);

  /** A failure here is one of the database. The operator retries until it has recovered. */
  async function withDatabase(session: Session, work: () => Promise<void>): Promise<void> {
    const turn = gate.enter();
    if (turn === null) return session.end(CLOSE.busy, retryReason(Math.random()));
    await turn;
    try {
      if (session.state !== "ended") await work();
      outage.recovered();
    } catch (error) {
      outage.failed(error);
      session.end(CLOSE.busy, retryReason(Math.random()));
    } finally {
      gate.leave();
    }
  }

  async function admitSession(session: Session, hello: OperatorFrames["hello"]): Promise<void> {
    const { clusterId, tokenVersion } = session;
    const { operator_version: operatorVersion, facts } = hello;
    const admission = await admit(db, { clusterId, hubId, tokenVersion, operatorVersion, facts }, clock());
    if (admission.refused !== null) return session.end(...REFUSALS[admission.refused]);
    const { epoch, orgId, clusterName, driftPolicy } = admission;
    const fence = { clusterId, hubId, epoch };
    const requests = NEGOTIATED_REQUESTS.filter((name) => hello.requests?.includes(name));
    const sessionId = newId();
    session.register({ fence, sessionId, orgId, clusterName, requests, driftPolicy, repositoriesStamp: "" });
    if (session.isRevoked) session.end(...REFUSALS.revoked);
    // A session that has ended meanwhile must not stay registered.
    if (session.state === "ended" || !sessions.add(session)) return release(session);
    bus.publish(SESSION_TAKEN_TOPIC, { cluster_id: clusterId, epoch });

    const [rows, { stamp, credentials }] = await Promise.all([findExpected(db, clusterId), repositories.of(orgId)]);
    session.noteRepositories(stamp);
    const isEqual = createHash("sha256").update(expectedText(rows)).digest("hex") === hello.digest;
    session.delivery.sendFirst(rows.filter(isConfirmedRemoval));
    welcome(session, hello, isEqual ? "digest" : "inventory", credentials);
    log.info({ cluster_id: clusterId, cluster: clusterName, version: operatorVersion }, "an operator has connected");
    const before = {
      session_lease_until: admission.leaseBefore,
      first_connected_at: admission.firstConnectedBefore,
    };
    await announceConnected(ports, clusterId, before).catch(outage.failed);
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
    const rows = await findExpected(db, clusterId);
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
      return withDatabase(session, () => admitSession(session, hello));
    },
    compare: (session) => withDatabase(session, () => compareInventory(session)),
  };
}

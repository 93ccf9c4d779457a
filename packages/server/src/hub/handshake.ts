import { createHash } from "node:crypto";
import type { RepositoryCredential } from "@binnacle/charts";
import { CLOSE, type CloseCode, LINK_LIMITS, LINK_VERSION, type OperatorFrames } from "@binnacle/contract";
import type { Bus } from "../bus/bus.ts";
import type { RepositoryCredentials } from "../chart-repositories/chart-repository.store.ts";
import type { Clock } from "../clock.ts";
import { counts } from "../clusters/agent-token.ts";
import type { Queries } from "../database/transaction.ts";
import type { DispatchedKind } from "../dispatch/kind.ts";
import { reissueResources } from "../dispatch/reissue.store.ts";
import { newId } from "../id.ts";
import { type Log, watchOutage } from "../outage.ts";
import { AdmissionGate, retryReason } from "./admission-gate.ts";
import { announceConnected } from "./connection-status.store.ts";
import { believedRows, takeBack } from "./inventory.store.ts";
import { believedText, diffInventory, isConfirmedRemoval } from "./inventory-diff.ts";
import type { SessionRegistry } from "./registry.ts";
import { admit } from "./session.store.ts";
import type { Session } from "./session.ts";

/** Of what is on no record, in a line of the log. */
const MOST_NAMED = 20;

/** Says that a cluster's session is another one from now on: `{cluster_id, epoch}`. Hubs close earlier ones. */
export const SESSION_TAKEN_TOPIC = "session-taken";

/** So many handshakes are at the database at once, and so many wait for it. */
const HANDSHAKES_AT_ONCE = 8;
const HANDSHAKES_IN_LINE = 2_000;
/** How many sessions may come back in a second when all have to. */
const RETURNS_A_SECOND = 250;
const LONGEST_SPREAD_SECONDS = 30;

export const REFUSALS: Readonly<Record<"deleted" | "revoked", readonly [CloseCode, string]>> = {
  deleted: [CLOSE.clusterDeleted, "the cluster is deleted"],
  revoked: [CLOSE.revoked, "the token is revoked"],
};

interface Ports {
  readonly hubId: string;
  readonly db: Queries;
  readonly kinds: readonly DispatchedKind[];
  readonly bus: Bus;
  readonly clock: Clock;
  readonly log: Log;
  readonly registry: SessionRegistry;
  readonly repositories: Pick<RepositoryCredentials, "of">;
  /** Gives the session up again. */
  release(session: Session): void;
  wake(clusterId: string): void;
}

export interface Handshake {
  greet(session: Session, hello: OperatorFrames["hello"]): Promise<void>;
  compare(session: Session): Promise<void>;
}

/** How an operator gets from its first word to being told what is new. */
export function createHandshake(ports: Ports): Handshake {
  const { hubId, db, kinds, bus, clock, log, registry, repositories, release, wake } = ports;
  const outage = watchOutage(log, "the handshake with operators");
  const gate = new AdmissionGate(HANDSHAKES_AT_ONCE, HANDSHAKES_IN_LINE);

  /** What fails here is the database: the operator comes again when it has recovered. */
  async function atDatabase(session: Session, work: () => Promise<void>): Promise<void> {
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

  async function take(session: Session, hello: OperatorFrames["hello"]): Promise<void> {
    const { clusterId, tokenVersion } = session;
    const { operator_version: operatorVersion, facts } = hello;
    const admission = await admit(db, { clusterId, hubId, tokenVersion, operatorVersion, facts }, clock());
    if (admission.refused !== null) return session.end(...REFUSALS[admission.refused]);
    const { epoch, orgId, driftPolicy } = admission;
    const fence = { clusterId, hubId, epoch };
    session.register({ fence, sessionId: newId(), orgId, driftPolicy, repositoriesStamp: "" });
    if (!counts(tokenVersion, session.floor)) session.end(...REFUSALS.revoked);
    // Whoever has gone meanwhile leaves no session behind.
    if (session.state === "ended" || !registry.put(session)) return release(session);
    bus.publish(SESSION_TAKEN_TOPIC, { cluster_id: clusterId, epoch });

    const [rows, { stamp, credentials }] = await Promise.all([believedRows(db, clusterId), repositories.of(orgId)]);
    session.adopt({ repositoriesStamp: stamp });
    const isEqual = createHash("sha256").update(believedText(rows)).digest("hex") === hello.digest;
    session.revisionOfOperator = hello.revision;
    session.delivery.tellFirst(rows.filter(isConfirmedRemoval));
    welcome(session, hello.id, isEqual ? "digest" : "inventory", credentials);
    const before = {
      session_lease_until: admission.leaseBefore,
      first_connected_at: admission.firstConnectedBefore,
    };
    await announceConnected(ports, clusterId, before).catch(outage.failed);
  }

  function welcome(
    session: Session,
    ref: string,
    resume: "digest" | "inventory",
    chartRepositories: readonly RepositoryCredential[],
  ): void {
    if (session.state === "ended" || session.registration === null) return;
    session.state = resume === "digest" ? "live" : "inventory";
    session.send({
      type: "welcome",
      ref,
      session: session.sessionId,
      version: LINK_VERSION,
      heartbeat_seconds: LINK_LIMITS.heartbeatSeconds,
      reconnect_spread_seconds: spreadSeconds(registry.size),
      resume,
      settings: { drift_policy: session.registration.driftPolicy },
      chart_repositories: [...chartRepositories],
    });
    if (resume === "digest") wake(session.clusterId);
  }

  async function settleDifferences(session: Session): Promise<void> {
    const { clusterId, revisionOfOperator } = session;
    const entries = session.inventory ?? [];
    session.inventory = null;
    const { revision } = await db
      .selectFrom("clusters")
      .select("revision")
      .where("id", "=", clusterId)
      .executeTakeFirstOrThrow();
    const isRestored = revisionOfOperator !== null && revisionOfOperator > revision;
    const rows = await believedRows(db, clusterId);
    const { untold, reissued, strays } = diffInventory(rows, entries, isRestored);
    await takeBack(db, clusterId, untold);
    await reissueResources(db, kinds, clusterId, reissued, clock());
    const counted = { untold: untold.length, reissued: reissued.length, strays: strays.length };
    session.isRestored = isRestored && strays.length > 0;
    if (isRestored || strays.length > 0) {
      log.warn(
        { cluster_id: clusterId, isRestored, ...counted, keys: strays.slice(0, MOST_NAMED) },
        "the cluster holds what is on no record, as after a restore of the database; nothing is removed from it",
      );
    } else {
      log.info({ cluster_id: clusterId, ...counted }, "the cluster's inventory differs from what is on record");
    }
    if (session.state === "ended") return;
    session.state = "live";
    wake(clusterId);
  }

  return {
    greet(session, hello) {
      session.state = "admission";
      return atDatabase(session, () => take(session, hello));
    },
    compare: (session) => atDatabase(session, () => settleDifferences(session)),
  };
}

export function spreadSeconds(sessions: number): number {
  return Math.min(Math.max(1, Math.ceil(sessions / RETURNS_A_SECOND)), LONGEST_SPREAD_SECONDS);
}

import { createHash } from "node:crypto";
import type { RepositoryCredential } from "@binnacle/charts";
import { LINK_LIMITS, LINK_VERSION, NEGOTIATED_REQUESTS, type OperatorFrames } from "@binnacle/contract";
import { newId } from "../id.adapter.ts";
import type { Log } from "../outage.ts";
import { announceConnected, type StatusPorts } from "./connection-status.runner.ts";
import { findExpected } from "./desired-rows.store.ts";
import { REFUSALS, SESSIONS_TAKEN_TOPIC } from "./hints.adapter.ts";
import { type ExpectedRow, expectedText, isConfirmedRemoval } from "./inventory-diff.ts";
import { spreadSeconds } from "./pacing.ts";
import type { ChartCredentials } from "./ports.ts";
import type { Admission, HubAddress } from "./session.store.ts";
import type { Session } from "./session.ts";
import type { SessionTable } from "./session-table.ts";

export interface WelcomePorts extends StatusPorts {
  readonly hub: HubAddress;
  readonly log: Log;
  readonly sessions: SessionTable;
  readonly repositories: ChartCredentials;
  /** Deletes the registration of a session that has ended meanwhile. */
  release(session: Session): void;
  wake(clusterId: string): void;
}

export interface Greeting {
  readonly clusterId: string;
  readonly session: Session;
  readonly hello: OperatorFrames["hello"];
}

interface Admitted extends Greeting {
  readonly admission: Admission & { readonly refused: null };
}

type Credentials = Awaited<ReturnType<ChartCredentials["of"]>>;
const NO_CREDENTIALS: Credentials = { stamp: "", credentials: [] };
/** An abandoned cluster is out of control, and nothing is installed on it any more. */
const NEVER_ANY = { stamp: null, credentials: [] };

/** Registers the sessions that were admitted and welcomes their operators; ends those that were refused. */
type Welcome = (greetings: readonly Greeting[], admissions: ReadonlyMap<string, Admission>) => Promise<void>;

/** A batch costs the same few statements however many it has. */
export function createWelcome(ports: WelcomePorts, onFailure: (error: unknown) => void): Welcome {
  const { hub, db, bus, log, sessions, repositories, release, wake } = ports;

  function isRegistered(
    { session, clusterId, hello }: Greeting,
    admission: Admission,
  ): admission is Admission & { readonly refused: null } {
    if (admission.refused !== null) {
      session.end(...REFUSALS[admission.refused]);
      return false;
    }
    const { epoch, orgId, clusterName, driftPolicy } = admission;
    const fence = { clusterId, hubId: hub.id, epoch };
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

  return async function welcomeAll(greetings, admissions) {
    const admitted = greetings.flatMap((greeting) => {
      const admission = admissions.get(greeting.clusterId);
      return admission && isRegistered(greeting, admission) ? [{ ...greeting, admission }] : [];
    });
    if (admitted.length === 0) return;
    const sessions = admitted.map(({ clusterId, admission: { epoch } }) => ({ cluster_id: clusterId, epoch }));
    bus.publish(SESSIONS_TAKEN_TOPIC, { sessions });
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
    await announceConnected(ports, new Map(before)).catch(onFailure);
  };
}

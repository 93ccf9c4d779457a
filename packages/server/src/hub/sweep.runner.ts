import { CLOSE, type CloseCode } from "@binnacle/contract";
import type { Bus } from "../bus/bus.ts";
import type { Clock } from "../clock.ts";
import type { Queries } from "../database/transaction.ts";
import { newId } from "../id.adapter.ts";
import { announceConnected, type SessionCleanup } from "./connection-status.runner.ts";
import { clustersWithPending } from "./desired-rows.store.ts";
import type { Dispatcher } from "./dispatcher.runner.ts";
import { REFUSALS } from "./hints.adapter.ts";
import type { ChartCredentials, HubClusters } from "./ports.ts";
import { driftPolicies, type HubAddress, renewLeases, storeFacts } from "./session.store.ts";
import { isRevoked, type Session } from "./session.ts";
import type { SessionTable } from "./session-table.ts";

interface Ports {
  readonly hub: HubAddress;
  readonly db: Queries;
  readonly bus: Bus;
  readonly clock: Clock;
  readonly clusters: HubClusters;
  readonly sessions: SessionTable;
  readonly dispatcher: Dispatcher;
  readonly cleanup: SessionCleanup;
  readonly repositories: ChartCredentials;
}

export interface Sweep {
  run(): Promise<void>;
  /** Sends changed drift policies and credentials of chart repositories to the operators of one organization, or of all. */
  sendSettings(orgId?: string): Promise<void>;
}

/** The periodic work of a hub, one statement for all sessions each. Because of it nothing depends on a hint. */
export function createSweep(ports: Ports): Sweep {
  const { hub, db, clock, clusters, sessions, dispatcher, cleanup, repositories } = ports;

  async function renew(): Promise<void> {
    const held = sessions.welcomed();
    if (held.length === 0) return;
    const rows = held.map((session) => ({
      clusterId: session.clusterId,
      epoch: session.fence.epoch,
      tokenVersion: session.tokenVersion,
      heartbeatAt: session.unsavedHeartbeat,
    }));
    const { kept, revived } = await renewLeases(db, hub, rows);
    for (const [index, session] of held.entries()) {
      session.heartbeatSaved(rows[index]?.heartbeatAt ?? null);
      // A session that ended while its lease was being renewed may have been inserted again.
      if (session.state === "ended" && kept.has(session.clusterId)) cleanup.release(session.fence);
    }
    await endLost(
      clusters,
      held.filter(({ clusterId, state }) => state !== "ended" && !kept.has(clusterId)),
    );
    const before = { session_lease_until: null, first_connected_at: clock() };
    await announceConnected(ports, new Map(revived.map((clusterId) => [clusterId, before])));
  }

  async function wakePending(): Promise<void> {
    const nowMs = performance.now();
    const held = sessions.welcomed();
    for (const { clusterId, delivery } of held) if (delivery.sweep(nowMs)) dispatcher.wake(clusterId);
    const clusterIds = held.map(({ clusterId }) => clusterId);
    for (const clusterId of await clustersWithPending(db, clusterIds)) dispatcher.wake(clusterId);
  }

  async function saveFacts(): Promise<void> {
    const given = sessions.welcomed().flatMap((session) => {
      const { unsavedFacts: facts, fence } = session;
      return facts === null ? [] : [{ session, facts, fence }];
    });
    if (given.length === 0) return;
    const stored = await storeFacts(db, given);
    for (const { session, facts } of given) if (stored.has(session.clusterId)) session.factsSaved(facts);
  }

  async function sendSettings(orgId?: string): Promise<void> {
    const held = sessions.welcomed().filter(({ registration }) => orgId === undefined || registration?.orgId === orgId);
    if (held.length === 0) return;
    const orgIds = new Set(held.flatMap(({ registration }) => registration?.orgId ?? []));
    const policies = await driftPolicies(db, [...orgIds]);
    for (const session of held) {
      const policy = policies.get(session.registration?.orgId ?? "");
      if (policy) session.setDriftPolicy(policy);
    }
    await sendRepositories(repositories, held, await repositories.stampsOf([...orgIds]));
  }

  async function renewToken(session: Session): Promise<void> {
    if (session.isTokenExpired(clock())) return session.end(CLOSE.unauthenticated, "the token has expired");
    const nowMs = performance.now();
    if (!session.needsToken(clusters.tokenLifetimeMs, clock(), nowMs)) return;
    const { token, tokenVersion, expiresAt } = await clusters.issueToken(session.clusterId);
    session.offerToken({ frameId: newId(), tokenVersion, expiresAt, offeredAtMs: nowMs }, token);
  }

  return {
    async run() {
      await renew();
      await wakePending();
      await saveFacts();
      await sendSettings();
      for (const session of sessions.welcomed()) await renewToken(session);
    },
    sendSettings,
  };
}

/** Ends the sessions that this hub does not hold any more, each with the reason, so that its operator learns it. */
async function endLost(clusters: Ports["clusters"], lost: readonly Session[]): Promise<void> {
  if (lost.length === 0) return;
  const floors = await clusters.tokenFloors(lost.map(({ clusterId }) => clusterId));
  for (const session of lost) session.end(...lossReason(session.tokenVersion, floors.get(session.clusterId)));
}

function lossReason(tokenVersion: number, floor: number | undefined): readonly [CloseCode, string] {
  if (floor === undefined) return REFUSALS.deleted;
  if (isRevoked(tokenVersion, floor)) return REFUSALS.revoked;
  return [CLOSE.superseded, "a newer session has taken over"];
}

/** Credentials are decrypted only for sessions that were sent others. */
async function sendRepositories(
  repositories: Ports["repositories"],
  held: readonly Session[],
  stamps: ReadonlyMap<string, string>,
): Promise<void> {
  const stale = held.filter(({ registration }) => {
    if (!registration || registration.repositoriesStamp === null) return false;
    return registration.repositoriesStamp !== (stamps.get(registration.orgId) ?? "");
  });
  for (const [orgId, ofOrg] of Map.groupBy(stale, ({ registration }) => registration?.orgId ?? "")) {
    const { stamp, credentials } = await repositories.of(orgId);
    for (const session of ofOrg) {
      if (session.state === "ended") continue;
      session.noteRepositories(stamp);
      const frame = { type: "chart_repositories", session: session.sessionId } as const;
      session.send({ ...frame, chart_repositories: [...credentials] });
    }
  }
}

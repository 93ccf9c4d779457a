import { CLOSE } from "@binnacle/contract";
import type { Bus } from "../bus/bus.ts";
import type { RepositoryCredentials } from "../chart-repositories/chart-repository.store.ts";
import type { Clock } from "../clock.ts";
import type { Queries } from "../database/transaction.ts";
import { announceConnected } from "./connection-status.store.ts";
import { clustersWithPending } from "./delivery.store.ts";
import type { Dispatcher } from "./dispatcher.ts";
import { endLost } from "./lost-session.store.ts";
import type { SessionRegistry } from "./registry.ts";
import type { Releaser } from "./releaser.ts";
import { driftPolicies, noteFacts, renewLeases } from "./session.store.ts";
import type { Session } from "./session.ts";
import type { TokenRenewal } from "./token-renewal.ts";

interface Ports {
  readonly hubId: string;
  readonly db: Queries;
  readonly bus: Bus;
  readonly clock: Clock;
  readonly registry: SessionRegistry;
  readonly dispatcher: Dispatcher;
  readonly releaser: Releaser;
  readonly renewal: TokenRenewal;
  readonly repositories: RepositoryCredentials;
}

export interface Sweep {
  /** All of it, for all sessions. */
  run(): Promise<void>;
  /** What organizations have decided about drift, and stored for chart repositories, reaches their operators. */
  tellSettings(orgId?: string): Promise<void>;
}

/** What a hub does from time to time, so that nothing depends on a hint: one statement for all sessions each. */
export function createSweep(ports: Ports): Sweep {
  const { hubId, db, clock, registry, dispatcher, releaser, renewal, repositories } = ports;

  const held = () => [...registry.all()].filter(({ state }) => state === "live" || state === "inventory");

  async function vouch(): Promise<void> {
    const sessions = held();
    if (sessions.length === 0) return;
    const heard = sessions.map((session) => ({
      clusterId: session.clusterId,
      epoch: session.fence.epoch,
      tokenVersion: session.tokenVersion,
      heartbeatAt: session.heartbeatAt,
    }));
    const { kept, revived } = await renewLeases(db, hubId, heard, clock());
    for (const [index, session] of sessions.entries()) {
      if (session.heartbeatAt === heard[index]?.heartbeatAt) session.heartbeatAt = null;
      // Ended while its lease was being renewed: it might have been put on record again.
      if (session.state === "ended" && kept.has(session.clusterId)) releaser.release(session.fence);
    }
    await endLost(
      db,
      sessions.filter(({ clusterId, state }) => state !== "ended" && !kept.has(clusterId)),
    );
    for (const clusterId of revived) {
      await announceConnected(ports, clusterId, { session_lease_until: null, first_connected_at: clock() });
    }
  }

  async function writeFacts(): Promise<void> {
    const given = held().flatMap((session) => {
      const { facts, fence } = session;
      return facts === null ? [] : [{ session, facts, fence }];
    });
    if (given.length === 0) return;
    const noted = await noteFacts(db, given);
    for (const { session, facts } of given) {
      if (session.facts === facts && noted.has(session.clusterId)) session.facts = null;
    }
  }

  async function tellSettings(orgId?: string): Promise<void> {
    const sessions = held().filter(({ registration }) => orgId === undefined || registration?.orgId === orgId);
    if (sessions.length === 0) return;
    const orgIds = new Set(sessions.flatMap(({ registration }) => registration?.orgId ?? []));
    const policies = await driftPolicies(db, [...orgIds]);
    for (const session of sessions) adopt(session, policies);
    await tellRepositories(sessions, await repositories.stampsOf([...orgIds]));
  }

  /** They are opened for those alone who were told others. */
  async function tellRepositories(sessions: readonly Session[], stamps: ReadonlyMap<string, string>): Promise<void> {
    const stale = sessions.filter(
      ({ registration }) => registration && registration.repositoriesStamp !== (stamps.get(registration.orgId) ?? ""),
    );
    for (const [orgId, ofOrg] of Map.groupBy(stale, ({ registration }) => registration?.orgId ?? "")) {
      const { stamp, credentials } = await repositories.of(orgId);
      for (const session of ofOrg) {
        if (session.state === "ended") continue;
        session.adopt({ repositoriesStamp: stamp });
        const frame = { type: "chart_repositories", session: session.sessionId } as const;
        session.send({ ...frame, chart_repositories: [...credentials] });
      }
    }
  }

  async function tellPendingRow(): Promise<void> {
    const nowMs = performance.now();
    const sessions = held();
    for (const { clusterId, delivery } of sessions) if (delivery.sweep(nowMs)) dispatcher.wake(clusterId);
    const clusterIds = sessions.map(({ clusterId }) => clusterId);
    for (const clusterId of await clustersWithPending(db, clusterIds)) dispatcher.wake(clusterId);
  }

  return {
    async run() {
      await vouch();
      await tellPendingRow();
      await writeFacts();
      await tellSettings();
      for (const session of held()) {
        if (session.tokenExpiresAt <= clock()) session.end(CLOSE.unauthenticated, "the token has expired");
        else await renewal.offer(session);
      }
    },
    tellSettings,
  };
}

function adopt(session: Session, policies: Awaited<ReturnType<typeof driftPolicies>>): void {
  const { registration } = session;
  const policy = registration && policies.get(registration.orgId);
  if (!policy || policy === registration.driftPolicy || session.state === "ended") return;
  session.adopt({ driftPolicy: policy });
  session.send({ type: "settings", session: session.sessionId, settings: { drift_policy: policy } });
}

import { CLOSE, type CloseCode } from "@binnacle/contract";
import type { Bus } from "../bus/bus.ts";
import { DISPATCH_TOPIC } from "../dispatch/dispatch.ts";
import { FLOOR_HELD_TOPIC, FLOOR_RAISED_TOPIC, ORG_SETTINGS_TOPIC } from "./ports.ts";
import type { SessionTable } from "./session-table.ts";

/** Says that a hub has admitted sessions: `{sessions: [{cluster_id, epoch}]}`. Other hubs end earlier ones. */
export const SESSIONS_TAKEN_TOPIC = "sessions-taken";

export const REFUSALS: Readonly<Record<"deleted" | "revoked", readonly [CloseCode, string]>> = {
  deleted: [CLOSE.clusterDeleted, "the cluster is deleted"],
  revoked: [CLOSE.revoked, "the token is revoked"],
};

interface Ports {
  readonly bus: Bus;
  readonly sessions: SessionTable;
  wake(clusterId: string): void;
  settingsChanged(orgId: string): void;
  /** Hints may have been lost. */
  missed(): void;
}

/** Subscribes to the hints of other processes. They only save time: the sweep finds the same without them. */
export function subscribeToHints({ bus, sessions, wake, settingsChanged, missed }: Ports): () => void {
  const subscriptions = [
    bus.onMissed(missed),
    bus.subscribe(DISPATCH_TOPIC, (message) => {
      const { cluster_id } = message as { cluster_id?: unknown };
      if (typeof cluster_id === "string" && sessions.live(cluster_id)) wake(cluster_id);
    }),
    bus.subscribe(SESSIONS_TAKEN_TOPIC, (message) => {
      const { sessions: taken } = message as { sessions?: unknown };
      for (const one of Array.isArray(taken) ? taken : []) {
        const { cluster_id, epoch } = (one ?? {}) as { cluster_id?: unknown; epoch?: unknown };
        if (typeof cluster_id === "string" && typeof epoch === "number") sessions.supersede(cluster_id, epoch);
      }
    }),
    bus.subscribe(ORG_SETTINGS_TOPIC, (message) => {
      const { org_id } = message as { org_id?: unknown };
      if (typeof org_id === "string") settingsChanged(org_id);
    }),
    bus.subscribe(FLOOR_RAISED_TOPIC, (message) => {
      const { ask, cluster_id, floor, deleted } = message as Record<string, unknown>;
      if (typeof cluster_id !== "string" || typeof floor !== "number") return;
      if (enforceFloor(sessions, cluster_id, floor, deleted === true)) bus.publish(FLOOR_HELD_TOPIC, { ask });
    }),
  ];
  return () => {
    for (const unsubscribe of subscriptions) unsubscribe();
  };
}

/** Returns whether this process has a session of the cluster, and so can say that the floor is enforced. */
function enforceFloor(sessions: SessionTable, clusterId: string, floor: number, isDeleted: boolean): boolean {
  // A session that is being admitted may have read the floor before it was raised.
  for (const session of sessions.connecting()) if (session.clusterId === clusterId) session.raiseTokenFloor(floor);
  const session = sessions.of(clusterId);
  session?.raiseTokenFloor(floor);
  if (session?.isRevoked) session.end(...(isDeleted ? REFUSALS.deleted : REFUSALS.revoked));
  return session !== null;
}

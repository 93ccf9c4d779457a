import type { Bus } from "../bus/bus.ts";
import { counts } from "../clusters/agent-token.ts";
import { FLOOR_HELD_TOPIC, FLOOR_RAISED_TOPIC } from "../clusters/token-floor.adapter.ts";
import { DISPATCH_TOPIC } from "../dispatch/dispatch.ts";
import { ORG_SETTINGS_TOPIC } from "../orgs/org.ts";
import { REFUSALS, SESSION_TAKEN_TOPIC } from "./handshake.ts";
import type { SessionRegistry } from "./registry.ts";

interface Ports {
  readonly bus: Bus;
  readonly registry: SessionRegistry;
  wake(clusterId: string): void;
  settingsChanged(orgId: string): void;
}

/** What a hub hears from the other replicas. Each hint is only faster than the sweep, which finds out by itself. */
export function listenToHints({ bus, registry, wake, settingsChanged }: Ports): () => void {
  const subscriptions = [
    bus.subscribe(DISPATCH_TOPIC, (message) => {
      const { cluster_id } = message as { cluster_id?: unknown };
      if (typeof cluster_id === "string" && registry.live(cluster_id)) wake(cluster_id);
    }),
    bus.subscribe(SESSION_TAKEN_TOPIC, (message) => {
      const { cluster_id, epoch } = message as { cluster_id?: unknown; epoch?: unknown };
      if (typeof cluster_id === "string" && typeof epoch === "number") registry.takenElsewhere(cluster_id, epoch);
    }),
    bus.subscribe(ORG_SETTINGS_TOPIC, (message) => {
      const { org_id } = message as { org_id?: unknown };
      if (typeof org_id === "string") settingsChanged(org_id);
    }),
    bus.subscribe(FLOOR_RAISED_TOPIC, (message) => {
      const { ask, cluster_id, floor, deleted } = message as Record<string, unknown>;
      if (typeof cluster_id !== "string" || typeof floor !== "number") return;
      if (holdFloor(registry, cluster_id, floor, deleted === true)) bus.publish(FLOOR_HELD_TOPIC, { ask });
    }),
  ];
  return () => {
    for (const unsubscribe of subscriptions) unsubscribe();
  };
}

/** True where the cluster's session is, or was, here. */
function holdFloor(registry: SessionRegistry, clusterId: string, floor: number, isDeleted: boolean): boolean {
  // Those that are being admitted may have read the floor that was there before.
  for (const session of registry.arriving) if (session.clusterId === clusterId) session.floor = floor;
  const session = registry.of(clusterId);
  if (session && !counts(session.tokenVersion, floor)) {
    session.end(...(isDeleted ? REFUSALS.deleted : REFUSALS.revoked));
  }
  return session !== null;
}

import { EVENT_TYPES, type EventType } from "@binnacle/contract";

/** Something that happened, as every replica's subscribers get to hear of it. */
export interface Event {
  readonly id: string;
  readonly type: EventType;
  readonly time: string;
  readonly org_id: string | null;
  readonly cluster_id?: string;
  readonly project_id?: string;
  readonly workload_id?: string;
  readonly resource: {
    readonly type: string;
    readonly id: string | null;
    readonly name: string | null;
    readonly namespace?: string;
  };
  /** What else it says, by its type. Never a secret. */
  readonly [detail: string]: unknown;
}

/** The topic of the bus that carries them. */
export const EVENTS_TOPIC = "events";

/** What a handler announces; id and time are given to it when the change is committed. */
export type Announcement = Omit<Event, "id" | "time">;

/** The bus brings what another process, perhaps of another version, has put on it; visibility must not rest on trust. */
export function isEvent(message: unknown): message is Event {
  if (typeof message !== "object" || message === null) return false;
  const { id, type, time, org_id, cluster_id, project_id, workload_id, resource } = message as Record<string, unknown>;
  return (
    typeof id === "string" &&
    typeof time === "string" &&
    EVENT_TYPES.includes(type as EventType) &&
    (org_id === null || typeof org_id === "string") &&
    [cluster_id, project_id, workload_id].every((place) => place === undefined || typeof place === "string") &&
    typeof (resource as { type?: unknown } | null | undefined)?.type === "string"
  );
}

import { EVENT_TYPES, type EventType } from "@binnacle/contract";

/** The subscribers of every replica receive it, where they may see it. */
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
  /** Further details, by its type. They never hold a secret. */
  readonly [detail: string]: unknown;
}

/** The topic of the bus that carries events. */
export const EVENTS_TOPIC = "events";

/** A handler announces it; it gets its id and time when the change is committed. */
export type Announcement = Omit<Event, "id" | "time">;

/** The message comes from another process, perhaps of another version, and its fields decide who may see it. */
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

import { EVENT_TYPES, type EventType } from "@binnacle/contract";
import type { Location } from "../access/place.ts";
import { type AuditRow, wireAuditEntry } from "../audit/audit.ts";
import type { Bus } from "../bus/bus.ts";

/** An event. The subscribers of every replica receive it if they may see it. */
export interface Event {
  readonly id: string;
  readonly type: EventType;
  readonly time: string;
  readonly org_id: string | null;
  readonly cluster_id?: string;
  readonly project_id?: string;
  readonly workload_id?: string;
  /** The user whose account the event is about; that user receives it too. */
  readonly user_id?: string;
  readonly resource: {
    readonly type: string;
    readonly id: string | null;
    readonly name: string | null;
    readonly namespace?: string;
  };
  /** Further details, which depend on the type. They never contain a secret. */
  readonly [detail: string]: unknown;
}

/** The topic of the bus that carries events. */
export const EVENTS_TOPIC = "events";

/** Tells every replica, after the commit, that the events are in the log. */
export function publishEvents(bus: Bus, events: readonly Event[]): void {
  for (const event of events) bus.publish(EVENTS_TOPIC, event);
}

/** An event as a handler announces it. It gets its id and time at the commit. */
export type Announcement = Omit<Event, "id" | "time">;

export const eventOf = (announcement: Announcement, id: string, now: Date): Event =>
  ({ id, time: now.toISOString(), ...announcement }) as Event;

/** The message comes from another process, perhaps of another version, and its fields decide who may see it. */
export function isEvent(message: unknown): message is Event {
  if (typeof message !== "object" || message === null) return false;
  const { id, type, time, org_id, cluster_id, project_id, workload_id, user_id, resource } = message as Record<
    string,
    unknown
  >;
  return (
    typeof id === "string" &&
    typeof time === "string" &&
    EVENT_TYPES.includes(type as EventType) &&
    (org_id === null || typeof org_id === "string") &&
    [cluster_id, project_id, workload_id, user_id].every((place) => place === undefined || typeof place === "string") &&
    typeof (resource as { type?: unknown } | null | undefined)?.type === "string"
  );
}

/**
 * An audit entry as an event. Without a place it is for the administrators of its organization; with a place it is for
 * whoever sees the place. An entry about a cluster or a project has that cluster or project as its place.
 */
export function activityOf(row: AuditRow, place: Location | null): Event {
  const { at, ...entry } = wireAuditEntry(row);
  const itself = (type: string) => (row.resource_type === type ? (row.resource_id ?? undefined) : undefined);
  const places = {
    cluster_id: place?.clusterId ?? itself("cluster"),
    project_id: place?.projectId ?? itself("project"),
    workload_id: itself("app"),
  };
  return { ...entry, type: "activity", time: at, at, org_id: row.org_id, ...given(places) };
}

function given(fields: Record<string, string | undefined>): Record<string, string> {
  const entries = Object.entries(fields).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return Object.fromEntries(entries);
}

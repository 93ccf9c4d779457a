import type { EventType } from "@binnacle/contract";

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

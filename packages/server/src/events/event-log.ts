import type { Access } from "../access/role.ts";

/**
 * The last events in the order in which every stream gets them. Changes of access are among them, so that whoever loses access
 * has lost it when a later event is delivered.
 */
export interface EventLog {
  /** Gives everything that is committed its position. Returns the last one. */
  head(): Promise<Head>;
  /** Returns the entries after a position, the oldest first, and at most so many as are delivered at once. */
  readAfter(position: number): Promise<Page>;
  /** Says what a stream has missed since the position, among the entries of these organizations. */
  missedSince(position: number, upTo: number, orgs: Orgs): Promise<Missed>;
  /** Returns entries of these organizations in this range, the oldest first. Fewer than `PAGE_ROWS` are the last. */
  readRange(after: number, upTo: number, orgs: Orgs): Promise<readonly Entry[]>;
}

/** The log is the one of a database. Positions of another one mean nothing in it. */
export interface Head {
  readonly logId: string;
  readonly position: number;
}

export interface Entry {
  readonly position: number;
  readonly topic: string;
  readonly message: string;
}

export interface Page {
  readonly head: Head;
  readonly entries: readonly Entry[];
  /** Nothing between the asked position and this one is left to be read. */
  readonly upTo: number;
  /** The organizations of which entries after the asked position were deleted, before this process has read them. */
  readonly pruned: readonly Pruned[];
}

/** Up to which position entries of an organization are gone. */
export interface Pruned {
  readonly orgId: string;
  readonly position: number;
}

export interface Missed {
  readonly entries: number;
  readonly bytes: number;
  /** Entries are among them that are no longer kept. */
  readonly isPruned: boolean;
}

/** Null is for all organizations. */
export type Orgs = readonly string[] | null;

/** What a process reads and delivers at once. */
export const PAGE_ROWS = 500;

/** What is kept for streams that are opened again. A busy organization reaches its limits earlier than the time. */
export const KEPT = { minutes: 15, rowsOfOrg: 10_000, bytesOfOrg: 8 * 1024 * 1024 } as const;

/** Whoever has missed more is better served by reading anew. It bounds those who see many organizations. */
const MOST_REPLAYED = { entries: 10_000, bytes: 16 * 1024 * 1024 } as const;

export const isTooMuch = ({ entries, bytes, isPruned }: Missed): boolean =>
  isPruned || entries > MOST_REPLAYED.entries || bytes > MOST_REPLAYED.bytes;

/** Rows that belong to no organization: changes of access, and events about accounts. Everybody reads them. */
export const NO_ORG = "00000000-0000-0000-0000-000000000000";

export const orgsOf = (access: Access | null): Orgs =>
  access?.isSuperuser ? null : [...(access?.orgRoles.keys() ?? [])];

/** Whether entries are gone that a reader has not got, who has everything up to the position. */
export const hasMissed = (pruned: readonly Pruned[], access: Access, after: number): boolean =>
  pruned.some(
    ({ orgId, position }) => position > after && (orgId === NO_ORG || access.isSuperuser || access.orgRoles.has(orgId)),
  );

/** The id of a frame, after which a stream can be resumed. */
export const cursorOf = ({ logId, position }: Head): string => `${logId}-${position}`;

/** Returns null for what is not an id that this server gives. */
export function parseCursor(text: string): Head | null {
  const [, logId = "", position = ""] = /^([0-9a-f]{8})-(\d{1,15})$/.exec(text) ?? [];
  return logId ? { logId, position: Number(position) } : null;
}

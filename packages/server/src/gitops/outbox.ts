export const SYNC_KIND = "gitops.sync";

/** As many repositories of one organization are written at once, so that a slow host does not take all that a worker can do. */
const LANES_OF_AN_ORGANIZATION = 3;

/** A cluster is always in the same lane: jobs of one lane run one at a time, so nobody else writes its repository. */
export const laneOf = (orgId: string, clusterId: string): string =>
  `gitops ${orgId} ${Number.parseInt(clusterId.slice(-4), 16) % LANES_OF_AN_ORGANIZATION}`;

/** A larger change is written as the whole state. */
export const MOST_CHANGE_BYTES = 4 * 1024 * 1024;

/** Of one organization. Beyond them the changes of a cluster become one commit of its state. */
const MOST_CHANGES = 5_000;
const MOST_CHANGES_BYTES = 64 * 1024 * 1024;

/** What waits for the repositories of an organization. */
export interface Held {
  readonly rows: number;
  readonly bytes: number;
}

export const isTooMuch = ({ rows, bytes }: Held): boolean => rows >= MOST_CHANGES || bytes >= MOST_CHANGES_BYTES;

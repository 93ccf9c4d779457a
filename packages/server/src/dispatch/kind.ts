import type { DesiredBodies, DesiredKind, Gone, OperatorFrames, Reports } from "@binnacle/contract";
import type { Selectable } from "kysely";
import type { DesiredResourceTable } from "../database/fleet-tables.ts";
import type { Queries, Tx } from "../database/transaction.ts";
import type { Announcement } from "../events/event.ts";

type Row = Selectable<DesiredResourceTable>;

/** A row that its cluster has not confirmed. */
export type PendingRow = Pick<
  Row,
  "cluster_id" | "kind" | "resource_id" | "key" | "generation" | "revision" | "removed_at"
> &
  /** Missing on rows that are sent again when a session begins: no change is behind those. */
  Partial<Pick<Row, "updated_at" | "traceparent">>;

/** A row as far as a report is compared with it. */
export type ReportedRow = Pick<Row, "kind" | "resource_id" | "key" | "generation" | "removed_at" | "acked_generation">;

export type StatusFrame = OperatorFrames["status"];

/** The file of a resource: where it is, and the object in it. */
export interface DesiredFile {
  readonly path: string;
  /** As in the custom resource of the operator. */
  readonly kind: string;
  readonly name: string;
  /** Null for what is in no namespace. */
  readonly namespace: string | null;
}

/** The file of what is in a project, by a key like `app/shop/web`. */
export function fileInProject(key: string, folder: string, kind: string): DesiredFile {
  const [, namespace = "", name = ""] = key.split("/");
  return { path: `projects/${namespace}/${folder}/${name}.yaml`, kind, name, namespace };
}

/** The file of what a project has one of, by a key like `project/shop`. */
export function fileOfProject(key: string, file: string, kind: string): DesiredFile {
  const [, name = ""] = key.split("/");
  return { path: `projects/${name}/${file}.yaml`, kind, name, namespace: null };
}

/** The result of all reports on one resource. */
export interface Outcome<T> {
  readonly row: ReportedRow;
  readonly before: T;
  /** The same object as `before` where the reports change nothing. */
  readonly after: T;
  /** The operator has confirmed the removal. */
  readonly isGone: boolean;
  /** The generation that the cluster has lost and must be sent again; null where it has lost none. */
  readonly lostGeneration: number | null;
}

/**
 * A kind of resource that is dispatched to clusters. Each slice exports one description of its kind, and the hub works
 * from the list of them. Methods are declared as methods, so that kinds with different records fit into one list.
 */
export interface DispatchedKind<K extends DesiredKind = DesiredKind, T = unknown> {
  readonly kind: K;

  /**
   * Reads everything that the bodies of these rows need, in a few statements for all of them. The function that it
   * returns makes the body of one row, and null where the record is gone. It throws a `Fault` when the resource can
   * never be sent as it is.
   */
  loadBodies(db: Queries, rows: readonly PendingRow[]): Promise<(row: PendingRow) => DesiredBodies[K] | null>;

  /** The file in which the resource is kept in a Git repository, by its key. */
  file(key: string): DesiredFile;

  /** The report that the hub makes itself about a resource that the cluster can never store. */
  rejected(message: string): Reports[K];

  /** Locks those of the records that belong to the cluster, in the order of their ids, and returns them by id. */
  lock(tx: Tx, clusterId: string, ids: readonly string[]): Promise<ReadonlyMap<string, T>>;

  /** The record after a report; the same object where the report changes nothing. */
  afterReport(before: T, generation: number, report: Exclude<Reports[K], Gone>, row: ReportedRow, now: Date): T;

  /** The record after the cluster has lost the resource although it is wanted. */
  afterLoss(before: T, now: Date): T;

  /** Whether the record may go when the cluster confirms that the resource is absent. */
  isDeleting(before: T): boolean;

  /** Stores what the reports changed, deletes the records that are gone, and returns what is announced. */
  store(tx: Tx, outcomes: readonly Outcome<T>[], now: Date): Promise<readonly Announcement[]>;

  /** Runs after the rows of the resources that are gone have been deleted, and returns what is announced. */
  afterRemoval?(tx: Tx, clusterId: string, gone: readonly T[], now: Date): Promise<readonly Announcement[]>;

  /** Brings the generation on the records in step with rows that were raised above what the cluster holds. */
  followGeneration?(tx: Tx, raised: readonly RaisedRow[]): Promise<void>;
}

export interface RaisedRow {
  readonly resource_id: string;
  readonly generation: number;
}

/**
 * Applies the reports on one resource in their order. An absence ends a removal only where it is reported for that
 * removal or a later one. For a resource that is wanted, an absence means that the cluster has lost what it had confirmed.
 */
export function outcomeOf<K extends DesiredKind, T>(
  kind: Pick<DispatchedKind<K, T>, "afterReport" | "afterLoss" | "isDeleting">,
  row: ReportedRow,
  before: T,
  frames: readonly Pick<StatusFrame, "generation" | "report">[],
  now: Date,
): Outcome<T> {
  let after = before;
  let lostGeneration: number | null = null;
  for (const { generation, report } of frames) {
    if (!isGoneReport(report)) {
      after = kind.afterReport(after, generation, report as Exclude<Reports[K], Gone>, row, now);
    } else if (row.removed_at !== null) {
      const isGone = generation >= row.generation && kind.isDeleting(before);
      if (isGone) return { row, before, after: before, isGone, lostGeneration: null };
    } else if (row.acked_generation !== null && row.acked_generation <= generation) {
      lostGeneration = generation;
      after = kind.afterLoss(after, now);
    }
  }
  return { row, before, after, isGone: false, lostGeneration };
}

const isGoneReport = (report: StatusFrame["report"]): report is Gone => "state" in report && report.state === "gone";

/** The outcomes that a kind stores: records that are gone, and outcomes that changed their record. */
export function divideOutcomes<T>(outcomes: readonly Outcome<T>[]) {
  return {
    gone: outcomes.filter(({ isGone }) => isGone).map(({ before }) => before),
    changed: outcomes.filter(({ before, after }) => after !== before),
  };
}

/** The announcement of a record that has been deleted. */
export const deletionOf = (announcement: Announcement): Announcement => ({ ...announcement, deleted: true });

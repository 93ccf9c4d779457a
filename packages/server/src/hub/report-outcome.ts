import type { DesiredKind, Gone, OperatorFrames, Reports } from "@binnacle/contract";
import type { Selectable } from "kysely";
import type { DesiredResourceTable } from "../database/fleet-tables.ts";

export type DesiredRow = Pick<
  Selectable<DesiredResourceTable>,
  "kind" | "resource_id" | "key" | "generation" | "removed_at" | "acked_generation"
>;
export type StatusFrame = OperatorFrames["status"];

/** How reports bring a resource on; each step gives the same value back where it changes nothing. */
export interface Steps<T, K extends DesiredKind> {
  seen(before: T, generation: number, report: Exclude<Reports[K], Gone>, row: DesiredRow): T;
  /** It was deleted on the cluster though it is wanted. */
  missing(before: T): T;
  /** Whether its record is on its way out: then it goes with the confirmed absence. */
  isLeaving(before: T): boolean;
}

/** What becomes of one resource by all that was reported on it. */
export interface Outcome<T> {
  readonly row: DesiredRow;
  readonly before: T;
  readonly after: T;
  /** Its removal is confirmed. */
  readonly isGone: boolean;
  /** The generation that the cluster has lost; it is to be told again. */
  readonly lostGeneration: number | null;
}

/**
 * Goes through the reports on one resource in their order. An absence ends a removal only where it is said of that
 * removal or a later one; of something that is wanted it says that the cluster has lost what it had confirmed to hold.
 */
export function outcomeOf<T, K extends DesiredKind>(
  row: DesiredRow,
  before: T,
  frames: readonly Pick<StatusFrame, "generation" | "report">[],
  steps: Steps<T, K>,
): Outcome<T> {
  let after = before;
  let lostGeneration: number | null = null;
  for (const { generation, report } of frames) {
    if (!isGoneReport(report)) {
      after = steps.seen(after, generation, report as Exclude<Reports[K], Gone>, row);
    } else if (row.removed_at !== null) {
      const isGone = generation >= row.generation && steps.isLeaving(before);
      if (isGone) return { row, before, after: before, isGone, lostGeneration: null };
    } else if (row.acked_generation !== null && row.acked_generation <= generation) {
      lostGeneration = generation;
      after = steps.missing(after);
    }
  }
  return { row, before, after, isGone: false, lostGeneration };
}

const isGoneReport = (report: StatusFrame["report"]): report is Gone => "state" in report && report.state === "gone";

export type Judge = <T, K extends DesiredKind>(kind: K, id: string, before: T, steps: Steps<T, K>) => Outcome<T>[];

/**
 * Brings the frames together with the rows that they are about. A frame whose key is not that of the row speaks of
 * something else, and a resource without a row is not this cluster's: both are passed over.
 */
export function judgeOf(rows: readonly DesiredRow[], frames: readonly StatusFrame[]): Judge {
  const nameOf = (key: string, id: string) => `${key} ${id}`;
  const rowsById = new Map(rows.map((row) => [nameOf(row.kind, row.resource_id), row]));
  const framesByName = Map.groupBy(frames, ({ key, resource_id }) => nameOf(key, resource_id));
  return (kind, id, before, steps) => {
    const row = rowsById.get(nameOf(kind, id));
    const about = row && framesByName.get(nameOf(row.key, id));
    return about ? [outcomeOf(row, before, about, steps)] : [];
  };
}

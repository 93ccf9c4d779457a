/** A table whose rows are kept by periods of time, in partitions that are made ahead of time and dropped whole. */
export interface PartitionedTable {
  readonly name: "audit_log" | "metric_samples";
  /** The column of the ranges, and its smallest value of a time, as text. */
  readonly column: string;
  readonly valueAt: (time: Date) => string;
  readonly period: Period;
  /** So many periods after the one that has begun have a partition. Rows of later ones go into the default partition. */
  readonly periodsAhead: number;
  /** The rows that were there before the table had partitions are kept with those of this much time after them. */
  readonly leadMs: number;
  /**
   * The same where they are so many that a constraint about them is proved in a transaction of its own. A release before, which proves
   * nothing, may then run with that constraint, and rows of after it are refused: that time must be far away.
   */
  readonly provedLeadMs: number;
  /** Whose totals are kept: those of a partition that is dropped are taken off. */
  readonly countedBy?: "org_id";
}

/** Names of partitions have the beginning of their period, in UTC: `2026_11` or `2026_11_19_14`. */
interface Period {
  readonly labelOf: (time: Date) => string;
  readonly next: (start: Date) => Date;
}

const HOUR_MS = 60 * 60_000;
const DAY_MS = 24 * HOUR_MS;

const labelOf = (time: Date, characters: number) => time.toISOString().slice(0, characters).replace(/[-T]/g, "_");

const MONTH: Period = {
  labelOf: (time) => labelOf(time, "2026-11".length),
  next: (start) => new Date(Date.UTC(start.getUTCFullYear(), start.getUTCMonth() + 1)),
};
const HOUR: Period = {
  labelOf: (time) => labelOf(time, "2026-11-19T14".length),
  next: (start) => new Date(start.getTime() + HOUR_MS),
};

function startOfLabel(label: string): Date {
  const [year = 0, month = 1, day = 1, hour = 0] = label.split("_").map(Number);
  return new Date(Date.UTC(year, month - 1, day, hour));
}

/** Ids grow with time: with no other bits than those of the time, this is the smallest of it. */
export const smallestId = (at: Date): string =>
  `${Math.max(0, at.getTime())
    .toString(16)
    .padStart(12, "0")
    .replace(/^(.{8})/, "$1-")}-0000-0000-000000000000`;

export const AUDIT_LOG: PartitionedTable = {
  ...{ name: "audit_log", column: "id", valueAt: smallestId, countedBy: "org_id" },
  ...{ period: MONTH, periodsAhead: 4, leadMs: 30 * DAY_MS, provedLeadMs: 730 * DAY_MS },
};

export const METRIC_SAMPLES: PartitionedTable = {
  ...{ name: "metric_samples", column: "at", valueAt: (at) => at.toISOString() },
  ...{ period: HOUR, periodsAhead: 12, leadMs: DAY_MS, provedLeadMs: 30 * DAY_MS },
};

/** A range of values from the beginning of a period on. */
export interface Range {
  readonly partition: string;
  /** Null where it has everything before its end. */
  readonly start: Date | null;
  readonly end: Date;
}

export const defaultPartition = ({ name }: PartitionedTable): string => `${name}_default`;

/** The rows from before the table had partitions, and those until the end. */
const rangeBefore = ({ name, period }: PartitionedTable, end: Date): Range => ({
  ...{ partition: `${name}_before_${period.labelOf(end)}`, start: null, end },
});

function rangeOf({ name, period }: PartitionedTable, time: Date): Range {
  const label = period.labelOf(time);
  const start = startOfLabel(label);
  return { partition: `${name}_${label}`, start, end: period.next(start) };
}

/** The range that a name of a partition says; null of the default partition. */
export function rangeNamed(table: PartitionedTable, partition: string): Range | null {
  const [, before, label] = /^_(before_)?(\d{4}(?:_\d\d){1,3})$/.exec(partition.slice(table.name.length)) ?? [];
  if (!label) return null;
  const start = startOfLabel(label);
  return before ? rangeBefore(table, start) : rangeOf(table, start);
}

/** The table that has or had a partition of this name, in whatever database. */
export const tableOfPartition = (partition: string): PartitionedTable | undefined =>
  [AUDIT_LOG, METRIC_SAMPLES].find(
    (table) => partition === defaultPartition(table) || rangeNamed(table, partition)?.partition === partition,
  );

/** Where the rows so far end: at the beginning of the first period that is far enough away. */
export function firstRange(table: PartitionedTable, now: Date, leadMs = table.leadMs): Range {
  const { end } = rangeOf(table, new Date(now.getTime() + leadMs));
  return rangeBefore(table, end);
}

/** Half of the time is left until rows of a later period would be refused where the rows so far are to end. */
export const isFarEnough = ({ provedLeadMs }: PartitionedTable, { end }: Range, now: Date): boolean =>
  end.getTime() - now.getTime() >= provedLeadMs / 2;

/** The ranges that are to have a partition and have none: the period that has begun, and those after it. */
export function missingRanges(table: PartitionedTable, partitions: readonly string[], now: Date): Range[] {
  const present = partitions.flatMap((name) => rangeNamed(table, name) ?? []);
  const wanted = [rangeOf(table, now)];
  for (let count = 0; count < table.periodsAhead; count += 1) wanted.push(rangeOf(table, (wanted.at(-1) as Range).end));
  return wanted.filter(({ start }) => !present.some((other) => overlaps(other, start as Date)));
}

const overlaps = ({ start, end }: Range, time: Date) => time < end && (start === null || time >= start);

/** The partitions of which every row is older than the time. */
export const obsoletePartitions = (table: PartitionedTable, partitions: readonly string[], before: Date): string[] =>
  partitions.filter((name) => (rangeNamed(table, name)?.end ?? new Date(8.64e15)) <= before);

/** The partitions whose rows are of no one period, and so are deleted one by one. */
export const partitionsOfManyPeriods = (table: PartitionedTable, partitions: readonly string[]): string[] =>
  partitions.filter((name) => (rangeNamed(table, name)?.start ?? null) === null);

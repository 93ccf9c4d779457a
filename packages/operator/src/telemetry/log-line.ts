/** A line as a container has written it. */
export interface TimedLine {
  /** In UTC with nine digits of a second, so that texts compare as times do. */
  readonly instant: string;
  readonly text: string;
}

/** Lines are for people to read; of a longer one the beginning is enough. */
export const LONGEST_LINE = 16 * 1024;

const STAMP = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9})\d*)?(Z|[+-]\d\d:\d\d)(?: |$)/;

/** Null where no time stands before it. */
export function timedLineOf(raw: string): TimedLine | null {
  const [stamp, local, fraction = "", zone] = STAMP.exec(raw) ?? [];
  if (stamp === undefined) return null;
  const ms = Date.parse(`${local}${zone}`);
  if (Number.isNaN(ms)) return null;
  const second = new Date(ms).toISOString().slice(0, SECOND_LENGTH);
  return { instant: `${second}.${fraction.padEnd(9, "0")}Z`, text: raw.slice(stamp.length) };
}

const SECOND_LENGTH = "2026-01-31T09:30:00".length;
const MILLISECOND_LENGTH = SECOND_LENGTH + ".000".length;

/** The second that an instant is in, as Kubernetes takes it. */
export const secondOf = (instant: string): string => `${instant.slice(0, SECOND_LENGTH)}Z`;

export const instantAt = (ms: number): string => `${new Date(ms).toISOString().slice(0, MILLISECOND_LENGTH)}000000Z`;

/** A time as all of Binnacle writes it. */
export const timeOf = (instant: string): string => `${instant.slice(0, MILLISECOND_LENGTH)}Z`;

/** Not within a character that takes two places. */
export function shortened(text: string): string {
  return text.length > LONGEST_LINE ? `${text.slice(0, LONGEST_LINE - 1).replace(/[\uD800-\uDBFF]$/, "")}…` : text;
}

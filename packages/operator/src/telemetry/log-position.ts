/** The parameters of a log request. */
export interface Asking {
  /** Kubernetes knows whole seconds only. */
  readonly sinceTime?: string;
  readonly tailLines?: number;
  /** The log of the run before the current one. */
  readonly previous?: boolean;
}

/** How far the log of a container was read, over as many connections as it takes. */
export interface LogPosition {
  /** Begins a connection, and says what to ask for: at first what is wanted, later what may have been missed. */
  open(): Asking;
  /** The log was there, though perhaps without a line. */
  answered(): void;
  /** Null for a line that was sent before. */
  take(raw: string): TimedLine | null;
}

export interface PositionOptions {
  readonly first: Asking;
  /** Where the log was there and no line came. */
  readonly again?: Asking;
  readonly nowMs: () => number;
}

/** Of a log that writes more than this in a second, older ones are known by their time alone. */
const MOST_REMEMBERED = 5_000;

/** Times have nanoseconds, so the beginning of a line tells it from others. */
const TOLD_APART_BY = 100;

export function createLogPosition({ first, again = first, nowMs }: PositionOptions): LogPosition {
  let isAnswered = false;
  let last: string | null = null;
  /** The lines of the last second, oldest first: these come again. */
  let seen = new Map<string, number>();
  let forgottenUpTo = "";
  let replayed: Map<string, number> | null = null;
  let replaySecond = "";
  let lastUntimed: string | null = null;
  let isCutOff = false;

  function isHadBefore({ instant }: TimedLine, key: string): boolean {
    if (!replayed) return false;
    const second = secondOf(instant);
    if (second > replaySecond) {
      replayed = null;
      return false;
    }
    const count = replayed.get(key) ?? 0;
    if (count > 0) replayed.set(key, count - 1);
    return count > 0 || second < replaySecond || instant <= forgottenUpTo;
  }

  function remember({ instant }: TimedLine, key: string): void {
    if (last === null || secondOf(instant) > secondOf(last)) {
      seen = new Map();
      forgottenUpTo = "";
    } else if (secondOf(instant) < secondOf(last)) return;
    if (last === null || instant > last) last = instant;
    seen.set(key, (seen.get(key) ?? 0) + 1);
    const [oldest] = seen.keys();
    if (seen.size <= MOST_REMEMBERED || oldest === undefined) return;
    seen.delete(oldest);
    const time = oldest.slice(0, instant.length);
    if (time > forgottenUpTo) forgottenUpTo = time;
  }

  /** A message of the node instead of the log, or the rest of a line that came in pieces. */
  function untimed(raw: string): TimedLine | null {
    if (isCutOff || raw === lastUntimed) return null;
    lastUntimed = raw;
    return { instant: instantAt(nowMs()), text: shortened(raw) };
  }

  return {
    open() {
      isCutOff = false;
      if (last === null) return isAnswered ? again : first;
      replayed = new Map(seen);
      replaySecond = secondOf(last);
      return { sinceTime: replaySecond, ...(first.previous ? { previous: true } : {}) };
    },

    answered() {
      isAnswered = true;
    },

    take(raw) {
      const line = timedLineOf(raw);
      if (!line) return untimed(raw);
      isCutOff = line.text.length > LONGEST_LINE;
      const key = `${line.instant}${line.text.slice(0, TOLD_APART_BY)}`;
      if (isHadBefore(line, key)) return null;
      remember(line, key);
      return { instant: line.instant, text: shortened(line.text) };
    },
  };
}

/** A line as a container has written it. */
export interface TimedLine {
  /** In UTC with nine digits of a second, so that texts compare as times do. */
  readonly instant: string;
  readonly text: string;
}

/** Lines are for people to read; of a longer one the beginning is enough. */
const LONGEST_LINE = 16 * 1024;

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

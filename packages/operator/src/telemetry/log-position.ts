import { instantAt, LONGEST_LINE, secondOf, shortened, type TimedLine, timedLineOf } from "./log-line.ts";

/** What a log is asked for. */
export interface Asking {
  /** Kubernetes knows whole seconds only. */
  readonly sinceTime?: string;
  readonly tailLines?: number;
}

/** How far the log of a container was read, over as many connections as it takes. */
export interface LogPosition {
  /** Begins a connection, and says what to ask for: at first what is wanted, later what may have been missed. */
  open(): Asking;
  /** The log was there, though perhaps without a line. */
  answered(): void;
  /** Null for what was had before. */
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

  /** What the node says in the log's place, or the rest of a line that came in pieces. */
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
      return { sinceTime: replaySecond };
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

/** A schedule of five fields or a macro, in UTC. */
export interface Schedule {
  readonly minutes: ReadonlySet<number>;
  readonly hours: ReadonlySet<number>;
  readonly days: ReadonlySet<number>;
  readonly months: ReadonlySet<number>;
  readonly weekdays: ReadonlySet<number>;
  /** With both a day of the month and one of the week, either of them is enough. */
  readonly isEitherDay: boolean;
}

const MACROS: Readonly<Record<string, string>> = {
  "@yearly": "0 0 1 1 *",
  "@annually": "0 0 1 1 *",
  "@monthly": "0 0 1 * *",
  "@weekly": "0 0 * * 0",
  "@daily": "0 0 * * *",
  "@midnight": "0 0 * * *",
  "@hourly": "0 * * * *",
};

const MONTHS = ["", "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const WEEKDAYS = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];
const PART = /^(\*|\?|[a-z0-9]+)(?:-([a-z0-9]+))?(?:\/(\d+))?$/;

/** Null for what is not a schedule. */
export function scheduleOf(text: string): Schedule | null {
  const trimmed = text.trim().toLowerCase();
  const fields = (MACROS[trimmed] ?? trimmed).split(/\s+/);
  const [minute = "", hour = "", day = "", month = "", weekday = ""] = fields;
  if (fields.length !== 5) return null;
  const minutes = numbersOf(minute, 0, 59);
  const hours = numbersOf(hour, 0, 23);
  const days = numbersOf(day, 1, 31);
  const months = numbersOf(month, 1, 12, MONTHS);
  const weekdays = numbersOf(weekday, 0, 7, WEEKDAYS);
  if (!minutes || !hours || !days || !months || !weekdays) return null;
  // Sunday is both the first and the last day.
  if (weekdays.has(7)) weekdays.add(0);
  const isEitherDay = !/^[*?]/.test(day) && !/^[*?]/.test(weekday);
  return { minutes, hours, days, months, weekdays, isEitherDay };
}

function numbersOf(field: string, least: number, most: number, names: readonly string[] = []): Set<number> | null {
  const numbers = new Set<number>();
  for (const part of field.split(",")) {
    const [, from = "", to, step = "1"] = PART.exec(part) ?? [];
    const isAll = from === "*" || from === "?";
    const first = isAll ? least : numberIn(from, names);
    // A step behind a single number goes on to the end.
    const last =
      isAll || (to === undefined && part.includes("/")) ? most : to === undefined ? first : numberIn(to, names);
    const every = Number(step);
    if (!(first >= least && last <= most && first <= last && every > 0)) return null;
    for (let number = first; number <= last; number += every) numbers.add(number);
  }
  return numbers;
}

const numberIn = (text: string, names: readonly string[]): number =>
  names.includes(text) && text !== "" ? names.indexOf(text) : /^\d+$/.test(text) ? Number(text) : Number.NaN;

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
/** Longer than from one 29th of February to the next, across a century that has none. */
const LONGEST_DAYS = 9 * 366;

/** The first time after this one; null for a date that never comes, as the 30th of February. */
export function nextRunMs(schedule: Schedule, afterMs: number): number | null {
  const startMs = Math.floor(afterMs / MINUTE_MS) * MINUTE_MS + MINUTE_MS;
  const firstDayMs = Math.floor(startMs / DAY_MS) * DAY_MS;
  for (let day = 0; day <= LONGEST_DAYS; day++) {
    const dayMs = firstDayMs + day * DAY_MS;
    if (!isDay(schedule, dayMs)) continue;
    const found = timesOf(schedule, dayMs).find((ms) => ms >= startMs);
    if (found !== undefined) return found;
  }
  return null;
}

/** The last time up to and including this one, but after the other; null when there was none. */
export function lastRunMs(schedule: Schedule, untilMs: number, afterMs: number): number | null {
  for (let dayMs = Math.floor(untilMs / DAY_MS) * DAY_MS; dayMs > afterMs - DAY_MS; dayMs -= DAY_MS) {
    if (!isDay(schedule, dayMs)) continue;
    const found = timesOf(schedule, dayMs).findLast((ms) => ms <= untilMs);
    if (found !== undefined) return found > afterMs ? found : null;
  }
  return null;
}

function isDay({ days, months, weekdays, isEitherDay }: Schedule, dayMs: number): boolean {
  const date = new Date(dayMs);
  const isMonthDay = days.has(date.getUTCDate());
  const isWeekday = weekdays.has(date.getUTCDay());
  return months.has(date.getUTCMonth() + 1) && (isEitherDay ? isMonthDay || isWeekday : isMonthDay && isWeekday);
}

const timesOf = ({ hours, minutes }: Schedule, dayMs: number): number[] =>
  ascending(hours).flatMap((hour) => ascending(minutes).map((minute) => dayMs + (hour * 60 + minute) * MINUTE_MS));

const ascending = (numbers: ReadonlySet<number>): number[] => [...numbers].sort((a, b) => a - b);

/** Texts of a workload whose syntax a pattern of the contract cannot express in linear time. */

const PATH_PART = /^[a-z0-9]+(?:(?:\.|__?|-+)[a-z0-9]+)*$/;
const DOMAIN =
  /^(?:[A-Za-z0-9]+(?:-+[A-Za-z0-9]+)*(?:\.[A-Za-z0-9]+(?:-+[A-Za-z0-9]+)*)*|\[[0-9A-Fa-f:]+\])(?::[0-9]{1,5})?$/;
const TAG = /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$/;
const DIGEST = /^[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9A-Fa-f]{32,}$/;

/**
 * Follows the grammar that container runtimes use: `registry.example.com:5000/team/app:1.2@sha256:…`. The first part is a
 * registry only if it has a dot or a port or is `localhost`.
 */
export function isImageReference(text: string): boolean {
  const [named = "", digest, ...more] = text.split("@");
  if (more.length > 0 || (digest !== undefined && !DIGEST.test(digest))) return false;
  const colon = named.indexOf(":", named.lastIndexOf("/") + 1);
  if (colon !== -1 && !TAG.test(named.slice(colon + 1))) return false;
  const parts = (colon === -1 ? named : named.slice(0, colon)).split("/");
  const [first = "", ...rest] = parts;
  const hasRegistry = rest.length > 0 && (/[.:]/.test(first) || first === "localhost");
  return (!hasRegistry || DOMAIN.test(first)) && (hasRegistry ? rest : parts).every((part) => PATH_PART.test(part));
}

interface CronField {
  readonly name: string;
  readonly least: number;
  readonly most: number;
  readonly words: readonly string[];
}

const MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const WEEKDAYS = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];

const CRON_FIELDS: readonly CronField[] = [
  { name: "minute", least: 0, most: 59, words: [] },
  { name: "hour", least: 0, most: 23, words: [] },
  { name: "day of the month", least: 1, most: 31, words: [] },
  { name: "month", least: 1, most: 12, words: MONTHS },
  { name: "day of the week", least: 0, most: 6, words: WEEKDAYS },
];

/** Returns why Kubernetes would refuse the schedule, or null. Shortcuts such as `@daily` are checked by their pattern. */
export function scheduleProblem(schedule: string): string | null {
  if (schedule.startsWith("@")) return null;
  const fields = schedule.trim().split(/ +/);
  if (fields.length !== CRON_FIELDS.length) return "A schedule has five fields: minute, hour, day, month and weekday";
  const broken = CRON_FIELDS.find((field, index) => !(fields[index] ?? "").split(",").every(isWithin(field)));
  if (!broken) return null;
  const { name, least, most } = broken;
  return `The ${name} of a schedule is *, a number from ${least} to ${most}, a range such as ${least}-${most}, or a list of them, each with a step such as /2`;
}

const isWithin =
  ({ least, most, words }: CronField) =>
  (range: string): boolean => {
    const [bounds = "", step, ...more] = range.split("/");
    if (more.length > 0 || (step !== undefined && !/^0*[1-9][0-9]{0,4}$/.test(step))) return false;
    if (bounds === "*" || bounds === "?") return true;
    const [from = Number.NaN, to = from, ...further] = bounds.split("-").map((text) => {
      const word = words.indexOf(text.toLowerCase());
      if (word !== -1) return word + least;
      return /^[0-9]{1,2}$/.test(text) ? Number(text) : Number.NaN;
    });
    return further.length === 0 && least <= from && from <= to && to <= most;
  };

import type { AuditEntry } from "@binnacle/client";
import type { Search } from "../search.ts";

export interface AuditFilter {
  readonly action?: string;
  readonly actor_id?: string;
  readonly resource_type?: string;
  readonly resource_id?: string;
  readonly since?: string;
  readonly until?: string;
}

const ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** The filter of the address. A value that the API would refuse is left out, because an address may come from anywhere. */
export function auditFilter(search: Search): AuditFilter {
  const { action, actor, type, object, since, until } = search;
  return {
    ...(action && /^[a-z_.]{1,100}$/.test(action) ? { action } : {}),
    ...(actor && ID.test(actor) ? { actor_id: actor } : {}),
    ...(type && /^[a-z_]{1,50}$/.test(type) ? { resource_type: type } : {}),
    ...(object && ID.test(object) ? { resource_id: object } : {}),
    ...(isTime(since) ? { since } : {}),
    ...(isTime(until) ? { until } : {}),
  };
}

const isTime = (text: string | undefined): text is string =>
  text !== undefined && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(text) && !Number.isNaN(Date.parse(text));

/** The value of an `<input type="datetime-local">` as a time of the API, and back. Both are of the same zone as the browser. */
export function timeOfInput(text: string): string | undefined {
  const time = new Date(text);
  return text === "" || Number.isNaN(time.getTime()) ? undefined : time.toISOString();
}

export function inputOfTime(time: string | undefined): string {
  if (!isTime(time)) return "";
  const at = new Date(time);
  const two = (number: number) => String(number).padStart(2, "0");
  const day = `${String(at.getFullYear()).padStart(4, "0")}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
  return `${day}T${two(at.getHours())}:${two(at.getMinutes())}`;
}

const COLUMNS: readonly (readonly [string, (entry: AuditEntry) => string | null])[] = [
  ["at", ({ at }) => at],
  ["actor", ({ actor }) => actor.email],
  ["actor_id", ({ actor }) => actor.id],
  ["via", ({ via }) => via],
  ["source_address", ({ source_address }) => source_address],
  ["action", ({ action }) => action],
  ["resource_type", ({ resource }) => resource.type],
  ["resource_id", ({ resource }) => resource.id],
  ["resource_name", ({ resource }) => resource.name],
  ["summary", ({ summary }) => summary],
  ["changes", ({ changes }) => JSON.stringify(changes)],
  ["request_id", ({ request_id }) => request_id],
  ["id", ({ id }) => id],
];

/** The entries as CSV (RFC 4180), with a header. */
export function csvOf(entries: readonly AuditEntry[]): string {
  const rows = entries.map((entry) => COLUMNS.map(([, read]) => csvCell(read(entry) ?? "")).join(","));
  return [COLUMNS.map(([name]) => name).join(","), ...rows, ""].join("\r\n");
}

/**
 * A spreadsheet runs a cell that begins like a formula, and names in the log come from anybody. An apostrophe makes it text.
 * Spreadsheets look past spaces and line breaks at the beginning, and take full-width signs for the usual ones.
 */
export function csvCell(text: string): string {
  const isFormula = /^[\s\p{Cc}]*[=+\-@＝＋－＠]/u.test(text) || /^[\t\r\n]/.test(text);
  return `"${(isFormula ? `'${text}` : text).replaceAll('"', '""')}"`;
}

export const jsonOf = (entries: readonly AuditEntry[]): string => `${JSON.stringify(entries, null, 2)}\n`;

export interface Change {
  readonly field: string;
  /** Undefined for what is not a change of a value. */
  readonly before: unknown;
  readonly after: unknown;
}

/** What an entry says by field, in the order of the fields: both values of what has changed, and otherwise what there is to tell. */
export const changesOf = ({ changes }: Pick<AuditEntry, "changes">): readonly Change[] =>
  Object.entries(changes)
    .map(([field, value]) =>
      isPair(value) ? { field, before: value.before, after: value.after } : { field, before: undefined, after: value },
    )
    .toSorted((a, b) => (a.field < b.field ? -1 : 1));

const isPair = (value: unknown): value is { readonly before: unknown; readonly after: unknown } =>
  typeof value === "object" && value !== null && Object.keys(value).toSorted().join() === "after,before";

/** The action in words: `stack_template.delete` reads "stack template: delete". */
export const actionText = (action: string): string => action.replace(".", ": ").replaceAll("_", " ");

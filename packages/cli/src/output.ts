import Table from "cli-table3";
import { query } from "jsonpath-rfc9535";
import type { createColors } from "picocolors";
import { stringify } from "yaml";
import { CliError, printable } from "./host.ts";

export type Colors = ReturnType<typeof createColors>;
export type Tone = "good" | "warn" | "bad" | "dim";
export type Cell = string | { readonly text: string; readonly tone: Tone };

/** A column of rows of one type, so that a field that is renamed does not compile. */
export interface Column<T> {
  readonly title: string;
  readonly of: (row: T, nowMs: number) => Cell | null | undefined;
  /** Only with `-o wide`, and where a single resource is shown. */
  readonly isWide?: boolean;
}

/** How a resource is shown to people, and what names it in another command. */
export interface View<T> {
  readonly columns: readonly Column<T>[];
  readonly nameOf: (row: T) => string;
}

export type Format =
  | { readonly kind: "table" | "wide" | "json" | "yaml" | "name" }
  | { readonly kind: "jsonpath"; readonly path: string };

export const FORMATS = "table|wide|json|yaml|name|jsonpath=<path>";

export function parseFormat(text: string): Format {
  if (text.startsWith("jsonpath=")) return { kind: "jsonpath", path: pathOf(text.slice("jsonpath=".length)) };
  if (text === "table" || text === "wide" || text === "json" || text === "yaml" || text === "name")
    return { kind: text };
  throw new CliError(`"${text}" is not an output format. Use ${FORMATS}.`);
}

/** Takes the spelling of kubectl too: `{.data[*].name}` is `$.data[*].name`. */
function pathOf(text: string): string {
  const inner = /^\{(.*)\}$/s.exec(text.trim())?.[1] ?? text.trim();
  const path = inner.startsWith("$") ? inner : `$${inner.startsWith(".") || inner.startsWith("[") ? "" : "."}${inner}`;
  try {
    query(null, path);
  } catch {
    throw new CliError(`"${text}" is not a JSON path. Write it as $.data[*].name or {.data[*].name}.`);
  }
  return path;
}

export interface Style {
  readonly colors: Colors;
  readonly columns: number;
  readonly nowMs: number;
}

/** What is printed for one resource or a list of them: `body` is the API's own shape, and `rows` are its resources. */
export interface Shown<T> {
  readonly body: unknown;
  readonly rows: readonly T[];
  readonly isList: boolean;
}

export function rendered<T>(view: View<T> | null, shown: Shown<T>, format: Format, style: Style): string {
  switch (format.kind) {
    case "json":
      return `${JSON.stringify(shown.body, null, 2)}\n`;
    case "yaml":
      return stringify(shown.body);
    case "name":
      return shown.rows.map((row) => `${printable(view ? view.nameOf(row) : nameIn(row))}\n`).join("");
    case "jsonpath":
      return (query(shown.body as never, format.path) as readonly unknown[])
        .map((value) => `${style.columns > 0 ? printable(plain(value), { lines: true }) : plain(value)}\n`)
        .join("");
    case "table":
    case "wide":
      if (!view) return printable(stringify(shown.body), { lines: true });
      return shown.isList
        ? table(view, shown.rows, format.kind === "wide", style)
        : shown.rows.map((row) => details(view, row, style)).join("");
  }
}

const plain = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value));
const nameIn = (row: unknown): string => {
  const { name, id = "" } = (row ?? {}) as { readonly name?: string; readonly id?: string };
  return name ?? id;
};

const NOTHING = "–";
const cellText = (cell: Cell | null | undefined): string => {
  const text = typeof cell === "object" && cell !== null ? cell.text : cell;
  return text === undefined || text === null || text === "" ? NOTHING : printable(text.replace(/\s*\n\s*/g, " "));
};

export function painted(colors: Colors, cell: Cell | null | undefined, text = cellText(cell)): string {
  if (typeof cell !== "object" || cell === null) return text === NOTHING ? colors.dim(text) : text;
  const paint = { good: colors.green, warn: colors.yellow, bad: colors.red, dim: colors.dim }[cell.tone];
  return paint(text);
}

const GAP = 2;
/** What is no longer than this is not cut. */
const NARROWEST = 10;

function table<T>(view: View<T>, rows: readonly T[], isWide: boolean, style: Style): string {
  const columns = shownColumns(view, rows, isWide, style);
  const cells = rows.map((row) => columns.map((column) => column.of(row, style.nowMs)));
  const natural = columns.map(({ title }, index) => ({
    title,
    width: Math.max(title.length, ...cells.map((line) => widthOf(cellText(line[index])))),
  }));
  const widths = fitted(natural, style.columns);
  const left = columns.slice(widths.length).map(({ title }) => title);
  return `${borderless(
    [
      widths.map((width, index) => style.colors.dim(cut(columns[index]?.title ?? "", width))),
      ...cells.map((line) =>
        widths.map((width, index) => painted(style.colors, line[index], cut(cellText(line[index]), width))),
      ),
    ],
    widths,
  )}${left.length > 0 ? `${style.colors.dim(cut(`(no room for: ${left.join(", ")})`, style.columns))}\n` : ""}`;
}

/** Where there is no room for all columns, those without a value give way first. */
function shownColumns<T>(view: View<T>, rows: readonly T[], isWide: boolean, style: Style): readonly Column<T>[] {
  const columns = view.columns.filter((column) => isWide || !column.isWide);
  const texts = columns.map((column) => rows.map((row) => cellText(column.of(row, style.nowMs))));
  const natural = columns.map(({ title }, index) => Math.max(title.length, ...(texts[index] ?? []).map(widthOf)));
  if (style.columns <= 0 || totalOf(natural) <= style.columns) return columns;
  return columns.filter((_, index) => index === 0 || texts[index]?.some((text) => text !== NOTHING));
}

/** Title and value, a line each. */
function details<T>(view: View<T>, row: T, { colors, nowMs }: Style): string {
  const lines = view.columns.map((column) => [column.title, column.of(row, nowMs)] as const);
  const titles = Math.max(...lines.map(([title]) => title.length)) + GAP;
  return lines.map(([title, cell]) => `${colors.dim(title.padEnd(titles))}${painted(colors, cell)}\n`).join("");
}

/** A table without lines; widths hold the gap between columns, and what is longer is cut. */
function borderless(lines: readonly (readonly string[])[], widths: readonly number[]): string {
  const chars = Object.fromEntries(
    [
      "top",
      "top-mid",
      "top-left",
      "top-right",
      "bottom",
      "bottom-mid",
      "bottom-left",
      "bottom-right",
      "left",
      "left-mid",
      "mid",
      "mid-mid",
      "right",
      "right-mid",
      "middle",
    ].map((name) => [name, ""]),
  );
  const made = new Table({
    chars,
    colWidths: widths.map((width) => width + GAP),
    style: { "padding-left": 0, "padding-right": GAP, head: [], border: [] },
  });
  made.push(...lines.map((line) => Array.from(line)));
  return `${made
    .toString()
    .split("\n")
    .map((line) => line.trimEnd())
    .join("\n")}\n`;
}

/** Cut before it is painted, so that no colour is left on. */
const cut = (text: string, width: number): string =>
  widthOf(text) <= width
    ? text
    : `${Array.from(text)
        .slice(0, width - 1)
        .join("")}…`;

const widthOf = (text: string): number => Array.from(text).length;

/** Columns that are of no use when they are cut. */
const WHOLE = /\b(NAME|ID|TIME|POD|RUN|FIELD)$/;

/**
 * The widths of the columns that fit, from the left; 0 columns mean no limit. Names, times and ids are whole, and so is what is short.
 * Texts give way from the right; where that does not suffice, the last columns are left out.
 */
export function fitted(
  natural: readonly { readonly title: string; readonly width: number }[],
  columns: number,
): number[] {
  if (columns <= 0) return natural.map(({ width }) => width);
  const least = natural.map(({ title, width }, index) =>
    index === 0 || WHOLE.test(title) ? width : Math.min(width, Math.max(title.length, NARROWEST)),
  );
  let count = least.length;
  while (count > 1 && totalOf(least.slice(0, count)) > columns) count--;
  const widths = least.slice(0, count);
  let room = columns - totalOf(widths);
  for (const [index, width] of widths.entries()) {
    const more = Math.max(0, Math.min(room, (natural[index]?.width ?? width) - width));
    widths[index] = width + more;
    room -= more;
  }
  return widths;
}

/** No gap stands behind the last column. */
const totalOf = (widths: readonly number[]): number => widths.reduce((sum, width) => sum + width + GAP, -GAP);

const SPARKS = Array.from("▁▂▃▄▅▆▇█");

/** Values as blocks, the newest at the right, from 0 to the greatest. */
export function sparkline(values: readonly number[], width: number): string {
  const shown = values.slice(-Math.max(1, width));
  const most = Math.max(...shown, 0);
  return shown
    .map(
      (value) =>
        SPARKS[most === 0 ? 0 : Math.min(SPARKS.length - 1, Math.floor((value / most) * SPARKS.length))] ?? "▁",
    )
    .join("");
}

const UNITS = ["", "Ki", "Mi", "Gi", "Ti", "Pi"];

export function quantity(value: number, unit: string): string {
  if (unit !== "bytes") return `${Number(value.toPrecision(3))}${unit === "cores" ? "" : ` ${unit}`}`;
  const power = value < 1024 ? 0 : Math.min(UNITS.length - 1, Math.floor(Math.log2(value) / 10));
  return `${Number((value / 1024 ** power).toPrecision(3))} ${UNITS[power]}B`;
}

/** How long ago, in one unit. */
export function ago(time: string | null | undefined, nowMs: number): string | null {
  if (!time) return null;
  const seconds = Math.max(0, Math.round((nowMs - Date.parse(time)) / 1000));
  if (seconds < 120) return `${seconds}s`;
  if (seconds < 7200) return `${Math.floor(seconds / 60)}m`;
  if (seconds < 172_800) return `${Math.floor(seconds / 3600)}h`;
  return `${Math.floor(seconds / 86_400)}d`;
}

const GOOD = new Set(["running", "connected", "ready", "succeeded", "completed", "in_sync", "admin"]);
const WARN = new Set([
  "pending",
  "deploying",
  "waiting",
  "provisioning",
  "awaiting_operator",
  "installing",
  "upgrading",
  "paused",
  "degraded",
  "drifted",
  "started",
]);
const BAD = new Set(["failed", "invalid", "disconnected", "install_failed", "error", "blocked_sync"]);

export function state(value: unknown): Cell {
  const text = typeof value === "string" ? value : "";
  const tone = GOOD.has(text) ? "good" : BAD.has(text) ? "bad" : WARN.has(text) ? "warn" : null;
  return tone && text !== "admin" ? { text, tone } : text;
}

type With<K extends string, V = unknown> = { readonly [P in K]: V };

/** Shows a field as it is; a list with commas. */
export const column = <K extends string>(title: string, key: K, isWide = false): Column<With<K>> => ({
  title,
  isWide,
  of: ({ [key]: value }) =>
    Array.isArray(value) ? value.join(",") : value === null || value === undefined ? null : String(value),
});

export const stateColumn = <K extends string>(title: string, key: K): Column<With<K>> => ({
  title,
  of: ({ [key]: value }) => state(value),
});

export const ageColumn = <K extends string>(title: string, key: K, isWide = false): Column<With<K, string | null>> => ({
  title,
  isWide,
  of: ({ [key]: time }, nowMs) => ago(time, nowMs),
});

export const view = <T>(nameOf: (keyof T & string) | ((row: T) => string), ...columns: Column<T>[]): View<T> => ({
  columns,
  nameOf: typeof nameOf === "string" ? (row) => String(row[nameOf] ?? "") : nameOf,
});

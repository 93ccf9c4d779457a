import Table from "cli-table3";
import { query } from "jsonpath-rfc9535";
import type { createColors } from "picocolors";
import { stringify } from "yaml";
import { CliError, printable } from "./host.ts";

export type Colors = ReturnType<typeof createColors>;
export type Tone = "good" | "warn" | "bad" | "dim";
export type Cell = string | { readonly text: string; readonly tone: Tone };

// A column is written for the rows of one operation, and the server has checked them against its schema.
// biome-ignore lint/suspicious/noExplicitAny: See above.
export type Row = any; // oxlint-disable-line typescript/no-explicit-any

export interface Column {
  readonly title: string;
  of(row: Row, nowMs: number): Cell | null | undefined;
  /** Only with `-o wide`, and where a single resource is shown. */
  readonly isWide?: boolean;
}

/** How a resource is shown to people, and what names it in another command. */
export interface View {
  readonly columns: readonly Column[];
  nameOf(row: Row): string;
}

export type Format =
  | { readonly kind: "table" | "wide" | "json" | "yaml" | "name" }
  | { readonly kind: "jsonpath"; readonly path: string };

export const FORMATS = "table|wide|json|yaml|name|jsonpath=<path>";

export function parseFormat(text: string): Format {
  if (text.startsWith("jsonpath=")) return { kind: "jsonpath", path: pathOf(text.slice("jsonpath=".length)) };
  if (text === "table" || text === "wide" || text === "json" || text === "yaml" || text === "name")
    return { kind: text };
  throw new CliError(`"${text}" is no output format. Use ${FORMATS}.`);
}

/** Takes the spelling of kubectl too: `{.data[*].name}` is `$.data[*].name`. */
function pathOf(text: string): string {
  const inner = /^\{(.*)\}$/s.exec(text.trim())?.[1] ?? text.trim();
  const path = inner.startsWith("$") ? inner : `$${inner.startsWith(".") || inner.startsWith("[") ? "" : "."}${inner}`;
  try {
    query(null, path);
  } catch {
    throw new CliError(`"${text}" is no JSON path. Write it as $.data[*].name or {.data[*].name}.`);
  }
  return path;
}

export interface Style {
  readonly colors: Colors;
  readonly columns: number;
  readonly nowMs: number;
}

/** What is printed for one resource or a list of them: `body` is the API's own shape, and `rows` are its resources. */
export interface Shown {
  readonly body: unknown;
  readonly rows: readonly Row[];
  readonly isList: boolean;
}

export function rendered(view: View | null, shown: Shown, format: Format, style: Style): string {
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
        : details(view, shown.rows[0], style);
  }
}

const plain = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value));
const nameIn = (row: Row): string => String(row?.name ?? row?.id ?? "");

const cellText = (cell: Cell | null | undefined): string => {
  const text = typeof cell === "object" && cell !== null ? cell.text : cell;
  return text === undefined || text === null || text === "" ? "–" : printable(text.replace(/\s*\n\s*/g, " "));
};

export function painted(colors: Colors, cell: Cell | null | undefined, text = cellText(cell)): string {
  if (typeof cell !== "object" || cell === null) return text === "–" ? colors.dim(text) : text;
  const paint = { good: colors.green, warn: colors.yellow, bad: colors.red, dim: colors.dim }[cell.tone];
  return paint(text);
}

const GAP = 2;
const NARROWEST = 4;

function table(view: View, rows: readonly Row[], isWide: boolean, style: Style): string {
  const columns = view.columns.filter((column) => isWide || !column.isWide);
  const cells = rows.map((row) => columns.map((column) => column.of(row, style.nowMs)));
  const natural = columns.map(({ title }, index) =>
    Math.max(title.length, ...cells.map((line) => widthOf(cellText(line[index])))),
  );
  const widths = fitted(natural, style.columns);
  return borderless(
    [
      columns.map(({ title }, index) => style.colors.dim(cut(title, widths[index] ?? 0))),
      ...cells.map((line) =>
        line.map((cell, index) => painted(style.colors, cell, cut(cellText(cell), widths[index] ?? 0))),
      ),
    ],
    widths,
  );
}

/** Title and value, a line each. */
function details(view: View, row: Row, { colors, nowMs }: Style): string {
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

/** Takes from the widest columns until the table fits; 0 columns is no limit. */
export function fitted(natural: readonly number[], columns: number): number[] {
  const widths = [...natural];
  if (columns <= 0) return widths;
  const total = () => widths.reduce((sum, width) => sum + width + GAP, 0);
  while (total() > columns) {
    const widest = widths.indexOf(Math.max(...widths));
    if ((widths[widest] ?? 0) <= NARROWEST) break;
    widths[widest] = (widths[widest] ?? 0) - 1;
  }
  return widths;
}

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

/** Builds a column from a field's path, such as `chart.version`. */
export function column(title: string, path: string, isWide = false): Column {
  const keys = path.split(".");
  return {
    title,
    isWide,
    of: (row) => {
      const value = keys.reduce<Row>((at, key) => at?.[key], row);
      return Array.isArray(value) ? value.join(",") : value === null || value === undefined ? null : String(value);
    },
  };
}

export const stateColumn = (title: string, field: string): Column => ({ title, of: (row) => state(row?.[field]) });
export const ageColumn = (title: string, field: string, isWide = false): Column => ({
  title,
  isWide,
  of: (row, nowMs) => ago(row?.[field], nowMs),
});
export const view = (nameOf: string | ((row: Row) => string), ...columns: readonly Column[]): View => ({
  columns,
  nameOf: typeof nameOf === "string" ? (row) => String(row?.[nameOf] ?? "") : nameOf,
});

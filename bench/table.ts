/** A figure of a run with its aim. Those that are only `reported` have one to be seen, and a run that misses it does not fail. */
export interface Figure {
  readonly name: string;
  readonly value: number;
  readonly atLeast?: number;
  readonly atMost?: number;
  readonly unit?: string;
  readonly isReported?: boolean;
}

const isMissed = ({ value, atLeast = Number.NEGATIVE_INFINITY, atMost = Number.POSITIVE_INFINITY }: Figure) =>
  !(value >= atLeast && value <= atMost);

function aimOf(figure: Figure): string {
  const { atLeast, atMost, isReported = false } = figure;
  const aim =
    atLeast !== undefined ? `≥ ${shown(figure, atLeast)}` : atMost !== undefined ? `≤ ${shown(figure, atMost)}` : "";
  return isReported && aim ? `${aim}, reported only` : aim;
}

/** A figure without a unit is a ratio. */
const shown = ({ unit }: Figure, value: number) =>
  unit ? `${value.toLocaleString("en", { maximumFractionDigits: 1 })} ${unit}` : value.toFixed(2);

/** The run ends with 1 where a figure misses its aim. A figure that is not a number has missed it. */
export function printFigures(figures: readonly Figure[]): void {
  printTable(
    ["figure", "aim", "seen"],
    figures.map((figure) => [figure.name, aimOf(figure), shown(figure, figure.value)]),
  );
  for (const figure of figures.filter((each) => !each.isReported && isMissed(each))) limitMissed(figure.name);
}

export function limitMissed(name: string): void {
  process.stderr.write(`\nThe limit of this was missed: ${name}\n`);
  process.exitCode = 1;
}

/** Markdown, so that what was seen can be kept as it was printed. */
export function printTable(head: readonly string[], rows: readonly (readonly string[])[]): void {
  const widths = head.map((cell, column) => Math.max(cell.length, ...rows.map((row) => row[column]?.length ?? 0)));
  const line = (cells: readonly string[]) => `| ${cells.map((cell, i) => cell.padEnd(widths[i] ?? 0)).join(" | ")} |\n`;
  process.stdout.write(`\n${line(head)}${line(widths.map((width) => "-".repeat(width)))}${rows.map(line).join("")}`);
}

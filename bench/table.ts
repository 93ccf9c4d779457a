/** Markdown, so that what was seen can be kept as it was printed. */
export function printTable(head: readonly string[], rows: readonly (readonly string[])[]): void {
  const widths = head.map((cell, column) => Math.max(cell.length, ...rows.map((row) => row[column]?.length ?? 0)));
  const line = (cells: readonly string[]) => `| ${cells.map((cell, i) => cell.padEnd(widths[i] ?? 0)).join(" | ")} |\n`;
  process.stdout.write(`\n${line(head)}${line(widths.map((width) => "-".repeat(width)))}${rows.map(line).join("")}`);
}

import type { Call, Field, Given } from "./command.ts";
import { rendered, type View } from "./output.ts";

export const WATCH: Field<never> = { from: "-w, --watch", kind: "flag", help: "go on, and show what changes" };

const LOOK_EVERY_MS = 2_000;

/** Shows a list, with `--watch` until somebody leaves it. */
export async function showList<T>(
  call: Call,
  { options }: Pick<Given, "options">,
  view: View<T>,
  read: () => Promise<readonly T[]>,
): Promise<void> {
  if (!options["watch"]) return call.list(view, await read());
  const { host, format } = call;
  const isDrawn = host.out.isTerminal && host.err.isTerminal && (format.kind === "table" || format.kind === "wide");
  const last = new Map<string, string>();
  for (let isNew = true; ; isNew = false) {
    const rows = await read();
    if (isDrawn) host.draw(drawn(call, view, rows), isNew);
    else for (const row of rows) tellChange(call, view, row, last);
    await host.sleep(LOOK_EVERY_MS, host.interrupted);
  }
}

/** The table as it is now, as far as the screen has room for it. */
function drawn<T>(call: Call, view: View<T>, rows: readonly T[]): readonly string[] {
  const lines = rendered(view, { body: rows, rows, isList: true }, call.format, call.style).trimEnd().split("\n");
  const room = Math.max(2, call.host.console.size().rows - 2);
  return lines.length > room ? [...lines.slice(0, room - 1), `(and ${lines.length - room + 1} more)`] : lines;
}

/** Programs get each row once, and again when it has changed. */
function tellChange<T>(call: Call, view: View<T>, row: T, last: Map<string, string>): void {
  const [name, text] = [view.nameOf(row), JSON.stringify(row)];
  if (last.get(name) === text) return;
  const hasTitles = last.size > 0;
  last.set(name, text);
  const table = rendered(
    view,
    { body: row, rows: [row], isList: true },
    { kind: call.format.kind === "wide" ? "wide" : "table" },
    { ...call.style, columns: 0 },
  );
  const [titles = "", line = ""] = table.split("\n");
  const shown = call.format.kind === "name" ? name : hasTitles ? line : `${titles}\n${line}`;
  call.item(shown, row);
}

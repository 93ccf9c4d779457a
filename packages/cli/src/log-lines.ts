import type { LogLine } from "@binnacle/client";
import { durationMs } from "./command.ts";
import { CliError } from "./host.ts";
import type { Colors } from "./output.ts";

/** What is shown before each line of a log. */
interface Prefixes {
  readonly app: string;
  /** The components whose lines are mixed; empty where there is one. */
  readonly components: readonly string[];
  /** Components with several pods, whose lines carry the name of their pod. */
  readonly replicated: ReadonlySet<string>;
  readonly hasTime: boolean;
}

/** The part of a pod's name that tells it from the others of its component. */
export function shortPod(app: string, { component, pod }: Pick<LogLine, "component" | "pod">): string {
  const own = pod.startsWith(`${app}-${component}-`) ? pod.slice(app.length + component.length + 2) : pod;
  return own.split("-").at(-1) || pod;
}

const PAINTS = ["cyan", "magenta", "yellow", "green", "blue"] as const;

/** Gives the pods their colours in the order in which they are first seen. */
export function prefixer({ app, components, replicated, hasTime }: Prefixes, colors: Colors) {
  const seen = new Map<string, (text: string) => string>();
  const width = Math.max(0, ...components.map((name) => name.length));
  return (line: LogLine): string => {
    const { component, pod, time } = line;
    const paint = seen.get(pod) ?? colors[PAINTS[seen.size % PAINTS.length] ?? "cyan"];
    seen.set(pod, paint);
    const words = [
      ...(components.length > 1 ? [component.padEnd(width)] : []),
      ...(replicated.has(component) ? [shortPod(app, line)] : []),
    ];
    const name = words.length > 0 ? `${paint(words.join(" "))} ` : "";
    return `${hasTime ? `${colors.dim(time)} ` : ""}${name}`;
  };
}

/** A time, or how long ago: `15m`, or `2026-01-31T10:00:00Z`. */
export function momentMs(name: string, text: string, nowMs: number): number {
  if (!/^\d{4}-\d\d-\d\d/.test(text)) return nowMs - durationMs(name, text);
  const at = Date.parse(text);
  if (Number.isNaN(at)) throw new CliError(`${name} takes a time such as 2026-01-31T10:00:00Z, not "${text}".`);
  return at;
}

export function patternOf(text: unknown): RegExp | null {
  if (typeof text !== "string") return null;
  try {
    return new RegExp(text);
  } catch {
    throw new CliError(`"${text}" is not a regular expression.`);
  }
}

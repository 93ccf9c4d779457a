import type { LogLine } from "../api/ports.ts";
import type { KubeObject } from "../store/kube-object.ts";

const ALL_PODS = "sandbox-log";

/** The names of the ConfigMaps that may say what a pod has logged: its own one, or the one of all pods beside it. */
export const logNamesOf = ({ metadata }: KubeObject): readonly string[] => [`${ALL_PODS}-${metadata.name}`, ALL_PODS];

const LINE = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d))(?: (.*))?$/;

/** The lines that stand under `log`, each behind its time; one without a time has that of the line before it. */
export function writtenLines({ data }: KubeObject): readonly LogLine[] {
  const { log } = (data ?? {}) as { readonly log?: string };
  if (!log) return [];
  const lines: LogLine[] = [];
  for (const line of log.replace(/\n$/, "").split("\n")) {
    const [, stamp = "", text = ""] = LINE.exec(line) ?? [];
    const atMs = stamp === "" ? (lines.at(-1)?.atMs ?? 0) : Date.parse(stamp);
    lines.push({ atMs, text: stamp === "" ? line : text });
  }
  return lines;
}

import type { Finding, FuzzReport } from "./run.ts";

const LONGEST_DELAY_MS = 200;
export const MOST_GROWTH_BYTES = 100 * 1024 * 1024;

/** Returns why a run has failed, besides its findings. */
export function shortfalls({ vitals, grownBytes }: FuzzReport): string[] {
  const { p999Ms } = vitals;
  return [
    ...(p999Ms > LONGEST_DELAY_MS ? [`The event loop was late by ${p999Ms.toFixed(0)} ms at p99.9.`] : []),
    ...(grownBytes > MOST_GROWTH_BYTES ? [`The heap grew by ${megabytes(grownBytes)}.`] : []),
  ];
}

const megabytes = (bytes: number) => `${(bytes / 1024 / 1024).toFixed(1)} MB`;

export function summary(report: FuzzReport): string {
  const { requests, seconds, operations, statuses, succeeded, findings, vitals, grownBytes } = report;
  const counts = [...statuses].sort(([a], [b]) => a - b).map(([status, count]) => `${status}: ${count}`);
  const delays = [
    `p50 ${vitals.p50Ms.toFixed(1)}`,
    `p99 ${vitals.p99Ms.toFixed(1)}`,
    `p99.9 ${vitals.p999Ms.toFixed(1)}`,
  ];
  const missing = operations.filter((id) => !succeeded.has(id));
  const byOperation = Map.groupBy(findings, ({ operation }) => operation);
  return [
    `${requests} requests in ${seconds.toFixed(0)} s; ${succeeded.size} of ${operations.length} operations succeeded at least once`,
    ...(missing.length > 0 ? [`Never: ${missing.join(", ")}`] : []),
    `Statuses: ${counts.join(", ")}`,
    `Event loop: ${delays.join(", ")}, max ${vitals.maxMs.toFixed(1)} ms; of its own work p99.9 ${vitals.ownP999Ms.toFixed(1)}, max ${vitals.ownMaxMs.toFixed(1)} ms`,
    `Heap: ${megabytes(vitals.heapBytes)} at the end, ${megabytes(grownBytes)} more than after a quarter`,
    `Findings: ${findings.length}`,
    ...[...byOperation].flatMap(([operation, found]) => [`\n${operation}`, ...found.map(described)]),
  ].join("\n");
}

/** With a line that sends the request again, by somebody of the same role. */
function described({ what, count, request, status, text }: Finding): string {
  return [
    `  ${what} (${count} times)`,
    `    #${request.index}, ${request.kind}, as ${request.actor.name}: ${curlOf(request)}`,
    `    ${status} ${shortened(text, 500)}`,
  ].join("\n");
}

const quoted = (text: string) => `'${shortened(text, 1_500).replaceAll("'", "'\\''")}'`;
const shortened = (text: string, most: number) =>
  text.length > most ? `${text.slice(0, most)}… (${text.length})` : text;

function curlOf({ operation, target, headers, actor, body }: Finding["request"]): string {
  const own = Object.entries(headers).filter(([name]) => !(name in actor.headers) && name !== "x-forwarded-for");
  return [
    `curl -X ${operation.method} "$url"${quoted(target)}`,
    ...(actor.headers["authorization"] ? ['-H "authorization: $authorization"'] : []),
    ...own.map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`),
    ...(body ? [`--data-raw ${quoted(body.toString("utf8"))}`] : []),
  ].join(" ");
}

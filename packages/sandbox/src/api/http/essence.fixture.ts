import { isRecord, omitting } from "../fields/typed-value.ts";

/** Words that differ from one cluster to the next, and from one moment to the next. */
const VOLATILE: readonly (readonly [RegExp, string])[] = [
  [/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, "<uid>"],
  [/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "<time>"],
  [/"10(?:\.\d+){3}"/g, '"<address>"'],
];

/** Returns the part of an answer that must be equal on two clusters: of a refusal its reason and fields, not its message. */
export function essenceOf(status: number, answer: unknown): unknown {
  if (!isRecord(answer)) return { status };
  if (answer["kind"] === "Status" && answer["status"] === "Failure") {
    const {
      name,
      kind,
      group,
      causes = [],
    } = (answer["details"] ?? {}) as { name?: string; kind?: string; group?: string; causes?: object[] };
    const fields = causes.map((cause) => omitting(cause as Record<string, unknown>, "message"));
    return { status, reason: answer["reason"], name, kind, group, fields };
  }
  return { status, answer: JSON.parse(steady(JSON.stringify(withoutNulls(answer)))) as unknown };
}

const steady = (text: string): string =>
  VOLATILE.reduce((result, [pattern, word]) => result.replaceAll(pattern, word), text);

function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (!isRecord(value)) return value;
  const kept = Object.entries(value).filter(
    ([name, inner]) => inner !== null && name !== "resourceVersion" && !isByController(name, inner),
  );
  return Object.fromEntries(
    kept.map(([name, inner]) => [name, name === "managedFields" ? ofRequests(inner) : withoutNulls(inner)]),
  );
}

/** Controllers add these fields at any time, so they are not compared. */
const isByController = (name: string, value: unknown): boolean =>
  (name === "annotations" && isRecord(value) && "deployment.kubernetes.io/revision" in value) || name === "status";

const ofRequests = (entries: unknown): unknown =>
  Array.isArray(entries)
    ? entries.filter((entry) => isRecord(entry) && entry["manager"] !== "kube-controller-manager")
    : entries;

import type { AppEvent, AuditEntry, Deployment } from "@binnacle/client";
import type { Tone } from "../../status/status.ts";
import { OPERATION_WORDS } from "../deployments/deployment.ts";

/** One thing that happened to an app, whoever says so. */
export interface ActivityItem {
  readonly key: string;
  readonly at: string;
  readonly source: "kubernetes" | "people";
  readonly tone: Tone;
  readonly title: string;
  readonly detail: string;
  /** Who or what it is about. */
  readonly by: string;
}

function ofEvent(event: AppEvent, index: number): readonly ActivityItem[] {
  const at = event.last_seen_at ?? event.first_seen_at;
  // An event without a time has no place on a time line.
  if (at === null || Number.isNaN(Date.parse(at))) return [];
  return [
    {
      key: `event/${index}/${event.object.kind}/${event.object.name}/${event.reason}`,
      at,
      source: "kubernetes",
      tone: event.type === "Warning" ? "warning" : "unknown",
      title: event.reason,
      detail: event.count > 1 ? `${event.message} (${event.count} times)` : event.message,
      by: `${event.object.kind} ${event.object.name}`,
    },
  ];
}

const ofAudit = (entry: AuditEntry): ActivityItem => ({
  key: `audit/${entry.id}`,
  at: entry.at,
  source: "people",
  tone: "progress",
  title: entry.action,
  detail: Object.keys(entry.changes).join(", "),
  by: entry.actor.email ?? (entry.via === "system" ? "the system" : "somebody who is gone"),
});

const ofDeployment = (deployment: Deployment): ActivityItem => ({
  key: `deployment/${deployment.deployment_id}`,
  at: deployment.created_at,
  source: "people",
  tone: deployment.status === "failed" ? "bad" : "progress",
  title: `#${deployment.revision} ${OPERATION_WORDS[deployment.operation]}`,
  detail: deployment.message ?? "",
  by: deployment.created_by ?? "the system",
});

export interface Sources {
  readonly events: readonly AppEvent[];
  /** Null where the caller may not read them; the deployments say who did what then. */
  readonly audit: readonly AuditEntry[] | null;
  readonly deployments: readonly Deployment[];
}

/** What Kubernetes says and what people did on one time line, the latest first. */
export function timelineOf({ events, audit, deployments }: Sources): readonly ActivityItem[] {
  const people = audit === null ? deployments.map(ofDeployment) : audit.map(ofAudit);
  return [...events.flatMap(ofEvent), ...people].toSorted((a, b) => Date.parse(b.at) - Date.parse(a.at));
}

/** The entries of the audit log that are about an app: by its id, or by its name as the log writes it. */
export const auditOfApp = (
  entries: readonly AuditEntry[],
  { id, namespace, name }: { readonly id: string; readonly namespace: string; readonly name: string },
): readonly AuditEntry[] =>
  entries.filter(
    ({ resource }) => resource.id === id || (resource.id === null && resource.name === `${namespace}/${name}`),
  );

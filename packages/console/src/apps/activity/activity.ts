import type { AppEvent, AuditEntry, DeploymentListItem } from "@binnacle/client";
import type { Tone } from "../../status/status.ts";
import { changeText, OPERATION_LABELS } from "../deployments/deployment.ts";

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

const AUDIT_LABELS: Readonly<Record<string, string>> = {
  "app.delete": "Deletion asked for",
  "app.run": "Command run",
  "app.exec": "Terminal opened",
  "app.exec_ended": "Terminal closed",
};

const ofAudit = (entry: AuditEntry): ActivityItem => ({
  key: `audit/${entry.id}`,
  at: entry.at,
  source: "people",
  tone: "progress",
  title: AUDIT_LABELS[entry.action] ?? entry.action,
  detail: entry.summary ?? Object.keys(entry.changes).join(", "),
  by: entry.actor.email ?? (entry.via === "system" ? "the system" : "somebody who is gone"),
});

const ofDeployment = (deployment: DeploymentListItem): ActivityItem => ({
  key: `deployment/${deployment.deployment_id}`,
  at: deployment.created_at,
  source: "people",
  tone: deployment.status === "failed" ? "bad" : "progress",
  title: `#${deployment.revision} ${OPERATION_LABELS[deployment.operation]}`,
  detail: [changeText(deployment), deployment.message].filter(Boolean).join(" — "),
  by: deployment.created_by ?? "the system",
});

export interface Sources {
  readonly events: readonly AppEvent[];
  /** Empty where the caller may not read them. */
  readonly audit: readonly AuditEntry[];
  readonly deployments: readonly DeploymentListItem[];
}

/** Every change of an app is in the audit log too, and its deployment says more. */
const DEPLOYING: ReadonlySet<string> = new Set(Object.keys(OPERATION_LABELS).map((operation) => `app.${operation}`));

/** What Kubernetes says and what people did on one time line, the latest first. */
export function timelineOf({ events, audit, deployments }: Sources): readonly ActivityItem[] {
  const others = audit.filter(({ action }) => !DEPLOYING.has(action));
  return [...events.flatMap(ofEvent), ...deployments.map(ofDeployment), ...others.map(ofAudit)].toSorted(
    (a, b) => Date.parse(b.at) - Date.parse(a.at),
  );
}

import { type AuditRow, type Place, wireAuditEntry } from "../audit/audit.ts";
import type { Event } from "./event.ts";

/**
 * An audit entry as an event. Without a place it is for the administrators of its organization; with a place it is for
 * whoever sees the place. An entry about a cluster or a project has that cluster or project as its place.
 */
export function activityOf(row: AuditRow, place: Place | null): Event {
  const { at, ...entry } = wireAuditEntry(row);
  const itself = (type: string) => (row.resource_type === type ? (row.resource_id ?? undefined) : undefined);
  const places = {
    cluster_id: place?.clusterId ?? itself("cluster"),
    project_id: place?.projectId ?? itself("project"),
    workload_id: itself("app"),
  };
  return { ...entry, type: "activity", time: at, at, org_id: row.org_id, ...given(places) };
}

function given(fields: Record<string, string | undefined>): Record<string, string> {
  const entries = Object.entries(fields).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return Object.fromEntries(entries);
}

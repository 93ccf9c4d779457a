import type { AuditEntry, Via } from "@binnacle/contract";

/** A handler describes each change it makes. */
export interface ChangeRecord {
  /** `<resource>.<verb>`, such as `org.update`. */
  readonly action: string;
  readonly resource: { readonly type: string; readonly id: string | null; readonly name: string | null };
  /** The organization whose administrators may read the entry; null where the change concerns no organization. */
  readonly orgId: string | null;
  /** The place of the change, where it is another than the one that the guard of the request has found. */
  readonly place?: Place;
  /** The changed fields with their new values. Secrets are named, never shown. */
  readonly changes?: Readonly<Record<string, unknown>>;
  /** The actor, where the request does not name one, as at a login. */
  readonly actor?: Actor;
}

/** An entry about a person is for the administrators of all their organizations; without any, for superusers. */
export const inEachOrg = (entry: Omit<ChangeRecord, "orgId">, orgIds: readonly string[]): ChangeRecord[] =>
  (orgIds.length > 0 ? orgIds : [null]).map((orgId) => ({ ...entry, orgId }));

/** A cluster or one of its projects. Whoever sees the place may be told what is done there. */
export interface Place {
  readonly clusterId: string;
  readonly projectId?: string;
}

export interface Actor {
  readonly id: string | null;
  readonly email: string | null;
  readonly via: Via;
}

/** The facts of a request that every entry of its changes has. */
export interface Circumstances {
  readonly actor: Actor;
  readonly sourceAddress: string | null;
  readonly requestId: string | null;
}

export interface AuditRow {
  readonly id: string;
  readonly at: Date;
  readonly org_id: string | null;
  readonly actor_id: string | null;
  readonly actor_email: string | null;
  readonly via: Via;
  readonly source_address: string | null;
  readonly action: string;
  readonly resource_type: string;
  readonly resource_id: string | null;
  readonly resource_name: string | null;
  readonly changes: Record<string, unknown>;
  readonly request_id: string | null;
}

export function auditRow(
  record: ChangeRecord,
  { actor, sourceAddress, requestId }: Circumstances,
  id: string,
  at: Date,
): AuditRow {
  const who = record.actor ?? actor;
  return {
    id,
    at,
    org_id: record.orgId,
    actor_id: who.id,
    actor_email: who.email,
    via: who.via,
    source_address: sourceAddress,
    action: record.action,
    resource_type: record.resource.type,
    resource_id: record.resource.id,
    resource_name: record.resource.name,
    changes: record.changes ?? {},
    request_id: requestId,
  };
}

export function wireAuditEntry(row: AuditRow): AuditEntry {
  return {
    id: row.id,
    at: row.at.toISOString(),
    actor: { id: row.actor_id, email: row.actor_email },
    via: row.via,
    source_address: row.source_address,
    action: row.action,
    resource: { type: row.resource_type, id: row.resource_id, name: row.resource_name },
    changes: row.changes,
    request_id: row.request_id,
  };
}

import {
  type AuditEntry,
  boundedChanges,
  changeSentence,
  type FieldChange,
  fieldChanges,
  type Via,
} from "@binnacle/contract";
import type { Location } from "../access/place.ts";
import { recordSentence } from "./record-sentence.ts";

/** The audit entry of a change, as a handler describes it. */
export interface ChangeRecord {
  /** `<resource>.<verb>`, such as `org.update`. */
  readonly action: string;
  readonly resource: { readonly type: string; readonly id: string | null; readonly name: string | null };
  /** The organization whose administrators may read the entry; null where there is none. */
  readonly orgId: string | null;
  /** The place of the change, if it is not the one that the guard has found. */
  readonly place?: Location;
  /** The changed fields with their new values, and further details. Secrets are named as "changed". */
  readonly changes?: Readonly<Record<string, unknown>>;
  /** The values before the change. Those that `changes` names are compared, and both values are put on record. */
  readonly before?: object;
  /** The changed fields, where the handler has compared them itself. */
  readonly fields?: readonly FieldChange[];
  /** The sentence about the change, if it is more than the changed fields or what has become of the resource. */
  readonly summary?: string;
  /** The actor, if the request has no caller, as at a login. */
  readonly actor?: Actor;
}

/** Creates an entry about a user for each of their organizations; without any, for superusers only. */
export const inEachOrg = (entry: Omit<ChangeRecord, "orgId">, orgIds: readonly string[]): ChangeRecord[] =>
  (orgIds.length > 0 ? orgIds : [null]).map((orgId) => ({ ...entry, orgId }));

export interface Actor {
  readonly id: string | null;
  readonly email: string | null;
  readonly via: Via;
}

/** The facts of a request that are in each of its audit entries. */
export interface AuditContext {
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
  readonly summary: string | null;
  readonly request_id: string | null;
}

export function auditRow(
  record: ChangeRecord,
  { actor, sourceAddress, requestId }: AuditContext,
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
    ...describedChanges(record),
    request_id: requestId,
  };
}

const CHANGED = "changed";

/** Compares the values and describes what has changed. Anything that a tenant can make large is bounded. */
function describedChanges(record: ChangeRecord) {
  const { changes = {}, before, fields, summary } = record;
  if (!before && !fields) return { changes, summary: summary ?? recordSentence(record) };
  const isCompared = ([name]: readonly [string, unknown]) => before !== undefined && Object.hasOwn(before, name);
  const given = Object.entries(changes);
  const others = given.filter((entry) => !isCompared(entry));
  const found = [
    ...(fields ?? []),
    ...(before ? fieldChanges(before, Object.fromEntries(given.filter(isCompared))) : []),
    ...others.flatMap(([field, value]) => (value === CHANGED ? [secretChange(field)] : [])),
  ];
  const kept = boundedChanges(found);
  const left = found.length - kept.length;
  return {
    changes: {
      ...Object.fromEntries(kept.map(auditedField)),
      ...Object.fromEntries(others.filter(([, value]) => value !== CHANGED)),
      ...(left > 0 ? { more_changes: left } : {}),
    },
    summary: summary ?? (changeSentence(found) || "Nothing changed"),
  };
}

const secretChange = (field: string): FieldChange => ({
  component: null,
  field,
  change: CHANGED,
  before: null,
  after: null,
});

/** A value that is not shown is described by what has become of it. */
function auditedField({ component, field, change, before, after }: FieldChange): [string, unknown] {
  const isHidden = before === null && after === null;
  return [component === null ? field : `${component}.${field}`, isHidden ? change : { before, after }];
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
    summary: row.summary,
    request_id: row.request_id,
  };
}

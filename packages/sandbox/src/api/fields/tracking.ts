import { ApiFault } from "../fault.ts";
import type { Schema } from "../schema/schema.ts";
import {
  difference,
  EMPTY,
  type FieldSet,
  fieldsNamed,
  intersection,
  isEmpty,
  placesIn,
  placeText,
  union,
  within,
  without,
} from "./field-set.ts";
import { capped, type Managed, type Managers, managerId } from "./managers.ts";
import { merge, removePlaces, withNamedFields } from "./merge-values.ts";
import { compare, fieldSetOf, isSame, type JsonRecord } from "./typed-value.ts";

/** Nobody's fields: they name the object, or the server fills them in. */
const NOT_MANAGED = fieldsNamed(
  ["apiVersion"],
  ["kind"],
  ["metadata"],
  ["metadata", "name"],
  ["metadata", "namespace"],
  ["metadata", "creationTimestamp"],
  ["metadata", "selfLink"],
  ["metadata", "uid"],
  ["metadata", "clusterName"],
  ["metadata", "generation"],
  ["metadata", "managedFields"],
  ["metadata", "resourceVersion"],
);

export interface Writer {
  readonly manager: string;
  readonly apiVersion: string;
  readonly subresource: string;
  readonly time: string;
  /** Leaves out the fields that this writer has no say in, like the status. */
  readonly filter: (set: FieldSet) => FieldSet;
}

/** The managers after an update from `before` to `after`. */
export function afterUpdate(
  schema: Schema,
  before: unknown,
  after: unknown,
  known: Managers,
  writer: Writer,
): Managers {
  const { manager, apiVersion, subresource, time, filter } = writer;
  const { added, modified, removed } = compare(schema, before, after);
  const changed = filter(union(added, modified));
  const gone = filter(removed);
  const managers = yielding(known, union(changed, gone));
  const set = difference(changed, NOT_MANAGED);
  if (isEmpty(set)) return managers;
  const self: Managed = { manager, operation: "Update", apiVersion, subresource, time, set };
  const id = managerId(self);
  managers.set(id, { ...self, set: union(managers.get(id)?.set ?? EMPTY, set) });
  return capped(managers);
}

function yielding(known: Managers, taken: FieldSet): Managers {
  const managers: Managers = new Map();
  for (const [id, managed] of known) {
    const set = difference(managed.set, taken);
    if (!isEmpty(set)) managers.set(id, { ...managed, set });
  }
  return managers;
}

export interface Applied {
  readonly object: JsonRecord;
  readonly managers: Managers;
  readonly isChanged: boolean;
}

/** Server-side apply: the live object with the configuration laid over it, and who manages what then. */
export function applied(
  schema: Schema,
  live: JsonRecord,
  config: JsonRecord,
  known: Managers,
  { force, ...writer }: Writer & { readonly force: boolean },
): Applied {
  const { manager, apiVersion, subresource, time, filter } = writer;
  const self = { manager, operation: "Apply", apiVersion, subresource } as const;
  const id = managerId(self);
  const last = known.get(id)?.set;
  const set = filter(fieldSetOf(schema, config));
  const managers: Managers = new Map(known).set(id, { ...self, time: known.get(id)?.time, set });
  const merged = merge(schema, live, config) as JsonRecord;
  const object = last && !isEmpty(last) ? pruned(schema, merged, managers, last) : merged;

  const { added, modified, removed } = compare(schema, live, object);
  const changed = filter(union(added, modified));
  const conflicts = [...managers]
    .filter(([other]) => other !== id)
    .flatMap(([, other]) => conflictsWith(other, changed));
  if (!force && conflicts.length > 0) throw conflictFault(conflicts);
  const isChanged = !isSame(live, object);
  const others: Managers = new Map([...managers].filter(([other]) => other !== id));
  const result = yielding(others, union(changed, filter(removed)));
  const own = difference(set, NOT_MANAGED);
  if (!isEmpty(own)) result.set(id, { ...self, time: isChanged ? time : known.get(id)?.time, set: own });
  return { object, managers: result, isChanged };
}

/** Without what this manager applied last time and not this time, unless somebody else manages it. */
function pruned(schema: Schema, merged: JsonRecord, managers: Managers, last: FieldSet): JsonRecord {
  const named = (set: FieldSet) => withNamedFields(schema, set);
  const remove = (set: FieldSet) => (removePlaces(schema, merged, set) ?? {}) as JsonRecord;
  const mergedSet = named(fieldSetOf(schema, merged));
  const lastNamed = named(last);
  const first = remove(lastNamed);
  const managed = [...managers.values()].reduce((set, one) => union(set, one.set), EMPTY);
  const kept = union(named(fieldSetOf(schema, first)), named(managed));
  const second = remove(difference(mergedSet, kept));
  return remove(intersection(difference(mergedSet, named(fieldSetOf(schema, second))), lastNamed));
}

interface Conflict {
  readonly holder: Managed;
  readonly place: string;
}

const conflictsWith = (holder: Managed, changed: FieldSet): Conflict[] =>
  placesIn(intersection(holder.set, changed)).map((steps) => ({ holder, place: placeText(steps) }));

function conflictFault(conflicts: readonly Conflict[]): ApiFault {
  const causes = conflicts.map(({ holder, place }) => ({
    reason: "FieldManagerConflict",
    message: `conflict with ${holderText(holder)}`,
    field: place,
  }));
  return new ApiFault(409, "Conflict", conflictMessage(conflicts), { causes });
}

function conflictMessage(conflicts: readonly Conflict[]): string {
  const [first] = conflicts;
  if (first && conflicts.length === 1) {
    return `Apply failed with 1 conflict: conflict with ${holderText(first.holder)}: ${first.place}`;
  }
  const byHolder = Map.groupBy(conflicts, ({ holder }) => holderText(holder));
  const lines = [...byHolder]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([holder, held]) => [`conflicts with ${holder}:`, ...held.map(({ place }) => `- ${place}`)]);
  return `Apply failed with ${conflicts.length} conflicts: ${lines.join("\n")}`;
}

/** `"kubectl-edit" using apps/v1`; appliers only by their name. */
function holderText({ manager, operation, apiVersion, subresource }: Managed): string {
  const name = `${JSON.stringify(manager)}${subresource === "" ? "" : ` with subresource ${JSON.stringify(subresource)}`}`;
  return operation === "Apply" ? name : `${name} using ${apiVersion}`;
}

const STATUS = fieldsNamed(["status"]);
export const allButStatus = (set: FieldSet): FieldSet => without(set, STATUS);
export const onlyStatus = (set: FieldSet): FieldSet => within(set, STATUS);

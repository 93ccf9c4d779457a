import { fieldSchema, isNamedField, type Schema } from "../schema/schema.ts";
import { below, type FieldSet, type FieldSetDraft, newDraft, stepOfElement } from "./field-set.ts";

type Shape = "scalar" | "list" | "map";
type ListSchema = Extract<Schema, { is: "list" }>;

/** The shape of a value; null fits any. */
function shapeOf(schema: Schema, value: unknown): Shape {
  if (value !== null && value !== undefined && schema.is === "any") {
    return Array.isArray(value) ? "list" : isRecord(value) ? "map" : "scalar";
  }
  if (schema.is === "list") return "list";
  return schema.is === "scalar" ? "scalar" : "map";
}

/** Whether the value is taken as a whole, whatever is in it. */
const isAtomic = (schema: Schema): boolean =>
  schema.is === "list"
    ? schema.relation === "atomic"
    : schema.is === "any"
      ? false
      : schema.is !== "scalar" && schema.isAtomic;

const asList = (schema: Schema): ListSchema | null =>
  schema.is === "list" && schema.relation !== "atomic" ? schema : null;

/** All places that a configuration speaks of. */
export function fieldSetOf(schema: Schema, value: unknown): FieldSet {
  const set = newDraft();
  collect(schema, value, set);
  return set;
}

function collect(schema: Schema, value: unknown, set: FieldSetDraft): void {
  const shape = shapeOf(schema, value);
  if (shape === "scalar" || isAtomic(schema) || (shape === "list" && !asList(schema))) set.isMember = true;
  else if (shape === "list") collectElements(schema as ListSchema, value, set);
  else if (isRecord(value)) {
    for (const [name, inner] of Object.entries(value)) {
      const place = below(set, `f:${name}`);
      collect(fieldSchema(schema, name) ?? { is: "any" }, inner, place);
      const isHollow = inner === null || (isRecord(inner) && Object.keys(inner).length === 0);
      if (isHollow || !isNamedField(schema, name)) place.isMember = true;
    }
    dropHollow(set);
  }
}

function collectElements(schema: ListSchema, value: unknown, set: FieldSetDraft): void {
  if (!Array.isArray(value)) return;
  const elements = grouped(schema, value);
  for (const [step, group] of elements) {
    const place = below(set, step);
    if (group.length === 1) collect(schema.items, group[0], place);
    place.isMember = true;
  }
}

function dropHollow(set: FieldSetDraft): void {
  for (const [step, child] of set.children) if (!child.isMember && child.children.size === 0) set.children.delete(step);
}

function grouped(schema: ListSchema, list: readonly unknown[]): Map<string, unknown[]> {
  const groups = new Map<string, unknown[]>();
  for (const element of list) {
    const step = stepOfElement(schema, element);
    const group = groups.get(step);
    if (group) group.push(element);
    else groups.set(step, [element]);
  }
  return groups;
}

export interface Comparison {
  readonly added: FieldSet;
  readonly modified: FieldSet;
  readonly removed: FieldSet;
}

interface ComparisonDraft {
  readonly added: FieldSetDraft;
  readonly modified: FieldSetDraft;
  readonly removed: FieldSetDraft;
}

/** The differences in `after`. Undefined stands for an absent value. */
export function compare(schema: Schema, before: unknown, after: unknown): Comparison {
  const draft = { added: newDraft(), modified: newDraft(), removed: newDraft() };
  compareAt(schema, before, after, [], draft);
  return draft;
}

function mark(set: FieldSetDraft, path: readonly string[]): void {
  let place = set;
  for (const step of path) place = below(place, step);
  place.isMember = true;
}

function compareAt(schema: Schema, a: unknown, b: unknown, path: readonly string[], out: ComparisonDraft): void {
  if (a === b) return;
  const shape = shapeOf(schema, b ?? a);
  const isOtherShape = a !== undefined && b !== undefined && shapeOf(schema, a) !== shape && a !== null && b !== null;
  const isLeaf = shape === "scalar" || isAtomic(schema) || (shape === "list" && !asList(schema));
  if (isOtherShape || isLeaf || (isHollow(a) && isHollow(b))) {
    if (a === undefined) mark(out.added, path);
    else if (b === undefined) mark(out.removed, path);
    else if (!isSame(a, b)) mark(out.modified, path);
    return;
  }
  if (shape === "list") compareElements(schema as ListSchema, a, b, path, out);
  else compareFields(schema, isRecord(a) ? a : {}, isRecord(b) ? b : {}, path, out);
  if (path.length === 0) return;
  if (a === undefined) mark(out.added, path);
  else if (b === undefined) mark(out.removed, path);
}

function isHollow(value: unknown): boolean {
  if (value === undefined || value === null) return true;
  return Array.isArray(value) ? value.length === 0 : isRecord(value) && Object.keys(value).length === 0;
}

function compareFields(schema: Schema, a: JsonRecord, b: JsonRecord, path: readonly string[], out: ComparisonDraft) {
  for (const name of new Set([...Object.keys(a), ...Object.keys(b)])) {
    compareAt(fieldSchema(schema, name) ?? { is: "any" }, a[name], b[name], [...path, `f:${name}`], out);
  }
}

function compareElements(schema: ListSchema, a: unknown, b: unknown, path: readonly string[], out: ComparisonDraft) {
  const before = grouped(schema, Array.isArray(a) ? a : []);
  const after = grouped(schema, Array.isArray(b) ? b : []);
  for (const step of new Set([...before.keys(), ...after.keys()])) {
    const [was = [], is = []] = [before.get(step), after.get(step)];
    const place = [...path, step];
    if (was.length <= 1 && is.length <= 1) compareAt(schema.items, was[0], is[0], place, out);
    else if (was.length > 1 && is.length > 1) {
      if (!isSame(was, is)) mark(out.modified, place);
    } else if (was.length > 1) {
      if (is.length > 0) compareAt(schema.items, undefined, is[0], place, out);
      mark(out.removed, place);
    } else {
      if (was.length > 0) compareAt(schema.items, was[0], undefined, place, out);
      mark(out.added, place);
    }
  }
}

export type JsonRecord = Readonly<Record<string, unknown>>;

export const isRecord = (value: unknown): value is JsonRecord =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The record without some of its fields. */
export function omitting<R extends object, N extends string>(record: R, ...names: readonly N[]): Omit<R, N> {
  const dropped = new Set<string>(names);
  return Object.fromEntries(Object.entries(record).filter(([name]) => !dropped.has(name))) as Omit<R, N>;
}

/** Whether two JSON values are equal; the order of fields does not matter. */
export function isSame(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (Array.isArray(a)) {
    return Array.isArray(b) && a.length === b.length && a.every((element, at) => isSame(element, b[at]));
  }
  if (!isRecord(a) || !isRecord(b)) return false;
  const names = Object.keys(a);
  return (
    names.length === Object.keys(b).length && names.every((name) => Object.hasOwn(b, name) && isSame(a[name], b[name]))
  );
}

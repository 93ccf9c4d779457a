import { FIELD_MANAGER } from "@binnacle/contract";
import type { KubeObject, ManagedFields } from "./kube-client.ts";

/** A field that somebody manages; one with fields below it is managed only as being there. */
export interface OwnedField {
  readonly path: FieldPath;
  readonly isLeaf: boolean;
}

/**
 * The fields that an entry of `managedFields` names. Its keys are steps: `f:` a field, `k:` the keys of an element,
 * `v:` the value of an element, `i:` its place; `.` stands for the element itself.
 */
export function fieldsOf(fieldsV1: unknown, path: FieldPath = []): OwnedField[] {
  if (!isRecord(fieldsV1)) return [];
  const inner = Object.entries(fieldsV1).flatMap(([text, below]) => {
    const step = stepOf(text);
    return step === null ? [] : fieldsOf(below, [...path, step]);
  });
  const isLeaf = inner.length === 0;
  const isNamed = isLeaf || Object.hasOwn(fieldsV1, ".");
  return isNamed && path.length > 0 ? [{ path, isLeaf }, ...inner] : inner;
}

function stepOf(text: string): PathStep | null {
  const rest = text.slice(2);
  if (text.startsWith("f:")) return { field: rest };
  if (text.startsWith("i:")) return { index: Number(rest) };
  if (text.startsWith("v:")) return { value: JSON.parse(rest) };
  if (text.startsWith("k:")) return { key: JSON.parse(rest) };
  return null;
}

const isBy = ({ manager, operation, subresource }: ManagedFields, applier: string): boolean =>
  manager === applier && operation === "Apply" && !subresource;

/** The fields that the manager has applied and nobody has changed since. */
export function ownFields(object: KubeObject, applier = FIELD_MANAGER): OwnedField[] {
  return (object.metadata.managedFields ?? [])
    .filter((entry) => isBy(entry, applier))
    .flatMap(({ fieldsV1 }) => fieldsOf(fieldsV1));
}

/** The names under which the operator itself applies something. */
const isOfOurs = (manager: string): boolean => manager === FIELD_MANAGER || manager.startsWith(`${FIELD_MANAGER}-`);

export interface Holder {
  readonly manager: string;
  /** The manager declares the field, as Binnacle does. Changes by other managers are edits. */
  readonly isDeclared: boolean;
  /** The manager changes the number of replicas, on behalf of an autoscaler or a person. */
  readonly isAutoscaler: boolean;
}

/** Every autoscaler of Kubernetes itself writes so; people who scale by hand have other names. */
const AUTOSCALER = "kube-controller-manager";

/** The managers of the field besides the one that applies it. */
export function holdersOf(object: KubeObject, path: FieldPath, applier = FIELD_MANAGER): Holder[] {
  const id = pathId(path);
  return (object.metadata.managedFields ?? [])
    .filter((entry) => !isBy(entry, applier) && fieldsOf(entry.fieldsV1).some((field) => pathId(field.path) === id))
    .map(({ manager = "", operation, subresource }) => ({
      manager,
      isDeclared: operation === "Apply" && !isOfOurs(manager),
      isAutoscaler: manager === AUTOSCALER && subresource === "scale",
    }));
}

/** Keeps the number of replicas for an autoscaler until that takes it. What it holds is ours to take back. */
export const HANDOVER_MANAGER = `${FIELD_MANAGER}-handover`;

const REPLICAS = [{ field: "spec" }, { field: "replicas" }];

/**
 * An apply under another manager, made before `desired` stops setting the replicas. A field without a manager falls
 * back to its default, and all replicas but one would go until the autoscaler acts. Null where there is nothing to
 * preserve; zero must not be preserved, as an autoscaler does not scale from it.
 */
export function handoverOf(live: KubeObject, desired: KubeObject): KubeObject | null {
  const replicas = find(live, REPLICAS)?.value;
  const isOurs = ownFields(live).some(({ path }) => JSON.stringify(path) === JSON.stringify(REPLICAS));
  if (!isOurs || find(desired, REPLICAS) || typeof replicas !== "number" || replicas === 0) return null;
  const { name, namespace = "", uid = "" } = live.metadata;
  return { apiVersion: desired.apiVersion, kind: desired.kind, metadata: { name, namespace, uid }, spec: { replicas } };
}

/** Where a field is, as server-side apply names it: elements of lists by what identifies them, not by their place. */
export type PathStep =
  | { readonly field: string }
  | { readonly key: Readonly<Record<string, unknown>> }
  | { readonly value: unknown }
  | { readonly index: number };
export type FieldPath = readonly PathStep[];

/** The same text means the same path. */
export const pathId = (path: FieldPath): string => JSON.stringify(path.map(sorted));

function sorted(step: PathStep): PathStep {
  return "key" in step
    ? { key: Object.fromEntries(Object.entries(step.key).sort(([a], [b]) => (a < b ? -1 : 1))) }
    : step;
}

/** A place in a document, as RFC 6901 writes it. */
export function jsonPointer(steps: readonly (string | number)[]): string {
  return steps.map((step) => `/${String(step).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
}

export interface Found {
  readonly steps: readonly (string | number)[];
  readonly value: unknown;
}

/** The value at the path and its JSON pointer; null where the path leads nowhere. */
export function find(document: unknown, path: FieldPath): Found | null {
  let found: Found = { steps: [], value: document };
  for (const step of path) {
    const inner = into(found.value, step);
    if (!inner) return null;
    found = { steps: [...found.steps, inner.at], value: inner.value };
  }
  return found;
}

function into(value: unknown, step: PathStep): { readonly at: string | number; readonly value: unknown } | null {
  if ("field" in step) {
    if (!isRecord(value) || !Object.hasOwn(value, step.field)) return null;
    return { at: step.field, value: value[step.field] };
  }
  if (!Array.isArray(value)) return null;
  const at = placeOf(value, step);
  return at < 0 || at >= value.length ? null : { at, value: value[at] };
}

function placeOf(list: readonly unknown[], step: Exclude<PathStep, { readonly field: string }>): number {
  if ("index" in step) return step.index;
  if ("value" in step) return list.findIndex((element) => JSON.stringify(element) === JSON.stringify(step.value));
  const fields = Object.entries(step.key);
  return list.findIndex(
    (element) => isRecord(element) && fields.every(([name, value]) => keyField(element, name) === value),
  );
}

/** A port that says no protocol is one of TCP, and is named so. */
function keyField(element: Readonly<Record<string, unknown>>, name: string): unknown {
  return element[name] ?? (name === "protocol" ? "TCP" : undefined);
}

export const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

import { FIELD_MANAGER } from "@binnacle/contract";
import { type FieldPath, isRecord, type PathStep, pathId } from "./field-path.ts";
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

const isOurs = ({ manager, operation, subresource }: ManagedFields): boolean =>
  manager === FIELD_MANAGER && operation === "Apply" && !subresource;

/** What Binnacle has applied to the object and nobody has changed since. */
export function ownFields(object: KubeObject): OwnedField[] {
  return (object.metadata.managedFields ?? []).filter(isOurs).flatMap(({ fieldsV1 }) => fieldsOf(fieldsV1));
}

/** The names under which the operator itself applies something. */
const isOfOurs = (manager: string): boolean => manager === FIELD_MANAGER || manager.startsWith(`${FIELD_MANAGER}-`);

export interface Holder {
  readonly manager: string;
  /** It declares the field, as Binnacle does; what others do is an edit. */
  readonly isDeclared: boolean;
  /** It decides on the number of replicas, by whoever's order. */
  readonly isAutoscaler: boolean;
}

/** Every autoscaler of Kubernetes itself writes so; people who scale by hand have other names. */
const AUTOSCALER = "kube-controller-manager";

/** Who else manages the field. */
export function holdersOf(object: KubeObject, path: FieldPath): Holder[] {
  const id = pathId(path);
  return (object.metadata.managedFields ?? [])
    .filter((entry) => !isOurs(entry) && fieldsOf(entry.fieldsV1).some((field) => pathId(field.path) === id))
    .map(({ manager = "", operation, subresource }) => ({
      manager,
      isDeclared: operation === "Apply" && !isOfOurs(manager),
      isAutoscaler: manager === AUTOSCALER && subresource === "scale",
    }));
}

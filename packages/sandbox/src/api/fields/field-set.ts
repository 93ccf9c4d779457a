import { fieldSchema, type Schema } from "../schema/schema.ts";

/**
 * A set of places in an object, as `managedFields` writes them. Each step is a text: `f:name` a field, `k:{…}` the
 * element with these keys, `v:…` the element with this value. A place may be in the set itself, or only lead to others.
 */
export interface FieldSet {
  readonly isMember: boolean;
  readonly children: ReadonlyMap<string, FieldSet>;
}

interface Draft {
  isMember: boolean;
  readonly children: Map<string, Draft>;
}

export const EMPTY: FieldSet = { isMember: false, children: new Map() };
export const newDraft = (): Draft => ({ isMember: false, children: new Map() });
export type FieldSetDraft = Draft;

/** The place below a draft, made when it is not there. */
export function below(draft: Draft, step: string): Draft {
  const known = draft.children.get(step);
  if (known) return known;
  const made = newDraft();
  draft.children.set(step, made);
  return made;
}

export const isEmpty = ({ isMember, children }: FieldSet): boolean =>
  !isMember && [...children.values()].every(isEmpty);

/** Each place with both sets' opinion of it; places that end up with nothing are left out. */
function combine(a: FieldSet, b: FieldSet, decide: (inA: boolean, inB: boolean) => boolean): FieldSet {
  const children = new Map<string, FieldSet>();
  for (const step of new Set([...a.children.keys(), ...b.children.keys()])) {
    const child = combine(a.children.get(step) ?? EMPTY, b.children.get(step) ?? EMPTY, decide);
    if (child.isMember || child.children.size > 0) children.set(step, child);
  }
  return { isMember: decide(a.isMember, b.isMember), children };
}

export const union = (a: FieldSet, b: FieldSet): FieldSet => combine(a, b, (inA, inB) => inA || inB);
export const intersection = (a: FieldSet, b: FieldSet): FieldSet => combine(a, b, (inA, inB) => inA && inB);
export const difference = (a: FieldSet, b: FieldSet): FieldSet => combine(a, b, (inA, inB) => inA && !inB);

/** Without the places of `b` and all that is below them. */
export function without(a: FieldSet, b: FieldSet): FieldSet {
  const children = new Map<string, FieldSet>();
  for (const [step, child] of a.children) {
    const other = b.children.get(step);
    if (other?.isMember) continue;
    const rest = other ? without(child, other) : child;
    if (rest.isMember || rest.children.size > 0) children.set(step, rest);
  }
  return { isMember: a.isMember, children };
}

/** Only the places of `b` and what is below them. */
export function within(a: FieldSet, b: FieldSet): FieldSet {
  const children = new Map<string, FieldSet>();
  for (const [step, child] of a.children) {
    const other = b.children.get(step);
    if (!other) continue;
    const rest = other.isMember ? child : within(child, other);
    if (rest.isMember || rest.children.size > 0) children.set(step, rest);
  }
  return { isMember: false, children };
}

/** A set of named fields: `["metadata", "name"]` is `.metadata.name`. */
export function fieldsNamed(...paths: readonly (readonly string[])[]): FieldSet {
  const root = newDraft();
  for (const path of paths) {
    let place = root;
    for (const name of path) place = below(place, `f:${name}`);
    place.isMember = true;
  }
  return root;
}

/** All places of the set, each as its steps. */
export function placesIn(set: FieldSet, path: readonly string[] = []): string[][] {
  const inner = sorted(set.children).flatMap(([step, child]) => placesIn(child, [...path, step]));
  return set.isMember && path.length > 0 ? [[...path], ...inner] : inner;
}

const sorted = (children: ReadonlyMap<string, FieldSet>) => [...children].sort(([a], [b]) => (a < b ? -1 : 1));

export function toFieldsV1(set: FieldSet): Record<string, unknown> {
  return Object.fromEntries(
    sorted(set.children).map(([step, child]) => [
      step,
      { ...(child.isMember && child.children.size > 0 ? { ".": {} } : {}), ...toFieldsV1(child) },
    ]),
  );
}

export function fromFieldsV1(fields: Readonly<Record<string, unknown>>): FieldSet {
  const children = new Map<string, FieldSet>();
  for (const [step, inner] of Object.entries(fields)) {
    if (step === ".") continue;
    const { children: below } = fromFieldsV1(inner as Record<string, unknown>);
    children.set(step, { isMember: below.size === 0 || Object.hasOwn(inner as object, "."), children: below });
  }
  return { isMember: false, children };
}

/** `.spec.template.spec.containers[name="web"].image`, as conflicts name a place. */
export function placeText(steps: readonly string[]): string {
  return steps.map(stepText).join("");
}

function stepText(step: string): string {
  const rest = step.slice(2);
  if (step.startsWith("f:")) return `.${rest}`;
  if (step.startsWith("v:")) return `[=${rest}]`;
  if (!step.startsWith("k:")) return `[${rest}]`;
  const keys = Object.entries(JSON.parse(rest) as Record<string, unknown>);
  return `[${keys.map(([name, value]) => `${name}=${JSON.stringify(value)}`).join(",")}]`;
}

type ListSchema = Extract<Schema, { is: "list" }>;

/** A list cannot be merged because its elements have no identity. */
export class UnidentifiedElement extends Error {
  override readonly name = "UnidentifiedElement";
}

/** The path step that identifies an element of a list. */
export function stepOfElement(list: ListSchema, element: unknown): string {
  if (list.relation === "set") {
    if (typeof element === "object")
      throw new UnidentifiedElement("associative list without keys has an element that's a map type");
    return `v:${JSON.stringify(element)}`;
  }
  if (typeof element !== "object" || element === null) {
    throw new UnidentifiedElement("associative list with keys may not have non-map elements");
  }
  const keys: Record<string, unknown> = {};
  for (const name of list.keys.toSorted()) {
    const value = (element as Record<string, unknown>)[name] ?? defaultOf(list.items, name);
    if (value !== undefined) keys[name] = value;
  }
  if (Object.keys(keys).length === 0) {
    const names = list.keys.map((name) => JSON.stringify(name)).join(" ");
    throw new UnidentifiedElement(
      `associative list with keys has an element that omits all key fields [${names}] (and doesn't have default values for any key fields)`,
    );
  }
  return `k:${JSON.stringify(keys)}`;
}

function defaultOf(items: Schema, name: string): unknown {
  if (items.is !== "struct") return undefined;
  const field = items.fields.get(name);
  return field && fieldSchema(items, name) ? field.default : undefined;
}

import { fieldSchema, type Schema } from "../schema/schema.ts";
import { type FieldSet, stepOfElement, UnidentifiedElement } from "./field-set.ts";
import { isRecord } from "./typed-value.ts";

type ListSchema = Extract<Schema, { is: "list" }>;

/** The live value with the applied one laid over it. Undefined stands for a value that is not there. */
export function merge(schema: Schema, live: unknown, applied: unknown): unknown {
  if (applied === undefined) return live;
  if (live === undefined || live === null || applied === null) return applied;
  if (schema.is === "list" && schema.relation !== "atomic" && Array.isArray(live) && Array.isArray(applied)) {
    return live.length === 0 && applied.length === 0 ? applied : mergeElements(schema, live, applied);
  }
  const isMap = schema.is === "any" || ((schema.is === "map" || schema.is === "struct") && !schema.isAtomic);
  if (!isMap || !isRecord(live) || !isRecord(applied)) return applied;
  const merged: Record<string, unknown> = {};
  for (const name of new Set([...Object.keys(live), ...Object.keys(applied)])) {
    const value = merge(fieldSchema(schema, name) ?? { is: "any" }, live[name], applied[name]);
    if (value !== undefined) merged[name] = value;
  }
  return merged;
}

/** Elements of the applied list in their order; those of the live list keep their places among them. */
function mergeElements(schema: ListSchema, live: readonly unknown[], applied: readonly unknown[]): unknown[] {
  const liveSteps = live.map((element) => stepOfElement(schema, element));
  const appliedSteps = applied.map((element) => stepOfElement(schema, element));
  const repeated = appliedSteps.find((step, at) => appliedSteps.indexOf(step) !== at);
  if (repeated !== undefined) throw new UnidentifiedElement(`duplicate entries for key ${repeated.slice(2)}`);
  const liveAt = new Map(
    liveSteps.map((step, at) => [step, liveSteps.indexOf(step) === liveSteps.lastIndexOf(step) ? live[at] : undefined]),
  );
  const wanted = new Set(appliedSteps);
  const shared = appliedSteps.filter((step) => liveAt.has(step));
  const done = new Set<string>();
  const out: unknown[] = [];
  const take = (at: number) => {
    const step = appliedSteps[at] ?? "";
    done.add(step);
    out.push(merge(schema.items, liveAt.get(step), applied[at]));
    if (shared[0] === step) shared.shift();
  };
  let [l, r] = [0, 0];
  while (l < liveSteps.length || r < appliedSteps.length) {
    const step = liveSteps[l];
    if (step !== undefined && r < appliedSteps.length) {
      if (step === appliedSteps[r]) {
        take(r);
        l++;
        r++;
        continue;
      }
      if (wanted.has(step) && shared[0] !== undefined && shared[0] !== step) {
        l++;
        continue;
      }
    }
    if (step !== undefined) {
      if (!wanted.has(step)) {
        out.push(live[l]);
        l++;
        continue;
      }
      if (done.has(step)) l++;
    }
    if (r < appliedSteps.length) {
      take(r);
      r++;
    }
  }
  return out;
}

/** The value without the places of the set; what is left empty by it goes too. */
export function removePlaces(schema: Schema, value: unknown, set: FieldSet): unknown {
  if (schema.is === "list") {
    if (!Array.isArray(value) || value.length === 0 || schema.relation === "atomic") return undefined;
    const kept = value.flatMap((element) => {
      const place = set.children.get(stepOfElement(schema, element));
      if (place?.isMember) return [];
      return [place && place.children.size > 0 ? removePlaces(schema.items, element, place) : element];
    });
    return kept.length > 0 ? kept : undefined;
  }
  if (schema.is === "scalar" || !isRecord(value)) return Array.isArray(value) ? undefined : value;
  if (Object.keys(value).length === 0 || (schema.is !== "any" && schema.isAtomic)) return undefined;
  const kept: Record<string, unknown> = {};
  for (const [name, inner] of Object.entries(value)) {
    const place = set.children.get(`f:${name}`);
    if (place?.isMember) continue;
    const rest =
      place && place.children.size > 0 ? removePlaces(fieldSchema(schema, name) ?? { is: "any" }, inner, place) : inner;
    // An emptied field stays as a null, which the types of Kubernetes treat as absent.
    kept[name] = rest === undefined ? null : rest;
  }
  return Object.keys(kept).length > 0 ? kept : undefined;
}

/** With all named fields on the way to a place, as they too are somebody's when what is below them is. */
export function withNamedFields(schema: Schema | undefined, set: FieldSet): FieldSet {
  const children = new Map<string, FieldSet>();
  for (const [step, child] of set.children) {
    const isField = step.startsWith("f:");
    const name = step.slice(2);
    const inner = isField && schema ? fieldSchema(schema, name) : schema?.is === "list" ? schema.items : undefined;
    const isNamed = isField && schema?.is === "struct" && schema.fields.has(name);
    const below = withNamedFields(inner, child);
    children.set(step, { isMember: below.isMember || (isNamed && child.children.size > 0), children: below.children });
  }
  return { isMember: set.isMember, children };
}

import { isRecord, isSame, type JsonRecord } from "../fields/typed-value.ts";
import type { Field, Schema } from "../schema/schema.ts";
import { PatchFailed } from "./json-patch.ts";

const DIRECTIVE = "$patch";
const DELETE_FROM = "$deleteFromPrimitiveList/";
const ORDER_OF = "$setElementOrder/";
const RETAIN_KEYS = "$retainKeys";

/** A merge patch that knows which elements of the lists of Kubernetes belong together. */
export function strategicPatch(schema: Schema, target: JsonRecord, patch: JsonRecord): JsonRecord {
  const { [DIRECTIVE]: directive, [RETAIN_KEYS]: retained, ...changes } = patch;
  if (directive === "delete") return {};
  if (directive === "replace") return cleaned(changes);
  const result: Record<string, unknown> = Array.isArray(retained) ? only(target, retained) : { ...target };
  for (const [name, value] of Object.entries(changes)) {
    if (name.startsWith(ORDER_OF)) continue;
    if (name.startsWith(DELETE_FROM)) {
      const list = name.slice(DELETE_FROM.length);
      result[list] = without(result[list], value);
    } else if (value === null) delete result[name];
    else result[name] = changed(fieldOf(schema, name), result[name], value);
  }
  for (const [name, order] of Object.entries(changes)) {
    if (!name.startsWith(ORDER_OF)) continue;
    const list = name.slice(ORDER_OF.length);
    const [now, before] = [result[list], target[list]];
    if (Array.isArray(now)) result[list] = ordered(now, order, before, fieldOf(schema, list)?.mergeKey);
  }
  return result;
}

function fieldOf(schema: Schema, name: string): Pick<Field, "schema" | "mergeKey" | "isReplaced"> | undefined {
  if (schema.is === "struct") return schema.fields.get(name);
  return schema.is === "map" ? { schema: schema.values, isReplaced: false } : undefined;
}

function changed(field: ReturnType<typeof fieldOf>, target: unknown, patch: unknown): unknown {
  const schema = field?.schema ?? { is: "any" };
  if (isRecord(patch))
    return field?.isReplaced ? cleaned(patch) : strategicPatch(schema, isRecord(target) ? target : {}, patch);
  if (!Array.isArray(patch)) return patch;
  if (field?.mergeKey === undefined || schema.is !== "list") return patch.map(cleanedValue);
  const before = Array.isArray(target) ? target : [];
  const key = field.mergeKey;
  const merged = key === "" ? [...new Set([...before, ...patch])] : mergedElements(schema.items, key, before, patch);
  return ordered(merged, patch, before, key);
}

function mergedElements(items: Schema, key: string, target: readonly unknown[], patch: readonly unknown[]): unknown[] {
  const changes = patch.filter(isRecord);
  if (changes.some((change) => change[DIRECTIVE] === "replace")) {
    return changes.filter((change) => change[DIRECTIVE] !== "replace").map(cleaned);
  }
  let result = [...target];
  for (const change of changes) {
    const { [key]: id } = change;
    if (id === undefined)
      throw new PatchFailed(`map: ${JSON.stringify(change)} does not contain declared merge key: ${key}`);
    const isIt = (element: unknown) => isRecord(element) && isSame(element[key], id);
    if (change[DIRECTIVE] === "delete") result = result.filter((element) => !isIt(element));
    else if (result.some(isIt)) {
      result = result.map((element) =>
        isIt(element) ? strategicPatch(items, element as JsonRecord, change) : element,
      );
    } else result.push(strategicPatch(items, {}, change));
  }
  return result;
}

/**
 * Elements that the order names stand as it says. The others stand among them as they did before, and after them where
 * that says nothing.
 */
function ordered(list: readonly unknown[], order: unknown, before: unknown, key: string | undefined): unknown[] {
  if (!Array.isArray(order)) return [...list];
  const idOf = (element: unknown) => JSON.stringify(key && isRecord(element) ? element[key] : element);
  const ranks = (of: unknown) => new Map((Array.isArray(of) ? of : []).map((element, at) => [idOf(element), at]));
  const [rank, place] = [ranks(order), ranks(before)];
  const rankOf = (element: unknown) => rank.get(idOf(element)) ?? -1;
  const placeOf = (element: unknown) => place.get(idOf(element));
  const named = list.filter((element) => rankOf(element) >= 0).sort((a, b) => rankOf(a) - rankOf(b));
  const others = list.filter((element) => rankOf(element) < 0);
  const result: unknown[] = [];
  while (named.length > 0 && others.length > 0) {
    const [left, right] = [placeOf(named[0]), placeOf(others[0])];
    const isOtherFirst = left !== undefined && right !== undefined && right < left;
    result.push(isOtherFirst ? others.shift() : named.shift());
  }
  return [...result, ...named, ...others];
}

const without = (list: unknown, gone: unknown): unknown[] =>
  (Array.isArray(list) ? list : []).filter(
    (element) => !(Array.isArray(gone) && gone.some((one) => isSame(one, element))),
  );

const only = (record: JsonRecord, names: readonly unknown[]): Record<string, unknown> =>
  Object.fromEntries(Object.entries(record).filter(([name]) => names.includes(name)));

/** Without directives and nulls, which mean nothing where there is nothing to change. */
function cleaned(record: JsonRecord): JsonRecord {
  const kept = Object.entries(record).filter(([name, value]) => value !== null && !name.startsWith("$"));
  return Object.fromEntries(kept.map(([name, value]) => [name, cleanedValue(value)]));
}

const cleanedValue = (value: unknown): unknown => (isRecord(value) ? cleaned(value) : value);

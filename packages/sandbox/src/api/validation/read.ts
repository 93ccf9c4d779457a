import { isRecord, type JsonRecord } from "../fields/json-value.ts";

/** What stands at the path, where each step is a field; undefined where the path leads nowhere. */
export function at(value: unknown, ...path: readonly string[]): unknown {
  return path.reduce<unknown>((inner, step) => (isRecord(inner) ? inner[step] : undefined), value);
}

export const recordAt = (value: unknown, ...path: readonly string[]): JsonRecord => {
  const found = at(value, ...path);
  return isRecord(found) ? found : {};
};

export const recordsAt = (value: unknown, ...path: readonly string[]): readonly JsonRecord[] => {
  const found = at(value, ...path);
  return Array.isArray(found) ? found.filter(isRecord) : [];
};

export const textAt = (value: unknown, ...path: readonly string[]): string => {
  const found = at(value, ...path);
  return typeof found === "string" ? found : "";
};

export const numberAt = (value: unknown, ...path: readonly string[]): number => {
  const found = at(value, ...path);
  return typeof found === "number" ? found : 0;
};

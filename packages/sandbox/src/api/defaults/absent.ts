import type { JsonRecord } from "../fields/json-value.ts";

/** The fields that the value does not have. */
export function whenAbsent(value: JsonRecord, defaults: JsonRecord): JsonRecord {
  return Object.fromEntries(
    Object.entries(defaults).filter(([name]) => value[name] === undefined || value[name] === null),
  );
}

/** The fields that the value does not have, or has as an empty text or a zero. */
export function whenEmpty(value: JsonRecord, defaults: JsonRecord): JsonRecord {
  return Object.fromEntries(Object.entries(defaults).filter(([name]) => !value[name]));
}

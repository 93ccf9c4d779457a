export type JsonRecord = Readonly<Record<string, unknown>>;

export const isRecord = (value: unknown): value is JsonRecord =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The record without some of its fields. */
export function omitting<R extends object, N extends string>(record: R, ...names: readonly N[]): Omit<R, N> {
  const dropped = new Set<string>(names);
  return Object.fromEntries(Object.entries(record).filter(([name]) => !dropped.has(name))) as Omit<R, N>;
}

/** Whether two JSON values say the same; the order of fields means nothing. */
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

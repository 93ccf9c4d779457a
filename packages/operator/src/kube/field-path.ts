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

/** What the document holds at the path, and where that is; null where the path leads nowhere. */
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

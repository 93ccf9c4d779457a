import type { ValidationItem, ValidationType } from "@binnacle/contract";

type Loc = ValidationItem["loc"];

/** The part of a malformed body that has the types of its schema. Only top-level fields may be missing from it. */
export interface SoundPart {
  readonly body: unknown;
  /** Something was taken out, so a reference to something unknown may be to that. */
  readonly isPartial: boolean;
  /** Translates a location in this part to the location in the body. */
  readonly original: (loc: Loc) => Loc;
}

/** Problems of values that have the right type, so that code which expects the type can read them. */
const TYPED: ReadonlySet<ValidationType> = new Set<ValidationType>([
  "string_pattern_mismatch",
  "string_too_short",
  "greater_than",
  "greater_than_equal",
  "less_than",
  "less_than_equal",
  "uuid_parsing",
  "extra_forbidden",
]);

/** A field that is taken out may leave its object incomplete, which is then taken out too. Deeper nesting is rare. */
const MOST_ROUNDS = 4;

/**
 * Takes out everything that does not have the type of its schema, so that rules which a schema cannot express are checked
 * on the rest. Returns null if that is nothing. `check` returns the problems of types in a body.
 */
export function soundPart(body: unknown, check: (body: unknown) => readonly ValidationItem[]): SoundPart | null {
  const removed: Removed = new Map();
  let isPartial = false;
  for (let round = 1; round <= MOST_ROUNDS; round++) {
    const indexes = new Map<unknown, number[]>();
    const rest = without(body, removed, indexes);
    const original = (loc: Loc) => relocated(loc, rest, indexes);
    const untyped = check(rest).flatMap((item) => untypedPart(item));
    if (untyped.length === 0) return { body: rest, isPartial, original };
    for (const loc of untyped) {
      if (loc.length < 2) return null;
      const path = original(loc).slice(1);
      remove(removed, path);
      isPartial = true;
    }
  }
  return null;
}

function untypedPart({ loc, type }: ValidationItem): Loc[] {
  if (TYPED.has(type)) return [];
  if (type !== "missing") return [loc];
  // A missing field makes its object unreadable, except the body: its fields may all be missing.
  return loc.length > 2 ? [loc.slice(0, -1)] : [];
}

/** The steps to removed values; null is a removed value. */
type Removed = Map<string | number, Removed | null>;

function remove(from: Removed, [step, ...rest]: Loc): void {
  if (step === undefined) return;
  const inner = from.get(step);
  if (inner === null) return;
  if (rest.length === 0) from.set(step, null);
  else {
    const next: Removed = inner ?? new Map();
    from.set(step, next);
    remove(next, rest);
  }
}

function without(value: unknown, removed: Removed | undefined, indexes: Map<unknown, number[]>): unknown {
  if (!removed || typeof value !== "object" || value === null) return value;
  const kept = (step: string | number, item: unknown) => without(item, removed.get(step) ?? undefined, indexes);
  if (!Array.isArray(value)) {
    const entries = Object.entries(value).filter(([key]) => removed.get(key) !== null);
    return Object.fromEntries(entries.map(([key, item]) => [key, kept(key, item)]));
  }
  const left = [...value.keys()].filter((index) => removed.get(index) !== null);
  const list = left.map((index) => kept(index, value[index]));
  indexes.set(list, left);
  return list;
}

function relocated([part, ...steps]: Loc, root: unknown, indexes: ReadonlyMap<unknown, number[]>): Loc {
  let container = root;
  const path = steps.map((step) => {
    const before = typeof step === "number" ? (indexes.get(container)?.[step] ?? step) : step;
    container =
      typeof container === "object" && container !== null
        ? (container as Record<string | number, unknown>)[step]
        : undefined;
    return before;
  });
  return part === undefined ? path : [part, ...path];
}

/** Adds problems that were found beside others. What is within a refused value is not reported again. */
export function withFurther(found: readonly ValidationItem[], further: readonly ValidationItem[]): ValidationItem[] {
  const refused = found.map(({ loc }) => loc);
  const isWithin = (loc: Loc) => refused.some((outer) => outer.every((step, index) => loc[index] === step));
  return [...found, ...further.filter(({ loc }) => !isWithin(loc))];
}

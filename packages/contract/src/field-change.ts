import Type, { type Static } from "typebox";
import { Nullable } from "./fields.ts";
import { canonicalJson } from "./link/inventory.ts";
import { mayBeSecret } from "./secret-names.ts";

/** The fields that a change touches, with their values before and after: for people, within bounds, and without secrets. */

export const MOST_FIELD_CHANGES = 50;
const LONGEST_VALUE = 200;
const LONGEST_FIELD = 300;
/** Of all changes of one list together, in characters. */
const LONGEST_LIST = 8_000;

const shownValue = (description: string, example: string) =>
  Nullable(Type.Union([Type.String(), Type.Number(), Type.Boolean()], { description, examples: [example] }));

export const FieldChange = Type.Object(
  {
    component: Nullable(Type.String({ description: "Null for a field of the whole.", examples: ["web"] })),
    field: Type.String({
      description: "In dotted form. Variables, ports, files and whatever else has a name are addressed by it.",
      examples: ["image"],
    }),
    change: Type.Enum(["added", "removed", "changed"], { examples: ["changed"] }),
    before: shownValue("Null where there was none and where it is not shown.", "registry.example.com/web:1.5.0"),
    after: shownValue("Null where there is none and where it is not shown.", "registry.example.com/web:1.5.1"),
  },
  {
    title: "FieldChange",
    description: `Values are cut after ${LONGEST_VALUE} characters. Secrets, contents of files, lists and whatever looks like a secret are not shown.`,
  },
);
export type FieldChange = Static<typeof FieldChange>;
export type Shown = FieldChange["before"];

/** A value as it is compared, and as it is shown. */
export interface Leaf {
  readonly compared: string;
  readonly shown: Shown;
}
export type Leaves = ReadonlyMap<string, Leaf>;

/** For a value that is not shown, only whether it differs is known. */
export const hiddenLeaf = (value: unknown): Leaf => ({ compared: canonicalJson(value), shown: null });

export const shownLeaf = (value: unknown, shown: string | number | boolean): Leaf => ({
  compared: canonicalJson(value),
  shown: typeof shown === "string" ? clipped(shown, LONGEST_VALUE) : shown,
});

const DEEPEST = 20;

/** Adds the values below a field, each by its dotted name. Members of lists are addressed by their names, other lists are one value. */
export function addLeaves(to: Map<string, Leaf>, field: string, value: unknown, depth = 0): void {
  if (value === undefined) return;
  const members = depth < DEEPEST ? membersOf(value) : null;
  if (!members) to.set(field, leafOf(field, value));
  else for (const [name, member] of members) addLeaves(to, field === "" ? name : `${field}.${name}`, member, depth + 1);
}

function leafOf(field: string, value: unknown): Leaf {
  const isShown = typeof value === "string" || typeof value === "number" || typeof value === "boolean";
  return isShown && !mayBeSecret(field, value) ? shownLeaf(value, value) : hiddenLeaf(value);
}

/** Null for a value without members that have names. */
function membersOf(value: unknown): readonly (readonly [string, unknown])[] | null {
  if (!Array.isArray(value)) return isObject(value) ? Object.entries(value) : null;
  const members = value.filter(isObject).map(({ name, ...rest }) => [name, rest] as const);
  const names = new Set(members.map(([name]) => name));
  const isNamed = names.size === value.length && [...names].every((name) => typeof name === "string");
  return isNamed ? (members as [string, unknown][]) : null;
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Compares two sets of fields, in the order in which the later one has them. */
export function diffLeaves(component: string | null, before: Leaves, after: Leaves): FieldChange[] {
  return [...new Set([...after.keys(), ...before.keys()])].flatMap((name): FieldChange[] => {
    const [old, now] = [before.get(name), after.get(name)];
    if (old?.compared === now?.compared) return [];
    const change = !old ? "added" : !now ? "removed" : "changed";
    // A value beside one that is not shown would tell half of a secret that has been moved.
    const isHidden = old?.shown === null || now?.shown === null;
    const [shownBefore, shownAfter] = isHidden ? [null, null] : [old?.shown ?? null, now?.shown ?? null];
    return [{ component, field: clipped(name, LONGEST_FIELD), change, before: shownBefore, after: shownAfter }];
  });
}

/** The fields that differ between two records. Fields that the later one does not name are not compared. */
export function fieldChanges(before: object, after: object): FieldChange[] {
  const [old, now] = [new Map<string, Leaf>(), new Map<string, Leaf>()];
  for (const name of Object.keys(after)) {
    addLeaves(old, name, valueIn(before, name));
    addLeaves(now, name, valueIn(after, name));
  }
  return diffLeaves(null, old, now);
}

function valueIn(record: object, name: string): unknown {
  const value = Object.hasOwn(record, name) ? (record as Record<string, unknown>)[name] : null;
  const isList = Array.isArray(value) && value.length > 0 && value.every((member) => typeof member === "string");
  return isList ? value.join(", ") : (value ?? undefined);
}

/** As many of the changes as may be stored and sent, from the first one on. */
export function boundedChanges(changes: readonly FieldChange[]): FieldChange[] {
  let left = LONGEST_LIST;
  return changes.slice(0, MOST_FIELD_CHANGES).filter((change) => {
    left -= JSON.stringify(change).length;
    return left >= 0;
  });
}

/** Cuts a text without leaving half of a character, which PostgreSQL refuses. */
export function clipped(text: string, longest: number): string {
  if (text.length <= longest) return text;
  const cut = text.slice(0, longest - 1);
  return `${/[\ud800-\udbff]$/.test(cut) ? cut.slice(0, -1) : cut}…`;
}

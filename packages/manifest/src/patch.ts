import type { Input } from "@binnacle/client";
import { type AppManifest, type Fields, isFields, type Path } from "./read.ts";

type Body = Input<"updateApp">["body"];

/** What is sent so that an app becomes what a file says. */
export interface AppChange {
  /** Null where there is nothing to send. */
  readonly body: Body | null;
  /** The component of the file that each change of the request is about; null for one that is removed. */
  readonly indexes: readonly (number | null)[];
  /** Values that no change can bring about, each with the reason. */
  readonly problems: readonly { readonly path: Path; readonly message: string }[];
}

/** Confirmations that the API asks for where a change loses data. */
export interface Confirmations {
  readonly recreate?: boolean;
  readonly allow_downgrade?: boolean;
}

/** The change from one version of an app to another: components that go, that come, and merge patches of the others. */
export function changeBetween(before: AppManifest, after: AppManifest, confirmations: Confirmations = {}): AppChange {
  const removed = before.components.filter(({ name }) => !after.components.some((it) => it.name === name));
  const changes: Fields[] = removed.map(({ name }) => ({ op: "remove", name }));
  const indexes: (number | null)[] = removed.map(() => null);
  const problems: { path: Path; message: string }[] = [];
  if (after.name !== before.name) problems.push({ path: ["name"], message: "An app cannot be renamed." });
  after.components.forEach((component, index) => {
    const old = before.components.find(({ name }) => name === component.name);
    const patch = old ? mergePatchBetween(old, component) : component;
    if (Object.keys(patch).length === 0) return;
    for (const path of old ? newNulls(old, component) : []) {
      problems.push({
        path: ["components", index, ...path],
        message: "A change cannot set a field to null, because null removes it. Leave the field out.",
      });
    }
    changes.push(old ? { op: "patch", name: component.name, ...patch, ...confirmations } : { op: "add", ...component });
    indexes.push(index);
  });
  const isDescribedAnew = before.description !== after.description;
  if (changes.length === 0 && !isDescribedAnew) return { body: null, indexes, problems };
  const body: Body = {
    ...(changes.length > 0 ? { components: changes as unknown as NonNullable<Body["components"]> } : {}),
    ...(isDescribedAnew ? { description: after.description } : {}),
  };
  return { body, indexes, problems };
}

/** The field of a file that a field of the request is about; a change that removes a component is about the list of them. */
export function pathInFile([first, index, ...rest]: Path, indexes: readonly (number | null)[] | null): Path {
  if (first !== "components" || typeof index !== "number") return first === undefined ? [] : [first];
  const at = indexes === null ? index : indexes[index];
  return at === null || at === undefined ? ["components"] : ["components", at, ...rest];
}

/** A merge patch (RFC 7396) that turns one value into the other. */
export function mergePatchBetween(before: Fields, after: Fields): Fields {
  const patch = new Map<string, unknown>();
  for (const key of Object.keys(before)) if (after[key] === undefined) patch.set(key, null);
  for (const [key, value] of Object.entries(after)) {
    if (value === undefined) continue;
    const old = Object.hasOwn(before, key) ? before[key] : undefined;
    if (isSame(old, value)) continue;
    patch.set(key, isFields(old) && isFields(value) ? mergePatchBetween(old, value) : value);
  }
  return Object.fromEntries(patch);
}

/** The paths at which a field becomes null. Lists are replaced as a whole, so a null in one is a value like others. */
function newNulls(before: Fields, after: Fields): readonly Path[] {
  return Object.entries(after).flatMap(([key, value]): readonly Path[] => {
    const old = Object.hasOwn(before, key) ? before[key] : undefined;
    if (value === null) return old === null ? [] : [[key]];
    return isFields(value) ? newNulls(isFields(old) ? old : {}, value).map((path) => [key, ...path]) : [];
  });
}

export function isSame(a: unknown, b: unknown): boolean {
  if (Array.isArray(a)) return Array.isArray(b) && a.length === b.length && a.every((item, i) => isSame(item, b[i]));
  if (!isFields(a) || !isFields(b)) return a === b;
  const keys = new Set([...Object.keys(a), ...Object.keys(b)]);
  return [...keys].every((key) => Object.hasOwn(a, key) === Object.hasOwn(b, key) && isSame(a[key], b[key]));
}

import { ANNOTATIONS, type DriftField, FIELD_MANAGER, safeText } from "@binnacle/contract";
import type { KubeObject } from "./kube-client.ts";
import {
  type FieldPath,
  find,
  holdersOf,
  isRecord,
  jsonPointer,
  type OwnedField,
  ownFields,
  pathId,
} from "./managed-fields.ts";
import { isSameValue } from "./same-value.ts";

/**
 * The reason of a difference.
 * - `outdated`: the new value is not applied yet;
 * - `edited`: somebody has changed it;
 * - `held`: another manager declares it by server-side apply, so both would overwrite each other.
 */
export type Cause = "outdated" | "edited" | "held";

export interface Difference {
  readonly cause: Cause;
  readonly field: DriftField;
}

/**
 * The changes that an apply would make to the fields that the applying manager sets. `wanted` is the result of a dry run,
 * so defaults, normalisation and additions of others are the same on both sides.
 */
export function differencesOf(live: KubeObject, wanted: KubeObject, applier = FIELD_MANAGER): Difference[] {
  const ours = new Set(ownFields(live, applier).map(({ path }) => pathId(path)));
  const isOutdated = hashIn(live) !== hashIn(wanted);
  const different = withoutInner(ownFields(wanted, applier).filter((owned) => differs(owned, live, wanted)));
  return different.flatMap(({ path }) => {
    const holders = holdersOf(live, path, applier);
    // Somebody has put an autoscaler on it; to take the number back would begin a quarrel.
    if (!isOutdated && holders.some(({ isAutoscaler }) => isAutoscaler)) return [];
    const declaring = holders.find(({ isDeclared }) => isDeclared);
    const cause = declaring ? "held" : isOutdated || ours.has(pathId(path)) ? "outdated" : "edited";
    return [{ cause, field: fieldAt(path, live, wanted, (declaring ?? holders[0])?.manager) }];
  });
}

export const hashIn = ({ metadata: { annotations } }: KubeObject): string | undefined =>
  annotations?.[ANNOTATIONS.hash];

function differs({ path, isLeaf }: OwnedField, live: KubeObject, wanted: KubeObject): boolean {
  const desired = find(wanted, path);
  const observed = find(live, path);
  if (!desired || !observed) return desired !== observed;
  return isLeaf && !isSameValue(path, desired.value, observed.value);
}

/** An element that is missing is one difference, not one for each of its fields. */
function withoutInner(fields: readonly OwnedField[]): OwnedField[] {
  const ids = new Set(fields.map(({ path }) => pathId(path)));
  return fields.filter(({ path }) => !path.some((_, at) => at > 0 && ids.has(pathId(path.slice(0, at)))));
}

const LONGEST_POINTER = 1_024;

function fieldAt(path: FieldPath, live: KubeObject, wanted: KubeObject, manager: string | undefined): DriftField {
  const desired = find(wanted, path);
  const observed = find(live, path);
  const pointer = jsonPointer((observed ?? desired)?.steps ?? []).slice(0, LONGEST_POINTER);
  return {
    object: { kind: wanted.kind, name: wanted.metadata.name },
    pointer,
    ...(wanted.kind === "Secret" ? {} : values(desired?.value, observed?.value)),
    ...(manager === undefined ? {} : { manager: safeText(manager).slice(0, 200) }),
  };
}

function values(desired: unknown, observed: unknown): Pick<DriftField, "desired" | "observed"> {
  return {
    ...(desired === undefined ? {} : { desired: showable(desired) }),
    ...(observed === undefined ? {} : { observed: showable(observed) }),
  };
}

const LONGEST_VALUE = 2_048;

/** A value as it may leave the cluster: what looks like a secret is masked, what is long is cut. */
function showable(value: unknown): unknown {
  const safe = masked(value);
  const text = JSON.stringify(safe);
  return text.length <= LONGEST_VALUE ? safe : `${text.slice(0, LONGEST_VALUE)}…`;
}

function masked(value: unknown): unknown {
  if (typeof value === "string") return safeText(value);
  if (Array.isArray(value)) return value.map(masked);
  if (isRecord(value)) return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, masked(inner)]));
  return value;
}

import type { DriftField } from "@binnacle/contract";

/** How often one field of one object was healed of late, and when it is healed next. */
interface Cause {
  readonly attempts: number;
  /** When to heal what somebody has changed; null where nobody has. */
  readonly dueMs: number | null;
  readonly healedMs: number | null;
}

/** By the object and the field: a quarrel about one field must not delay the healing of another. */
export type Healing = ReadonlyMap<string, Cause>;

export const NOT_HEALING: Healing = new Map();

const FIRST_MS = 2_000;
const FACTOR = 3;
const LONGEST_MS = 300_000;
/** The whole workload is gone, so waiting longer would prolong an outage. */
const LONGEST_OUTAGE_MS = 30_000;
/** After this time without drift, nobody is undoing the changes any more. */
const CALM_MS = 600_000;

/**
 * The first delay lets people see the drift. The longer ones keep two controllers from overwriting each other all the
 * time.
 */
export const healAfterMs = (attempts: number, isOutage = false): number =>
  Math.min(FIRST_MS * FACTOR ** Math.min(attempts, 10), isOutage ? LONGEST_OUTAGE_MS : LONGEST_MS);

const causeOf = ({ object, pointer }: DriftField): string => `${object.kind}/${object.name}${pointer}`;

/** The object was deleted, or scaled to nothing. */
const isOutage = ({ pointer, observed }: DriftField): boolean =>
  pointer === "" || (pointer === "/spec/replicas" && observed === 0);

/** Whether an object is healed in this pass, by the fields of it that have drifted. All of them are healed at once. */
export function mayHeal(healing: Healing, drift: readonly DriftField[], nowMs: number): boolean {
  return drift.some((field) => {
    const dueMs = healing.get(causeOf(field))?.dueMs ?? null;
    return dueMs !== null && nowMs >= dueMs;
  });
}

export interface HealedPass {
  /** Still as somebody has changed them. */
  readonly drifted: readonly DriftField[];
  readonly healed: readonly DriftField[];
}

export function afterPass(before: Healing, { drifted, healed }: HealedPass, nowMs: number): Healing {
  const after = new Map<string, Cause>();
  for (const [cause, known] of before) {
    const isRecent = known.healedMs !== null && nowMs - known.healedMs <= CALM_MS;
    if (isRecent) after.set(cause, { ...known, dueMs: null });
  }
  for (const field of drifted) {
    const cause = causeOf(field);
    const { attempts = 0, healedMs = null } = after.get(cause) ?? {};
    const dueMs = before.get(cause)?.dueMs ?? nowMs + healAfterMs(attempts, isOutage(field));
    after.set(cause, { attempts, dueMs, healedMs });
  }
  for (const field of healed) {
    const attempts = after.get(causeOf(field))?.attempts ?? 0;
    after.set(causeOf(field), { attempts: attempts + 1, dueMs: null, healedMs: nowMs });
  }
  return after;
}

/** When the next healing is due; null where there is nothing to heal. */
export function nextHealMs(healing: Healing): number | null {
  const due = [...healing.values()].flatMap(({ dueMs }) => dueMs ?? []);
  return due.length === 0 ? null : Math.min(...due);
}

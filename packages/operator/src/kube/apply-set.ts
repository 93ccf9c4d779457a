import { createHash } from "node:crypto";
import { ANNOTATIONS, canonicalJson, type DriftField, parseQuantity } from "@binnacle/contract";
import { type Difference, differencesOf, hashIn } from "./drift.ts";
import { fixedVolume, requestedStorage } from "./fixed-volume.ts";
import type { KubeObject } from "./kube-client.ts";
import { countIn, fieldsIn, listIn, specOf, statusOf, textIn, titleOf } from "./object-fields.ts";
import { isRefusal, type Refusal } from "./refusal.ts";

/** The object, with a hash of itself: what is stored without this very hash is not applied yet. */
export function sealed(object: KubeObject): KubeObject {
  const hash = createHash("sha256").update(canonicalJson(object)).digest("hex").slice(0, 32);
  const { metadata } = object;
  return { ...object, metadata: { ...metadata, annotations: { ...metadata.annotations, [ANNOTATIONS.hash]: hash } } };
}

/** The inputs of a decision about one object. */
export interface Inspection {
  readonly desired: KubeObject;
  readonly live: KubeObject | null;
  /** The one that is there was made for this very purpose, by this operator. */
  readonly isOwn: boolean;
  /** The object existed before. */
  readonly wasThere: boolean;
  /** The object has finished, such as a Job. It is not an error when it is gone. */
  readonly isFinished: boolean;
  /** The result of a dry run, or the refusal. Null where there was no dry run. */
  readonly trial: KubeObject | Refusal | null;
}

export type Step =
  /** `isCertain`: it is as desired, which cannot always be found out. */
  | { readonly action: "keep"; readonly isCertain: boolean }
  /** `isForced`: others are overruled. `drift`: what somebody has changed; what was never applied is none. */
  | { readonly action: "apply"; readonly isForced: boolean; readonly drift: readonly DriftField[] }
  /** An immutable field differs, so the object is deleted and created again. */
  | { readonly action: "recreate" }
  /** The volumes of a StatefulSet are larger. They grow first; then it is made again around its pods, which stay. */
  | { readonly action: "regrow"; readonly volumes: readonly GrownVolume[] }
  /** The present one is on its way out, and the next can only be made after it. */
  | { readonly action: "wait"; readonly message: string }
  | { readonly action: "blocked"; readonly fields: readonly DriftField[]; readonly summary: string }
  | { readonly action: "refused"; readonly refusal: Refusal };

/** A template of claims, with the size that they are to have. */
export interface GrownVolume {
  readonly name: string;
  readonly storage: string;
}

export interface Leave {
  /** Take over fields that other managers hold. */
  readonly takeOver: boolean;
}

/** Decides how an object gets to the desired state. */
export function stepFor(inspection: Inspection, { takeOver }: Leave): Step {
  const { desired, live, isOwn, wasThere, isFinished, trial } = inspection;
  if (live?.metadata.deletionTimestamp) {
    return { action: "wait", message: `${titleOf(live)} is still being deleted.` };
  }
  if (live && !isOwn && !takeOver) return foreign(live);
  if (trial === null || (!live && isFinished)) return { action: "keep", isCertain: true };
  if (isRefusal(trial)) return stepAfterRefusal(trial, inspection);
  if (!live) return { action: "apply", isForced: false, drift: wasThere ? [missing(desired)] : [] };
  const differences = differencesOf(live, trial);
  const held = differences.filter(({ cause }) => cause === "held").map(({ field }) => field);
  if (held.length > 0 && !takeOver) return { action: "blocked", fields: held, summary: heldSummary(held) };
  if (isOwn && differences.length === 0 && hashIn(live) === hashIn(desired)) return { action: "keep", isCertain: true };
  return { action: "apply", isForced: !isOwn || differences.some(isManaged), drift: editedIn(differences) };
}

/** Without force, server-side apply refuses to change what another manager has. */
const isManaged = ({ field }: Difference): boolean => field.manager !== undefined;

const editedIn = (differences: readonly Difference[]): DriftField[] =>
  differences.filter(({ cause }) => cause === "edited").map(({ field }) => field);

function stepAfterRefusal(refusal: Refusal, { live, desired, isFinished }: Inspection): Step {
  // The object is as it was last applied, so applying it would change nothing.
  if (live !== null && hashIn(live) === hashIn(desired)) return { action: "keep", isCertain: false };
  if (refusal.refused === "untestable") return { action: "apply", isForced: false, drift: [] };
  if (refusal.refused === "immutable" && desired.kind === "Job") {
    const isAtWork = live !== null && countIn(statusOf(live)["active"]) > 0;
    return isFinished || isAtWork ? { action: "keep", isCertain: true } : { action: "recreate" };
  }
  if (refusal.refused !== "immutable" || !live) return { action: "refused", refusal };
  const fixed = fixedVolume(live, desired);
  if (fixed) return { action: "refused", refusal: fixed };
  const volumes = grownVolumes(live, desired);
  return volumes.length > 0 ? { action: "regrow", volumes } : { action: "refused", refusal };
}

/** The volumes that are larger than before; none where anything else about them is different, because that loses data. */
function grownVolumes(live: KubeObject, desired: KubeObject): GrownVolume[] {
  if (desired.kind !== "StatefulSet") return [];
  const [before, after] = [sizesIn(live), sizesIn(desired)];
  const isSame = before.size === after.size && [...after.keys()].every((name) => before.has(name));
  const sizes = [...after].map(([name, storage]) => ({ name, storage, old: parseQuantity(before.get(name)) ?? 0 }));
  if (!isSame || sizes.some(({ storage, old }) => (parseQuantity(storage) ?? 0) < old)) return [];
  return sizes
    .filter(({ storage, old }) => (parseQuantity(storage) ?? 0) > old)
    .map(({ name, storage }) => ({ name, storage }));
}

const sizesIn = (set: KubeObject): Map<string, string> =>
  new Map(
    listIn(specOf(set)["volumeClaimTemplates"]).map((template) => [
      textIn(fieldsIn(template["metadata"])["name"]),
      requestedStorage(template),
    ]),
  );

/** The claims of the set that are smaller than they are to be, those of replicas that are gone included. */
export function smallClaims(
  claims: readonly KubeObject[],
  set: string,
  volumes: readonly GrownVolume[],
): { readonly claim: KubeObject; readonly storage: string }[] {
  return claims.flatMap((claim) => {
    const { name } = claim.metadata;
    const ordinal = name.slice(name.lastIndexOf("-") + 1);
    const volume = volumes.find((one) => /^[0-9]+$/.test(ordinal) && name === `${one.name}-${set}-${ordinal}`);
    if (!volume) return [];
    const isSmall = (parseQuantity(requestedStorage(claim)) ?? 0) < (parseQuantity(volume.storage) ?? 0);
    return isSmall ? [{ claim, storage: volume.storage }] : [];
  });
}

const WITH_PODS: ReadonlySet<string> = new Set(["Deployment", "StatefulSet", "DaemonSet"]);

/** Whether the step replaces pods, or does work that somebody may think is done. What a dry run does not show may do so. */
export function restartsPods({ desired, live, trial }: Inspection, { action }: Step): boolean {
  if (desired.kind === "Job") return action === "recreate" || (action === "apply" && !live);
  if (action !== "apply" || !live || trial === null || !WITH_PODS.has(desired.kind)) return false;
  if (specOf(live)["replicas"] === 0) return false;
  return isRefusal(trial) || canonicalJson(templateOf(live)) !== canonicalJson(templateOf(trial));
}

const templateOf = (workload: KubeObject): unknown => specOf(workload)["template"] ?? null;

export function foreign(live: KubeObject): Step {
  const { kind, metadata } = live;
  const manager = metadata.managedFields?.[0]?.manager;
  const field = { object: { kind, name: metadata.name }, pointer: "", ...(manager ? { manager } : {}) };
  return { action: "blocked", fields: [field], summary: `${titleOf(live)} exists and belongs to somebody else.` };
}

export const missing = ({ kind, metadata: { name } }: KubeObject): DriftField => ({
  object: { kind, name },
  pointer: "",
});

export function heldSummary(fields: readonly DriftField[]): string {
  const managers = [...new Set(fields.map(({ manager }) => manager ?? "somebody"))].sort().join(" and ");
  const places = fields.map(({ pointer, object }) => `${pointer} of ${object.kind} ${object.name}`);
  const more = places.length > 1 ? ` and ${places.length - 1} more` : "";
  return `Held by ${managers}, though the app must set it: ${places[0]}${more}.`;
}

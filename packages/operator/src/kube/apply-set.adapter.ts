import { LABELS } from "@binnacle/contract";
import { type Inspection, type Leave, restartsPods, type Step, sealed, smallClaims, stepFor } from "./apply-set.ts";
import { apiVersionOf, type InventoryItem, itemId, itemOf, type PruneScope, pruningOf, without } from "./inventory.ts";
import type { KubeClient, KubeObject } from "./kube-client.ts";
import { KubeConflict, KubeError } from "./kube-error.ts";
import { HANDOVER_MANAGER, handoverOf } from "./managed-fields.ts";
import { titleOf } from "./object-fields.ts";
import { refusalFor, refusalOf } from "./refusal.ts";
import { CLAIMS } from "./resource-types.ts";
import { fingerprintOf } from "./same-value.ts";

type Client = Pick<KubeClient, "get" | "list" | "apply" | "patch" | "delete" | "resourceTypeOf">;

type Regrow = Extract<Step, { readonly action: "regrow" }>;

export interface Planned {
  readonly desired: KubeObject;
  readonly live: KubeObject | null;
  readonly isOwn: boolean;
  readonly step: Step;
  /** The step replaces pods, or does work again. */
  readonly isRestart?: boolean;
}

/** Fingerprints of objects that were as desired when they were last compared, by uid. */
export type Settled = Map<string, string>;

export interface PlanOptions extends Leave {
  readonly inventory: readonly InventoryItem[];
  readonly isOurs: (object: KubeObject) => boolean;
  readonly settled: Settled;
  /** Names of Jobs that are done. */
  readonly finishedJobs: ReadonlySet<string>;
}

/** Makes objects what they are to be, and nothing else of what is there. */
export function createApplySet(client: Client) {
  async function liveOf(item: InventoryItem): Promise<KubeObject | null> {
    const type = await client.resourceTypeOf(apiVersionOf(item), item.kind);
    return client.get(type, item.name, item.namespace);
  }

  /** Changes nothing: the API server is asked what would become of the object. */
  async function plan(object: KubeObject, options: PlanOptions): Promise<Planned> {
    const { inventory, isOurs, settled, takeOver } = options;
    const desired = sealed(object);
    const item = itemOf(desired);
    const known = inventory.find((one) => itemId(one) === itemId(item));
    const live = await liveOf(item);
    const wasThere = known !== undefined && known.uid !== "";
    const isOwn = live !== null && ((wasThere && known.uid === live.metadata.uid) || isOurs(live));
    const sign = live && isOwn ? signOf(live, desired) : "";
    const isAsked = !live || (!live.metadata.deletionTimestamp && (isOwn || takeOver));
    const isSettled = live?.metadata.uid !== undefined && settled.get(live.metadata.uid) === sign;
    const trial = isAsked && !isSettled ? await tryOut(desired) : null;
    const isFinished = desired.kind === "Job" && options.finishedJobs.has(item.name);
    const inspection: Inspection = { desired, live, isOwn, wasThere, isFinished, trial };
    const decided = stepFor(inspection, { takeOver });
    const step = decided.action === "regrow" ? await growable(desired, decided) : decided;
    if (step.action === "keep" && step.isCertain && live?.metadata.uid) settled.set(live.metadata.uid, sign);
    return { desired, live, isOwn, step, isRestart: restartsPods(inspection, step) };
  }

  /** A StatefulSet is not made again while a storage class refuses to let one of its volumes grow. */
  async function growable(set: KubeObject, step: Regrow): Promise<Step> {
    try {
      await grow(set, step, { dryRun: true });
      return step;
    } catch (error) {
      const refusal = refusalOf(error, titleOf(set));
      if (refusal) return { action: "refused", refusal };
      throw error;
    }
  }

  /** Its claims have the labels of the set's template of them. */
  async function grow({ metadata }: KubeObject, { volumes }: Regrow, { dryRun = false } = {}): Promise<void> {
    const { name, namespace = "", labels = {} } = metadata;
    const own = [LABELS.cluster, LABELS.app, LABELS.component].map((label) => `${label}=${labels[label] ?? ""}`);
    const { items } = await client.list(CLAIMS, { namespace, labelSelector: own.join(",") });
    for (const { claim, storage } of smallClaims(items, name, volumes)) {
      const patch = { metadata: { uid: claim.metadata.uid }, spec: { resources: { requests: { storage } } } };
      await client.patch(CLAIMS, claim.metadata.name, namespace, patch, { kind: "merge", dryRun });
    }
  }

  async function tryOut(desired: KubeObject) {
    try {
      return await client.apply(desired, { dryRun: true, force: true });
    } catch (error) {
      const refusal = refusalFor(error, desired);
      if (refusal) return refusal;
      throw error;
    }
  }

  /** The object as it is then; null where it is not there yet, or was not to be touched. */
  async function carryOut({ desired, live, isOwn, step }: Planned): Promise<KubeObject | null> {
    if (step.action === "apply") return apply(desired, live, step.isForced);
    if (step.action === "regrow") await grow(desired, step);
    if (step.action !== "recreate" && step.action !== "regrow") return isOwn ? live : null;
    if (live) await remove(itemOf(live), step.action === "regrow" ? "Orphan" : "Foreground");
    return null;
  }

  async function apply(desired: KubeObject, found: KubeObject | null, isForced: boolean): Promise<KubeObject> {
    const handover = found && handoverOf(found, desired);
    const live = handover ? await client.apply(handover, { fieldManager: HANDOVER_MANAGER, force: true }) : found;
    if (live && isForced) return client.apply(asSeen(desired, live), { force: true });
    try {
      return await client.apply(desired);
    } catch (error) {
      // Another manager has written the same otherwise, like `1000m` for `1`: nothing is taken from it.
      if (live && error instanceof KubeConflict) return client.apply(asSeen(desired, live), { force: true });
      throw error;
    }
  }

  /** Returns the items that still exist: those that are terminating, and those that hold data. */
  async function prune(items: readonly InventoryItem[], scope: PruneScope): Promise<InventoryItem[]> {
    const gone: InventoryItem[] = [];
    for (const item of items) {
      const live = item.namespace === scope.namespace ? await liveOf(item) : null;
      const pruning = pruningOf(item, live, scope);
      if (pruning === "delete" && live) await remove(itemOf(live));
      const isLeft = pruning !== "forget" && (pruning !== "delete" || (await liveOf(item)) !== null);
      if (!isLeft) gone.push(item);
    }
    return without(items, gone);
  }

  /** Its dependants go first, so that what is gone is gone with all its pods; orphaned ones stay and run on. */
  async function remove(item: InventoryItem, propagation: "Foreground" | "Orphan" = "Foreground"): Promise<void> {
    const type = await client.resourceTypeOf(apiVersionOf(item), item.kind);
    const options = { preconditions: { uid: item.uid }, propagation };
    await client.delete(type, item.name, item.namespace, options).catch((error: unknown) => {
      // Another object has taken its place; the next look decides about that one.
      if (!(error instanceof KubeError) || error.status !== 409) throw error;
    });
  }

  return { plan, carryOut, prune };
}
export type ApplySet = ReturnType<typeof createApplySet>;

const signOf = (live: KubeObject, desired: KubeObject): string => `${fingerprintOf(live)} ${fingerprintOf(desired)}`;

/**
 * The API server refuses the write when the object has changed since it was read, so only what was seen is overruled.
 */
export function asSeen(desired: KubeObject, live: KubeObject): KubeObject {
  const { uid = "", resourceVersion = "" } = live.metadata;
  return { ...desired, metadata: { ...desired.metadata, uid, resourceVersion } };
}

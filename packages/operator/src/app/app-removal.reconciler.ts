import { type AppReport, type Gone, LABELS, type Reasoned, safeText, UNKNOWN_DRIFT } from "@binnacle/contract";
import type { StoredResource } from "../desired/desired-state.ts";
import { finalize } from "../desired/finalizer.adapter.ts";
import { isOurs, ownSelector } from "../desired/ownership.ts";
import type { StoredKind } from "../desired/stored-kind.ts";
import type { ApplySet } from "../kube/apply-set.adapter.ts";
import { type InventoryItem, itemOf, union } from "../kube/inventory.ts";
import type { KubeClient, KubeObject } from "../kube/kube-client.ts";
import { OWNED_KINDS } from "../kube/resource-types.ts";
import type { Pass } from "../reconcile/kind.ts";
import { type AppMemory, chartOf, memoryIn } from "./app-status.ts";
import type { Releases } from "./releases.ts";

type App = StoredResource<"app">;

export interface RemovalPorts {
  readonly kube: Pick<KubeClient, "get" | "list" | "patch" | "delete">;
  readonly applySet: ApplySet;
  readonly releases: Releases;
  readonly clusterId: string;
  readonly stored: StoredKind;
}

const REQUEUE_MS = 2_000;

/** Deletes all objects of an app and reports it gone only once none is left. */
export function createAppRemoval({ kube, applySet, releases, clusterId, stored }: RemovalPorts) {
  async function remove(app: App, holder: KubeObject): Promise<Pass<"app">> {
    const { namespace } = app.spec;
    const memory = memoryIn(holder);
    const items = union(memory.inventory, await labelled(app));
    const scope = { namespace, isLast: true, isOurs: madeFor(app, clusterId) };
    const left = await applySet.prune(items, scope);
    const leftReleases = await removeReleases(app, memory);
    if (left.length + leftReleases.length > 0) {
      const status = { inventory: left, releases: leftReleases };
      return { report: stillThere(left, leftReleases), status, requeueAfterMs: REQUEUE_MS };
    }
    const finalized = await finalize(kube, stored, holder);
    if (finalized.state === "gone") return { report: NOTHING_LEFT, requeueAfterMs: null };
    return { report: stillThere([], [], finalized.by), requeueAfterMs: REQUEUE_MS };
  }

  /** Also what no inventory names: volumes that a StatefulSet has claimed, and what a lost status has forgotten. */
  async function labelled(app: App): Promise<InventoryItem[]> {
    const labelSelector = `${ownSelector(clusterId)},${LABELS.app}=${app.spec.name}`;
    const options = { namespace: app.spec.namespace, labelSelector };
    const lists = await Promise.all(OWNED_KINDS.map((type) => kube.list(type, options)));
    return lists.flatMap(({ items }) => items.map(itemOf));
  }

  async function removeReleases({ spec }: App, memory: AppMemory): Promise<string[]> {
    const { namespace, name: app } = spec;
    const left: string[] = [];
    for (const name of memory.releases) {
      const leaving = { namespace, name, app, chart: chartOf(memory, name) };
      if ((await releases.remove(leaving)) !== "gone") left.push(name);
    }
    return left;
  }

  return { remove };
}

const NOTHING_LEFT: Gone = { state: "gone" };

const MOST_NAMED = 5;

/** Names what the deletion of an app still waits for. */
export function stillThere(
  items: readonly Pick<InventoryItem, "kind" | "name">[],
  releases: readonly string[],
  finalizers: readonly string[] = [],
): AppReport & Reasoned {
  const names = [
    ...items.map(({ kind, name }) => `${kind} ${name}`),
    ...releases.map((name) => `release ${name}`),
    ...finalizers.map((name) => `finalizer ${name}`),
  ];
  const more = names.length > MOST_NAMED ? ` and ${names.length - MOST_NAMED} more` : "";
  return {
    phase: "deleting",
    reason: finalizers.length > 0 ? "HeldByFinalizers" : "Deleting",
    message: safeText(`Still on the cluster: ${names.slice(0, MOST_NAMED).join(", ")}${more}.`),
    components: [],
    drift: UNKNOWN_DRIFT,
  };
}

/** Whether an object was made for this app, by this operator. Two apps may want objects of the same name. */
export const madeFor =
  ({ spec }: Pick<StoredResource<"app">, "spec">, clusterId: string) =>
  (object: KubeObject): boolean =>
    isOurs(object, clusterId) &&
    object.metadata.namespace === spec.namespace &&
    object.metadata.labels?.[LABELS.app] === spec.name;

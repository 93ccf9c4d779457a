import { createHash } from "node:crypto";
import { canonicalJson } from "@binnacle/contract";
import type { Planned } from "../kube/apply-set.adapter.ts";
import { type InventoryItem, itemId, itemOf } from "../kube/inventory.ts";
import type { KubeObject } from "../kube/kube-client.ts";
import { nameplate } from "../kube/object-fields.ts";
import type { Readiness } from "../kube/readiness.ts";
import { componentReadiness, runsOf, type WantedObjects, WORKLOADS } from "./component-outcome.ts";

/** How a component stands by its objects, without its pods. */
export interface Standing {
  readonly readiness: Readiness;
  readonly runs: ReturnType<typeof runsOf>;
  /** The name and version of its workload. */
  readonly main: KubeObject | null;
}

/** How a component stood when all its objects were as desired, and what they were then. */
export interface Settlement extends Standing {
  readonly wanted: string;
  readonly versions: readonly string[];
}

/** By component. */
export type Settlements = Map<string, Settlement>;

export function standingOf(objects: readonly KubeObject[], wanted: WantedObjects): Standing {
  const main = objects.find(({ kind }) => WORKLOADS.has(kind));
  return {
    readiness: componentReadiness(objects, wanted),
    runs: runsOf(objects, wanted),
    main: main ? nameplate(main, {}) : null,
  };
}

/** Null unless every object was as desired for certain, so that nothing is left to be done or to be waited for. */
export function settlementOf(
  planned: readonly Planned[],
  wanted: WantedObjects,
  standing: Standing,
): Settlement | null {
  const isSettled = planned.every(({ step }) => step.action === "keep" && step.isCertain);
  if (!isSettled || planned.length !== wanted.objects.length) return null;
  return { ...standing, wanted: signOf(wanted), versions: planned.map(({ live }) => versionOf(live)) };
}

/** The settlement, if the same objects are wanted and those in the cluster still have the versions that they had then. */
export function stillSettled(
  settlement: Settlement | undefined,
  wanted: WantedObjects,
  {
    inventory,
    seen,
  }: { readonly inventory: readonly InventoryItem[]; readonly seen: (object: KubeObject) => KubeObject | null },
): Settlement | null {
  if (!settlement || settlement.wanted !== signOf(wanted)) return null;
  const recorded = new Set(inventory.filter(({ uid }) => uid !== "").map(itemId));
  const isSame = wanted.objects.every(
    (object, at) => recorded.has(itemId(itemOf(object))) && versionOf(seen(object)) === settlement.versions[at],
  );
  return isSame ? settlement : null;
}

const signOf = ({ objects, finishedJobs }: WantedObjects): string =>
  createHash("sha256")
    .update(canonicalJson([objects, [...finishedJobs].sort()]))
    .digest("base64");

/** Empty for an object that is not there, such as a Job that is done and was cleared away. */
const versionOf = (object: KubeObject | null): string =>
  object ? `${object.metadata.uid} ${object.metadata.resourceVersion}` : "";

import type { KubeObject } from "../store/kube-object.ts";
import { conflict, notFound } from "./fault.ts";
import { isSame } from "./fields/typed-value.ts";
import { type Core, timestamp } from "./ports.ts";
import type { Resource } from "./resource.ts";
import { isDone, type Place } from "./update.ts";
import { at, textAt } from "./validation/metadata.ts";

export interface Removal {
  readonly propagation?: "Background" | "Foreground" | "Orphan" | undefined;
  readonly gracePeriodSeconds?: number | undefined;
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string } | undefined;
  readonly dryRun: boolean;
}

/** Begins the deletion of an object, and ends it when nothing holds it. */
export function remove(
  core: Core,
  resource: Resource,
  { name, namespace }: Place,
  removal: Removal,
): { readonly object: KubeObject; readonly isGone: boolean } {
  const live = core.table.get(resource.id, name, namespace);
  if (!live) throw notFound(resource, name);
  checkPreconditions(resource, live, removal);
  const marked = marking(core, resource, live, removal);
  const isGone = isDone(marked);
  if (removal.dryRun) return { object: marked, isGone };
  if (isGone) return { object: core.table.remove(resource.id, live), isGone };
  const isSameAsBefore = isSame(live, marked);
  return { object: isSameAsBefore ? live : core.table.put(resource.id, marked), isGone };
}

function checkPreconditions({ group, kind }: Resource, live: KubeObject, { preconditions = {} }: Removal): void {
  const { uid, resourceVersion } = preconditions;
  const { name, uid: ownUid, resourceVersion: ownVersion } = live.metadata;
  const title = { group, plural: kind };
  if (uid !== undefined && uid !== ownUid) {
    const why = `the UID in the precondition (${uid}) does not match the UID in record (${ownUid}). The object might have been deleted and then recreated`;
    throw conflict(title, name, why);
  }
  if (resourceVersion !== undefined && resourceVersion !== ownVersion) {
    const why = `the ResourceVersion in the precondition (${resourceVersion}) does not match the ResourceVersion in record (${ownVersion}). The object might have been modified`;
    throw conflict(title, name, why);
  }
}

const FOREGROUND = "foregroundDeletion";
const ORPHAN = "orphan";

function marking(core: Core, resource: Resource, live: KubeObject, removal: Removal): KubeObject {
  const graceSeconds = resource.id === "pods" ? graceOf(live, removal) : 0;
  const finalizers = finalizersFor(core, resource, live, removal);
  const { deletionTimestamp, deletionGracePeriodSeconds, finalizers: _, ...metadata } = live.metadata;
  const isShortened = deletionTimestamp !== undefined && graceSeconds < (deletionGracePeriodSeconds ?? 0);
  const isFirst = deletionTimestamp === undefined;
  const marked = {
    ...live,
    metadata: {
      ...metadata,
      ...(finalizers.length > 0 ? { finalizers } : {}),
      ...(isFirst && metadata.generation ? { generation: metadata.generation + 1 } : {}),
      deletionTimestamp: isFirst || isShortened ? later(core, graceSeconds) : deletionTimestamp,
      deletionGracePeriodSeconds: isFirst || isShortened ? graceSeconds : (deletionGracePeriodSeconds ?? 0),
    },
  };
  return resource.id === "namespaces"
    ? { ...marked, status: { ...(live["status"] as object), phase: "Terminating" } }
    : marked;
}

const later = (core: Core, seconds: number): string =>
  timestamp({ clock: { nowMs: () => core.clock.nowMs() + seconds * 1000 } });

/** Pods that run on no node, or not any more, need no time to end. */
function graceOf(pod: KubeObject, { gracePeriodSeconds }: Removal): number {
  const phase = textAt(pod, "status", "phase");
  if (textAt(pod, "spec", "nodeName") === "" || phase === "Succeeded" || phase === "Failed") return 0;
  const own = at(pod, "spec", "terminationGracePeriodSeconds");
  const asked = gracePeriodSeconds ?? pod.metadata.deletionGracePeriodSeconds ?? (typeof own === "number" ? own : 30);
  return Math.max(0, asked);
}

const CLEANUP = "customresourcecleanup.apiextensions.k8s.io";

function finalizersFor(core: Core, resource: Resource, live: KubeObject, { propagation }: Removal): string[] {
  const present = live.metadata.finalizers ?? [];
  const own = present.filter((one) => one !== FOREGROUND && one !== ORPHAN);
  const hasInstances =
    resource.id === "customresourcedefinitions.apiextensions.k8s.io" && core.table.list(live.metadata.name).length > 0;
  const cleanup = hasInstances && !own.includes(CLEANUP) ? [CLEANUP] : [];
  const policy =
    propagation === undefined ? present.filter((one) => one === FOREGROUND || one === ORPHAN) : wanted[propagation];
  return [...own, ...cleanup, ...policy];
}

const wanted = { Background: [], Foreground: [FOREGROUND], Orphan: [ORPHAN] } as const;

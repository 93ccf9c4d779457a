import type { KubeObject } from "../store/kube-object.ts";
import {
  type Controller,
  NOTHING,
  type Outcome,
  type Owned,
  type Place,
  placeOf,
  type View,
  type Write,
} from "./control.ts";
import { isDone, JOBS } from "./job.ts";
import { controllerOf, isDeleting, isFinished, type Pod } from "./pod.ts";
import { deletion, patchOf } from "./writes.ts";

const FOREGROUND = "foregroundDeletion";
const ORPHAN = "orphan";

/**
 * Deletes what has lost its owners. An owner that is deleted in the foreground waits for what it owns; one that orphans
 * lets go of it first.
 */
export const garbage: Controller = {
  name: "garbage",
  concerns(change, view): readonly Place[] {
    const { resource, type, object } = change;
    const { uid = "", ownerReferences = [], finalizers = [] } = object.metadata;
    if (type === "DELETED") {
      return [
        ...view.owned(uid).map((owned) => placeOf(owned.resource, owned.object)),
        // An owner that waits in the foreground may go when the last of its own is gone.
        ...ownerReferences.flatMap((owner) => waitingOwner(owner.uid, view)),
      ];
    }
    const isWaiting = isDeleting(object) && finalizers.some((one) => one === FOREGROUND || one === ORPHAN);
    return isWaiting || ownerReferences.length > 0 ? [placeOf(resource, object)] : [];
  },
  step({ resource, name, namespace }, view) {
    const object = view.get(resource, name, namespace);
    if (!object) return NOTHING;
    const { uid = "", finalizers = [] } = object.metadata;
    if (isDeleting(object) && finalizers.includes(ORPHAN)) return orphaning(resource, object, view.owned(uid));
    if (isDeleting(object) && finalizers.includes(FOREGROUND)) return stepForeground(resource, object, view.owned(uid));
    return stepOwned(resource, object, (owner) => stateOf(owner, view));
  },
};

type OwnerState = "live" | "waiting" | "gone";

function stateOf(uid: string, view: View): OwnerState {
  const owner = view.byUid(uid);
  if (!owner) return "gone";
  return isDeleting(owner.object) && owner.object.metadata.finalizers?.includes(FOREGROUND) ? "waiting" : "live";
}

function waitingOwner(uid: string, view: View): Place[] {
  const owner = view.byUid(uid);
  return owner && isDeleting(owner.object) ? [placeOf(owner.resource, owner.object)] : [];
}

/** An object with owners: it goes with the last of them, and forgets those that are gone while another is there. */
export function stepOwned(resource: string, object: KubeObject, stateOfOwner: (uid: string) => OwnerState): Outcome {
  const { ownerReferences = [] } = object.metadata;
  if (ownerReferences.length === 0 || isDeleting(object)) return NOTHING;
  const live = ownerReferences.filter(({ uid }) => stateOfOwner(uid) === "live");
  if (live.length === ownerReferences.length) return NOTHING;
  if (live.length > 0) {
    return { writes: [patchOf(resource, object, { metadata: { ownerReferences: live } })], wakeAtMs: null };
  }
  const isWaitedFor = ownerReferences.some(({ uid }) => stateOfOwner(uid) === "waiting");
  return { writes: [deletion(resource, object, isWaitedFor ? "Foreground" : "Background")], wakeAtMs: null };
}

/** Deletes dependents without another owner, and waits for those that block the deletion. */
function stepForeground(resource: string, object: KubeObject, owned: readonly Owned[]): Outcome {
  const { uid, finalizers = [] } = object.metadata;
  const own = owned.filter((one) => isOnlyOwner(one.object, uid));
  const shared = owned.filter((one) => !isOnlyOwner(one.object, uid)).map((one) => released(one, uid));
  const deletions = own
    .filter((one) => !isDeleting(one.object))
    .map((one) => deletion(one.resource, one.object, "Foreground"));
  const isBlocked = own.some(({ object: one }) =>
    one.metadata.ownerReferences?.some((owner) => owner.uid === uid && owner.blockOwnerDeletion === true),
  );
  const letGo = patchOf(resource, object, { metadata: { finalizers: finalizers.filter((one) => one !== FOREGROUND) } });
  return { writes: [...shared, ...deletions, ...(isBlocked ? [] : [letGo])], wakeAtMs: null };
}

const isOnlyOwner = ({ metadata }: KubeObject, uid: string | undefined): boolean =>
  (metadata.ownerReferences ?? []).every((owner) => owner.uid === uid);

function released({ resource, object }: Owned, uid: string | undefined): Write {
  const ownerReferences = (object.metadata.ownerReferences ?? []).filter((owner) => owner.uid !== uid);
  return patchOf(resource, object, { metadata: { ownerReferences } });
}

function orphaning(resource: string, object: KubeObject, owned: readonly Owned[]): Outcome {
  const { uid, finalizers = [] } = object.metadata;
  const freed = owned.map((one) => released(one, uid));
  const letGo = patchOf(resource, object, { metadata: { finalizers: finalizers.filter((one) => one !== ORPHAN) } });
  return { writes: [...freed, letGo], wakeAtMs: null };
}

const ALL: Place = { resource: "pods", name: "*" };

/** Finished pods stay for inspection up to a limit; those that a Job still counts stay. */
export const podCleanup = (mostFinished: number): Controller => ({
  name: "pod-cleanup",
  concerns: ({ resource, object, type, previous }) =>
    resource === "pods" && type !== "DELETED" && isFinished(object as Pod) && !(previous && isFinished(previous as Pod))
      ? [ALL]
      : [],
  step(_, view) {
    const finished = (view.list("pods") as readonly Pod[]).filter((pod) => isFinished(pod) && !isDeleting(pod));
    if (finished.length <= mostFinished) return NOTHING;
    const isCounted = (pod: Pod): boolean => {
      const owner = controllerOf(pod);
      const job = owner?.kind === "Job" ? view.get(JOBS, owner.name, pod.metadata.namespace) : null;
      return job !== null && !isDone(job);
    };
    return cleanedUp(
      finished.filter((pod) => !isCounted(pod)),
      finished.length - mostFinished,
    );
  },
});

function cleanedUp(pods: readonly Pod[], count: number): Outcome {
  const oldest = [...pods].sort((a, b) =>
    (a.metadata.creationTimestamp ?? "") < (b.metadata.creationTimestamp ?? "") ? -1 : 1,
  );
  return { writes: oldest.slice(0, count).map((pod) => deletion("pods", pod)), wakeAtMs: null };
}

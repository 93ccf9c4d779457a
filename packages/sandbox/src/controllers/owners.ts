import { type LabelRequirement, type Labels, meetsRequirement } from "@binnacle/contract";
import type { KubeObject, OwnerReference } from "../store/kube-object.ts";
import type { GroupResource, StoreEvent } from "../store/store.ts";
import type { Place, View, Write } from "./control.ts";
import { controllerOf, isControlledBy, isDeleting } from "./pod.ts";
import { patchOf } from "./writes.ts";

export const ownedBy = ({ apiVersion, kind, metadata }: KubeObject): OwnerReference => ({
  apiVersion,
  kind,
  name: metadata.name,
  uid: metadata.uid ?? "",
  controller: true,
  blockOwnerDeletion: true,
});

/** The objects of one kind that an owner controls. */
export const controlled = (view: View, owner: KubeObject, resource: GroupResource): readonly KubeObject[] =>
  view
    .owned(owner.metadata.uid ?? "")
    .filter((one) => one.resource === resource && isControlledBy(one.object, owner))
    .map(({ object }) => object);

/** Takes those in that have no controller and that the owner selects. */
export function adoptions(
  view: View,
  owner: KubeObject,
  resource: GroupResource,
  selector: LabelSelector | undefined,
): Write[] {
  if (isDeleting(owner)) return [];
  return view
    .list(resource, owner.metadata.namespace)
    .filter((one) => !controllerOf(one) && !isDeleting(one) && selects(selector, one.metadata.labels))
    .map((one) =>
      patchOf(resource, one, {
        metadata: { ownerReferences: [...(one.metadata.ownerReferences ?? []), ownedBy(owner)] },
      }),
    );
}

/** The controller of a changed object, when it is of this kind; also the one that it has just lost. */
export function controllersConcerned({ object, previous }: StoreEvent, kind: string, resource: GroupResource): Place[] {
  const names = new Set(
    [object, previous].flatMap((one) => {
      const owner = one && controllerOf(one);
      return owner?.kind === kind ? [owner.name] : [];
    }),
  );
  return [...names].map((name) => ({ resource, name, namespace: object.metadata.namespace }));
}

export interface LabelSelector {
  readonly matchLabels?: Labels;
  readonly matchExpressions?: readonly LabelRequirement[];
}

/** A selector that is not there selects nothing, an empty one everything. */
export function selects(selector: LabelSelector | undefined, labels: Labels = {}): boolean {
  if (!selector) return false;
  const { matchLabels = {}, matchExpressions = [] } = selector;
  return hasAll(labels, matchLabels) && matchExpressions.every((requirement) => meetsRequirement(labels, requirement));
}

export const hasAll = (labels: Labels, wanted: Labels): boolean =>
  Object.entries(wanted).every(([name, value]) => labels[name] === value);

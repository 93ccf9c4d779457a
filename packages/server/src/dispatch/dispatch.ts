import type { DesiredKind } from "@binnacle/contract";

/** A resource that is dispatched to a cluster. */
export interface DispatchedResource {
  readonly kind: DesiredKind;
  readonly resourceId: string;
  /** The operator addresses the resource by it: `project/shop`, `app/shop/web`. */
  readonly key: string;
  /** The generation that the record counts itself; where it counts none, dispatching counts it. */
  readonly generation?: number;
  /** The resource is to be absent: the row stays as a tombstone until the operator has confirmed that. */
  readonly isRemoved?: boolean;
}

/** The bus topic of the hint that a cluster has pending rows. */
export const DISPATCH_TOPIC = "dispatch";

export const removalOf = (resource: DispatchedResource): DispatchedResource => ({ ...resource, isRemoved: true });

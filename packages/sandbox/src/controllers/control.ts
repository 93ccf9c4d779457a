import type { KubeObject, ObjectDraft } from "../store/kube-object.ts";
import type { GroupResource, StoreEvent } from "../store/store.ts";

/** Where an object lives; without a namespace, in the whole cluster. */
export interface Place {
  readonly resource: GroupResource;
  readonly name: string;
  readonly namespace?: string | undefined;
}

/** The objects that a step may read. */
export interface View {
  get(resource: GroupResource, name: string, namespace?: string): KubeObject | null;
  list(resource: GroupResource, namespace?: string): readonly KubeObject[];
  /** Objects of any kind that name this uid among their owners. */
  owned(uid: string): readonly Owned[];
  byUid(uid: string): Owned | null;
  /** All kinds with a place in namespaces. */
  namespacedResources(): readonly GroupResource[];
}

export interface Owned {
  readonly resource: GroupResource;
  readonly object: KubeObject;
}

export type Propagation = "Background" | "Foreground" | "Orphan";

export interface EventDraft {
  readonly about: KubeObject;
  readonly type: "Normal" | "Warning";
  readonly reason: string;
  readonly message: string;
  /** The component that reports the event, such as `kubelet`. */
  readonly source: string;
}

/** One change that a step asks for. */
export type Write =
  | {
      readonly verb: "create";
      readonly resource: GroupResource;
      readonly object: ObjectDraft;
      readonly manager?: string;
    }
  | (Place & { readonly verb: "patch"; readonly patch: Readonly<Record<string, unknown>>; readonly manager?: string })
  | {
      readonly verb: "status";
      readonly resource: GroupResource;
      readonly object: KubeObject;
      readonly manager?: string;
    }
  | (Place & { readonly verb: "scale"; readonly replicas: number })
  | (Place & {
      readonly verb: "delete";
      /** So that an object made anew under the name is spared. */
      readonly uid: string;
      readonly propagation?: Propagation;
      readonly gracePeriodSeconds?: number;
    })
  /** Lets a namespace go that is empty. */
  | { readonly verb: "finalize"; readonly namespace: string }
  | { readonly verb: "event"; readonly event: EventDraft };

export interface Outcome {
  readonly writes: readonly Write[];
  /** When to run again although nothing has changed; null for never. */
  readonly wakeAtMs: number | null;
}

export const NOTHING: Outcome = { writes: [], wakeAtMs: null };

/** One controller: which of its objects a change concerns, and what is to be done about one of them. */
export interface Controller {
  readonly name: string;
  concerns(change: StoreEvent, view: View): readonly Place[];
  step(place: Place, view: View, nowMs: number): Outcome;
}

export const placeOf = (resource: GroupResource, { metadata }: KubeObject): Place => ({
  resource,
  name: metadata.name,
  namespace: metadata.namespace,
});

/** The earliest of times of which some may be never. */
export function earliest(...times: readonly (number | null)[]): number | null {
  const known = times.filter((time) => time !== null);
  return known.length === 0 ? null : Math.min(...known);
}

/** The shapes that all objects of Kubernetes share, whatever their kind. */

export interface OwnerReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly controller?: boolean;
  readonly blockOwnerDeletion?: boolean;
}

export interface ManagedFields {
  readonly manager?: string;
  readonly operation: "Apply" | "Update";
  readonly apiVersion: string;
  readonly time?: string;
  readonly fieldsType?: "FieldsV1";
  readonly fieldsV1?: Readonly<Record<string, unknown>>;
  readonly subresource?: string;
}

export interface ObjectMeta {
  readonly name: string;
  readonly generateName?: string;
  readonly namespace?: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly generation?: number;
  readonly creationTimestamp?: string;
  readonly deletionTimestamp?: string;
  readonly deletionGracePeriodSeconds?: number;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly finalizers?: readonly string[];
  readonly ownerReferences?: readonly OwnerReference[];
  readonly managedFields?: readonly ManagedFields[];
}

/**
 * Any object of any kind; `spec`, `status` and the like are for the reader to narrow. One that is held in memory is shared
 * by all who read it, so nobody changes it in place.
 */
export interface KubeObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: ObjectMeta;
  readonly [field: string]: unknown;
}

import type { ObjectMeta } from "@binnacle/contract";

export type { KubeObject, ManagedFields, OwnerReference } from "@binnacle/contract";

/** An object as somebody writes it, who may leave out what the server fills in. */
export interface ObjectDraft {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata: Omit<ObjectMeta, "name"> & { readonly name?: string };
  readonly [field: string]: unknown;
}

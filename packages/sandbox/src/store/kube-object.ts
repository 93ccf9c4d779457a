import type { KubeObject, ObjectMeta } from "@binnacle/contract";
import type { GroupResource } from "./store.ts";

export type { KubeObject, ManagedFields, OwnerReference } from "@binnacle/contract";

/** An object as somebody writes it, who may leave out what the server fills in. */
export interface ObjectDraft {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata: Omit<ObjectMeta, "name"> & { readonly name?: string };
  readonly [field: string]: unknown;
}

export interface JournalRecord {
  readonly version: number;
  readonly resource: GroupResource;
  readonly key: string;
  /** Null when the object is gone. */
  readonly object: KubeObject | null;
}

/** Where a sandbox keeps its objects over a restart. */
export interface Journal {
  /** All that is kept, oldest first. Called once, before anything is appended. */
  read(): Iterable<JournalRecord>;
  append(record: JournalRecord): void;
  /** Resolves when all that was appended is kept. */
  flush(): Promise<void>;
}

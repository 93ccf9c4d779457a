import type { DesiredKind } from "@binnacle/contract";
import type { KubeObject } from "../kube/kube-client.ts";
import type { StoredResource } from "./desired-store.ts";

/** What the cluster is to hold, as reconcilers see it: from memory, and told of every change. */
export interface DesiredView {
  /** Null also where somebody has changed what the hub has told: nothing is done about that until it is told again. */
  get<K extends DesiredKind>(kind: K, key: string): StoredResource<K> | null;
  list<K extends DesiredKind>(kind: K): readonly StoredResource<K>[];
  /** The object that holds it, for its uid and its status; also where `get` is null. */
  holder(kind: DesiredKind, key: string): KubeObject | null;
  /** Calls with the key whenever `get` may answer otherwise than before. The answer ends it. */
  onChange(kind: DesiredKind, listener: (key: string) => void): () => void;
}

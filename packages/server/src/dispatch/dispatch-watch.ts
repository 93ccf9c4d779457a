import type { Bound } from "../database/prepared.adapter.ts";
import type { Tx } from "../database/transaction.ts";
import type { DispatchedResource } from "./dispatch.ts";

/** The change that is behind what is dispatched. */
export interface DispatchCause {
  readonly at: Date;
  /** The first of its audit entries. */
  readonly auditId: string | null;
  readonly summary: string;
  readonly actorId: string | null;
  readonly requestId: string | null;
}

/** Learns what is dispatched to a cluster, in the transaction of the change and under the lock of the cluster. */
export interface DispatchWatch {
  /** A question that is asked with the dispatch, in the same round trip. */
  ask(clusterId: string): Bound;
  /** Writes what follows from the answer. Whether somebody is to be woken after the commit. */
  follow(
    tx: Tx,
    clusterId: string,
    resources: readonly DispatchedResource[],
    answer: readonly unknown[],
    cause: DispatchCause,
  ): Promise<boolean>;
}

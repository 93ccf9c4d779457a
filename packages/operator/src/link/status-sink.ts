import type { DesiredKind, InventoryEntry, Reports } from "@binnacle/contract";

/** Which desired state a report speaks of. */
export type Subject = Pick<InventoryEntry, "key" | "resource_id" | "generation">;

/** Takes what reconcilers see. Of one key only the newest report counts; it is sent until the hub has it on record. */
export interface StatusSink {
  report<K extends DesiredKind>(kind: K, subject: Subject, report: Reports[K]): void;
}

import type { HubFrames, InventoryEntry, LinkSettings } from "@binnacle/contract";
import type { DesiredStore, Inventory, Refusal } from "../desired/desired-state.ts";

/** A cluster's store without a cluster. */
export class MemoryStore implements DesiredStore, Inventory {
  readonly entries = new Map<string, InventoryEntry>();
  readonly remembered: object[] = [];
  kept: { revision: number | null; settings: LinkSettings } = { revision: null, settings: { drift_policy: "heal" } };

  inventory(): readonly InventoryEntry[] {
    return [...this.entries.values()];
  }

  async apply({ key, resource_id, generation, hash }: HubFrames["apply"]): Promise<Refusal | null> {
    const held = this.entries.get(key);
    if (held && held.generation > generation) return { code: "stale", message: "The cluster has a later generation." };
    this.entries.set(key, { key, resource_id, generation, hash });
    return null;
  }

  async remove({ key, generation }: HubFrames["remove"]): Promise<Refusal | null> {
    const held = this.entries.get(key);
    if (held && held.generation > generation) return { code: "stale", message: "The cluster has a later generation." };
    this.entries.delete(key);
    return null;
  }

  async memory() {
    return this.kept;
  }

  async remember(changes: { revision?: number; settings?: LinkSettings }): Promise<void> {
    this.remembered.push(changes);
    this.kept = { ...this.kept, ...changes };
  }
}

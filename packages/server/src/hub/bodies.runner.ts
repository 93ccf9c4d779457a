import type { DesiredBodies, DesiredKind } from "@binnacle/contract";
import type { Queries } from "../database/transaction.ts";
import type { DispatchedKind, PendingRow } from "../dispatch/kind.ts";
import { Fault } from "../fault.ts";
import type { Log } from "../outage.ts";
import { SealBroken } from "../vault/vault.ts";
import { dedupe } from "./dedupe.ts";
import type { BodySource } from "./ports.ts";

interface Ports {
  readonly db: Queries;
  readonly kinds: readonly DispatchedKind[];
  readonly log: Log;
}

const MAX_WARNED_ROWS = 10_000;

/**
 * Makes the bodies of rows when they are sent. A body is never older than the generation it is sent with; where it is
 * newer, the next generation is already pending.
 */
export function createBodySource({ db, kinds, log }: Ports): BodySource {
  const isNew = dedupe(MAX_WARNED_ROWS);

  /** A row that cannot be sent is retried with each sweep. It is logged once, without its content. */
  function warn({ kind, resource_id, cluster_id, generation }: PendingRow, error: Error): void {
    if (!isNew(`${kind}/${resource_id}`, `${generation} ${error.message}`)) return;
    log.warn({ kind, resource_id, cluster_id, generation, err: error }, "a resource cannot be sent to its cluster");
  }

  return {
    async bodiesOf(rows) {
      const bodies = new Map<PendingRow, DesiredBodies[DesiredKind] | Fault>();
      for (const kind of kinds) {
        const ofKind = rows.filter((row) => row.kind === kind.kind && row.removed_at === null);
        if (ofKind.length === 0) continue;
        const bodyOf = await kind.loadBodies(db, ofKind);
        for (const row of ofKind) {
          try {
            const body = bodyOf(row);
            if (body) bodies.set(row, body);
          } catch (error) {
            if (!(error instanceof SealBroken || error instanceof Fault)) throw error;
            warn(row, error);
            if (error instanceof Fault) bodies.set(row, error);
          }
        }
      }
      return bodies;
    },
  };
}

import { inTransaction, type Queries } from "../database/transaction.ts";
import { newId } from "../id.adapter.ts";
import { type Hold, lockHeld } from "../jobs/job.store.ts";
import type { Vault } from "../vault/vault.ts";
import { readState } from "./tofu-output.ts";

/** Enough to go back by hand to a state of before the last changes. */
const KEPT_STATES = 50;

const placeOf = (row: string) => ({ table: "infrastructure_states", row, column: "sealed_state" });

/** The run that a state belongs to: of which cluster and job, and who holds it in the queue. */
export interface StateOwner {
  readonly clusterId: string;
  readonly jobId: string;
  readonly hold: Pick<Hold, "id" | "fence">;
}

/** `stale`: another worker holds the job. `older`: a newer or another state is stored. `invalid`: it is not a state. */
export type Saved = "saved" | "stale" | "older" | "invalid";

/** Stores the state if the run still holds its job. Both are decided in one transaction, so an old holder never writes. */
export async function saveState(
  db: Queries,
  vault: Vault,
  { clusterId, jobId, hold }: StateOwner,
  text: string,
  now: Date,
): Promise<Saved> {
  const state = readState(text);
  if (!state) return "invalid";
  const id = newId();
  const sealed_state = vault.seal(text, placeOf(id));
  return inTransaction(db, async (tx) => {
    if (!(await lockHeld(tx, hold))) return "stale";
    const newest = await newestRow(tx, clusterId);
    if (newest && (newest.lineage !== state.lineage || newest.serial > state.serial)) return "older";
    const { serial, lineage } = state;
    await tx
      .insertInto("infrastructure_states")
      .values({ id, cluster_id: clusterId, serial, lineage, sealed_state, job_id: jobId, created_at: now })
      .execute();
    await tx
      .deleteFrom("infrastructure_states")
      .where("cluster_id", "=", clusterId)
      .where("id", "not in", (rows) =>
        rows
          .selectFrom("infrastructure_states as kept")
          .select("kept.id")
          .where("kept.cluster_id", "=", clusterId)
          .orderBy("kept.serial", "desc")
          .orderBy("kept.id", "desc")
          .limit(KEPT_STATES),
      )
      .execute();
    return "saved";
  });
}

export async function loadState(db: Queries, vault: Vault, clusterId: string): Promise<string | null> {
  const row = await newestRow(db, clusterId);
  return row ? vault.open(row.sealed_state, placeOf(row.id)) : null;
}

/** The serial decides, because the clocks of workers, and so the order of their ids, differ. */
function newestRow(db: Queries, clusterId: string) {
  return db
    .selectFrom("infrastructure_states")
    .select(["id", "serial", "lineage", "sealed_state"])
    .where("cluster_id", "=", clusterId)
    .orderBy("serial", "desc")
    .orderBy("id", "desc")
    .limit(1)
    .executeTakeFirst();
}

import { inTransaction, type Queries, type Tx } from "../database/transaction.ts";
import { lockHeld } from "../jobs/job.store.ts";
import { LeaseLost } from "../jobs/job.ts";
import type { GitopsSettings } from "./gitops-settings.ts";

/** The holder of a job. Writes of an earlier holder are refused. */
export interface Holder {
  readonly id: string;
  readonly fence: number;
}

/** The repositories are written elsewhere since, or no more: what was found at the former place says nothing about the new one. */
export class SettingsChanged extends Error {
  override readonly name = "SettingsChanged";
}

/** What a job writes, and the settings with which it began. */
interface Begun {
  readonly settings: Pick<GitopsSettings, "org_id" | "epoch">;
  readonly repository: { readonly cluster_id: string };
}

/**
 * Runs the work while the job is still held and the settings are those with which it began. The cluster is locked before the settings,
 * as where these are stored, so that neither waits for the other.
 */
export const whileHeld = <T>(
  db: Queries,
  holder: Holder,
  { settings, repository }: Begun,
  work: (tx: Tx) => Promise<T>,
): Promise<T> =>
  inTransaction(db, async (tx) => {
    if (!(await lockHeld(tx, holder))) throw new LeaseLost("Another worker writes the repository.");
    await tx.selectFrom("clusters").select("id").where("id", "=", repository.cluster_id).forKeyShare().execute();
    await requireEpoch(tx, settings);
    return work(tx);
  });

/** Throws where the settings were changed so that the repositories are others. They stay as they are until the transaction ends. */
export async function requireEpoch(tx: Tx, { org_id, epoch }: Pick<GitopsSettings, "org_id" | "epoch">): Promise<void> {
  const query = tx.selectFrom("gitops_settings").select("epoch").where("org_id", "=", org_id).forShare();
  const now = await query.executeTakeFirst();
  if (now?.epoch !== epoch) throw new SettingsChanged("The Git host of the organization was changed meanwhile.");
}

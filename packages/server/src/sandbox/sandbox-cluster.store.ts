import { inTransaction, type Queries, type Tx } from "../database/transaction.ts";
import { newId } from "../id.adapter.ts";

export interface SandboxCluster {
  readonly id: string;
  readonly tokenVersion: number;
}

const NAME = "sandbox";
const DESCRIPTION = "A simulated cluster in the box: nothing in it really runs.";

/**
 * Returns the cluster of the organization `demo` that represents the sandbox, and creates it where there is none.
 * Returns null if it was deleted or abandoned.
 */
export function sandboxCluster(db: Queries, now: Date): Promise<SandboxCluster | null> {
  return inTransaction(db, async (tx) => {
    const org = await tx.selectFrom("orgs").select("id").where("name", "=", "demo").forUpdate().executeTakeFirst();
    if (!org) return null;
    const found = await tx
      .selectFrom("clusters")
      .select(["id", "token_version", "deletion_requested_at"])
      .where("org_id", "=", org.id)
      .where("name", "=", NAME)
      .where("abandoned_at", "is", null)
      .executeTakeFirst();
    if (found) return found.deletion_requested_at ? null : { id: found.id, tokenVersion: found.token_version };
    if (await wasGivenUp(tx, org.id)) return null;
    const id = newId();
    const { token_version } = await tx
      .insertInto("clusters")
      .values({ id, org_id: org.id, name: NAME, description: DESCRIPTION, created_at: now, updated_at: now })
      .returning("token_version")
      .executeTakeFirstOrThrow();
    return { id, tokenVersion: token_version };
  });
}

async function wasGivenUp(tx: Tx, orgId: string): Promise<boolean> {
  const deletion = await tx
    .selectFrom("audit_log")
    .select("id")
    .where("org_id", "=", orgId)
    .where("action", "in", ["cluster.delete", "cluster.abandon"])
    .where("resource_name", "=", NAME)
    .limit(1)
    .executeTakeFirst();
  return deletion !== undefined;
}

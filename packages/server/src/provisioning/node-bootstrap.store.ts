import type { Tx } from "../database/transaction.ts";
import { nodeTokenHash } from "./node-token.ts";

interface Presented {
  readonly cluster_id: string;
  readonly node: string;
  readonly token: string;
}

/**
 * Uses up the token. Of two requests with one token the later one waits for the row and finds it used; a request that
 * fails afterwards leaves it unused.
 */
export async function claimNodeToken(tx: Tx, { cluster_id, node, token }: Presented, now: Date): Promise<boolean> {
  const claimed = await tx
    .updateTable("node_tokens")
    .set({ used_at: now })
    .where("token_hash", "=", nodeTokenHash(token))
    .where("cluster_id", "=", cluster_id)
    .where("node", "=", node)
    .where("used_at", "is", null)
    .where("expires_at", ">", now)
    .returning("node")
    .executeTakeFirst();
  return claimed !== undefined;
}

import { sql } from "kysely";
import type { Tx } from "../database/transaction.ts";
import { nodeTokenHash } from "./node-token.ts";

interface Presented {
  readonly cluster_id: string;
  readonly node: string;
  readonly token: string;
  readonly address: string;
}

/** An answer may be lost on its way, and a machine without its secrets is lost with it. */
const ANSWERS_AGAIN_MS = 10 * 60_000;

/**
 * Uses up the token for everybody but the address that was first. Of two requests with one token the later one waits for the
 * row and finds it used; a request that fails afterwards leaves it unused. The first report of a later step deletes it.
 */
export async function claimNodeToken(tx: Tx, presented: Presented, now: Date): Promise<boolean> {
  const { cluster_id, node, token, address } = presented;
  const again = new Date(now.getTime() - ANSWERS_AGAIN_MS);
  const claimed = await tx
    .updateTable("node_tokens")
    .set({ used_at: sql<Date>`coalesce(used_at, ${now})`, used_from: address })
    .where("token_hash", "=", nodeTokenHash(token))
    .where("purpose", "=", "bootstrap")
    .where("cluster_id", "=", cluster_id)
    .where("node", "=", node)
    .where((or) =>
      or.or([or("used_at", "is", null), or.and([or("used_at", ">", again), or("used_from", "=", address)])]),
    )
    .where("expires_at", ">", now)
    .returning("node")
    .executeTakeFirst();
  return claimed !== undefined;
}

import { CLOSE, type CloseCode } from "@binnacle/contract";
import { counts } from "../clusters/agent-token.ts";
import { clustersById } from "../clusters/cluster.store.ts";
import type { Queries } from "../database/transaction.ts";
import type { Session } from "./session.ts";

/** Why sessions are not this hub's any more, so that their operators learn it. */
export async function endLost(db: Queries, lost: readonly Session[]): Promise<void> {
  if (lost.length === 0) return;
  const known = await clustersById(
    db,
    lost.map(({ clusterId }) => clusterId),
  );
  const clusters = new Map(known.map((cluster) => [cluster.id, cluster]));
  for (const session of lost) session.end(...reasonOf(session, clusters.get(session.clusterId)));
}

type Judged = { readonly token_floor: number; readonly deletion_requested_at: Date | null };

function reasonOf({ tokenVersion }: Pick<Session, "tokenVersion">, cluster?: Judged): [CloseCode, string] {
  if (!cluster || cluster.deletion_requested_at !== null) return [CLOSE.clusterDeleted, "the cluster is deleted"];
  if (!counts(tokenVersion, cluster.token_floor)) return [CLOSE.revoked, "the token is revoked"];
  return [CLOSE.superseded, "a newer session has taken over"];
}

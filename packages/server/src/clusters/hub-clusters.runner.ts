import type { Clock } from "../clock.ts";
import { inTransaction, type Queries } from "../database/transaction.ts";
import type { HubClusters } from "../hub/ports.ts";
import { AGENT_TOKEN_LIFETIME_MS, type AgentTokens } from "./agent-token.adapter.ts";
import { clustersById, nextTokenVersion } from "./cluster.store.ts";
import { statusAnnouncement } from "./status.ts";

/** Implements the port through which the hub reads clusters. */
export const hubClusters = (db: Queries, tokens: AgentTokens, clock: Clock): HubClusters => ({
  tokenLifetimeMs: AGENT_TOKEN_LIFETIME_MS,
  readToken: (token) => tokens.read(token),

  async issueToken(clusterId) {
    const tokenVersion = await inTransaction(db, (tx) => nextTokenVersion(tx, clusterId, clock()));
    return { ...(await tokens.mint(clusterId, tokenVersion)), tokenVersion };
  },

  async tokenFloors(clusterIds) {
    const found = await clustersById(db, clusterIds);
    const staying = found.filter(({ deletion_requested_at }) => deletion_requested_at === null);
    return new Map(staying.map(({ id, token_floor }) => [id, token_floor]));
  },

  async statusEvents(tx, before, now) {
    const found = await clustersById(tx, [...before.keys()]);
    return found
      .map((cluster) => statusAnnouncement({ ...cluster, ...before.get(cluster.id) }, cluster, now))
      .filter((event) => event !== null);
  },
});

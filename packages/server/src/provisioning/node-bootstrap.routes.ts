import { bootstrapNode } from "@binnacle/contract";
import { secondsUntil } from "../accounts/device-login.ts";
import { bySource, clearAttempts, countAttempt } from "../accounts/login-tally.store.ts";
import { clustersById, nextTokenVersion } from "../clusters/cluster.store.ts";
import type { Cluster } from "../clusters/cluster.ts";
import { chartRef, hubUrl, imageValues, OPERATOR_NAMESPACE } from "../clusters/connection.ts";
import { inTransaction, type Tx } from "../database/transaction.ts";
import { rateLimited } from "../fault.ts";
import { anyone } from "../http/guard.ts";
import { type Route, route } from "../http/route.ts";
import type { Ports } from "../ports.ts";
import { hubProxyOf, registriesOf } from "./egress.ts";
import { joinTokensOf } from "./join-tokens.ts";
import { claimNodeToken } from "./node-bootstrap.store.ts";
import { CONTROL_PLANE_NODE, invalidNodeToken, nodeTokenHash } from "./node-token.ts";

/** A new machine fetches here what its user data must not have. */
export function nodeBootstrapRoutes({
  db,
  clock,
  vault,
  agentTokens,
  operatorChart,
  publicUrl,
}: Ports<"db" | "clock" | "vault" | "agentTokens" | "operatorChart" | "publicUrl">): Route[] {
  /** Apart from the attempts to log in, so that a machine cannot keep the people behind its address from it. */
  const talliesOf = (address: string) => [`node ${bySource(address)}`];

  async function countTry(address: string, tokenHash: string): Promise<void> {
    const now = clock();
    const refusedUntilMs = await inTransaction(db, (tx) => countAttempt(tx, talliesOf(address), tokenHash, now));
    if (refusedUntilMs !== null) throw rateLimited(secondsUntil(refusedUntilMs, now));
  }

  /** Returns the version of the operator's new token beside it, for the audit log. */
  async function operatorFor(tx: Tx, { id: clusterId, egress }: Pick<Cluster, "id" | "egress">) {
    const token_version = await nextTokenVersion(tx, clusterId, clock());
    const { token } = await agentTokens.mint(clusterId, token_version);
    const [chart_url, hub_url] = [chartRef(publicUrl(), operatorChart), hubUrl(publicUrl())];
    return {
      token_version,
      operator: {
        chart_url,
        hub_url,
        hub_proxy: egress && hubProxyOf(egress, hub_url),
        cluster_id: clusterId,
        token,
        namespace: OPERATOR_NAMESPACE,
        image: imageValues(publicUrl(), operatorChart.image),
      },
    };
  }

  return [
    route(bootstrapNode, anyone, async ({ body, sourceAddress, change }) => {
      const { node } = body;
      const clusterId = body.cluster_id.toLowerCase();
      const tokenHash = nodeTokenHash(body.token);
      await countTry(sourceAddress, tokenHash);
      return change(async ({ db: tx, record }) => {
        const now = clock();
        if (!(await claimNodeToken(tx, { ...body, cluster_id: clusterId, address: sourceAddress }, now)))
          throw invalidNodeToken();
        const [cluster] = await clustersById(tx, [clusterId]);
        // A machine that boots late does not join a cluster that is being destroyed.
        if (!cluster || cluster.sealed_join_token === null || cluster.deletion_requested_at) throw invalidNodeToken();
        const isServer = node === CONTROL_PLANE_NODE;
        const { join, agent } = joinTokensOf(vault, cluster);
        const minted = isServer ? await operatorFor(tx, cluster) : null;
        await clearAttempts(tx, talliesOf(sourceAddress), [tokenHash], now);
        record({
          action: "cluster.node_bootstrap",
          resource: { type: "cluster", id: clusterId, name: cluster.name },
          orgId: cluster.org_id,
          place: { clusterId },
          changes: { node, ...(minted ? { token_version: minted.token_version } : {}) },
        });
        return {
          // Whoever has the token of the server can take over the cluster, so no agent gets it.
          join_token: isServer ? join : (agent ?? join),
          agent_token: isServer ? agent : null,
          ca_certificates: cluster.egress?.ca_certificates ?? null,
          registries: cluster.egress && registriesOf(cluster.egress),
          operator: minted?.operator ?? null,
        };
      });
    }),
  ];
}

import type { Selectable } from "kysely";
import type { ClusterTable } from "../database/fleet-tables.ts";
import type { Vault } from "../vault/vault.ts";

type Sealed = Pick<Selectable<ClusterTable>, "id" | "sealed_join_token" | "sealed_agent_token">;

/** The tokens with which machines join: that of servers, and that of agents, which clusters of earlier releases do not have. */
export function joinTokensOf(vault: Pick<Vault, "open">, cluster: Sealed) {
  const opened = (column: "sealed_join_token" | "sealed_agent_token") => {
    const sealed = cluster[column];
    return sealed === null ? null : vault.open(sealed, { table: "clusters", row: cluster.id, column });
  };
  return { join: opened("sealed_join_token") ?? "", agent: opened("sealed_agent_token") };
}

import { sql } from "kysely";
import type { Tx } from "../database/transaction.ts";
import type { App } from "./app.ts";
import { hostsOf, hostTaken, isWildcard, matchingNames } from "./ingress-host.ts";

/**
 * Claims the hosts for an app. Throws the 409 where another project has a host, a wildcard over it, or a host under a
 * requested wildcard. Hosts that its charts serve count, but a wildcard of a chart is not one over others. The cluster's row is locked first, so that of two concurrent claims the second sees the first.
 */
export async function claimHosts(
  tx: Tx,
  { id, cluster_id, project_id }: Pick<App, "id" | "cluster_id" | "project_id">,
  hosts: readonly string[],
): Promise<void> {
  if (hosts.length === 0) return;
  await tx.selectFrom("clusters").select("id").where("id", "=", cluster_id).forNoKeyUpdate().execute();
  const asked = hosts.flatMap((host) => matchingNames(host).map((name) => ({ host, name })));
  const ofOthers = sql`h.cluster_id = ${cluster_id} and h.project_id <> ${project_id}`;
  const { rows } = await sql<{ host: string }>`
    select asked.host
      from unnest(${asked.map(({ host }) => host)}::text[], ${asked.map(({ name }) => name)}::text[]) as asked (host, name)
      join ingress_hosts h on ${ofOthers} and h.host = asked.name
    union all
    select named.host from unnest(${hosts}::text[]) as named (host)
      join chart_hosts h on ${ofOthers} and h.host = named.host
    union all
    select wildcard.host from unnest(${hosts.filter(isWildcard)}::text[]) as wildcard (host)
      join chart_hosts h on ${ofOthers} and right(h.host, length(wildcard.host) - 1) = substr(wildcard.host, 2)
    union all
    select wildcard.host from unnest(${hosts.filter(isWildcard)}::text[]) as wildcard (host)
      join ingress_hosts h on ${ofOthers} and right(h.host, length(wildcard.host) - 1) = substr(wildcard.host, 2)
    limit 1
  `.execute(tx);
  const [taken] = rows;
  if (taken) throw hostTaken(taken.host);
  await tx
    .insertInto("ingress_hosts")
    .values(hosts.map((host) => ({ app_id: id, host, cluster_id, project_id })))
    .onConflict((same) => same.columns(["app_id", "host"]).doNothing())
    .execute();
}

/** Releases the hosts that the apps no longer declare. Those of a deleted app are deleted with its row. */
export async function releaseHosts(tx: Tx, apps: readonly Pick<App, "id" | "components">[]): Promise<void> {
  if (apps.length === 0) return;
  const kept = apps.flatMap(({ id, components }) => hostsOf(components).map((host) => ({ id, host })));
  await sql`
    delete from ingress_hosts where app_id = any(${apps.map(({ id }) => id)}::uuid[]) and (app_id, host) not in (
      select * from unnest(${kept.map(({ id }) => id)}::uuid[], ${kept.map(({ host }) => host)}::text[])
    )
  `.execute(tx);
}

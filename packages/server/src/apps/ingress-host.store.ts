import { sql } from "kysely";
import type { Tx } from "../database/transaction.ts";
import type { App } from "./app.ts";
import {
  type addedIngresses,
  hostsOf,
  hostTaken,
  isWildcard,
  matchingNames,
  refuseServedAddresses,
  type ServedAddress,
} from "./ingress-host.ts";

/**
 * Serializes the claims of a cluster, so that of two concurrent ones the second sees the first. The row of the cluster stays free
 * for changes that claim nothing.
 */
async function lockHosts(tx: Tx, clusterId: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtext('ingress_hosts'), hashtext(${clusterId}))`.execute(tx);
}

/** Claims the addresses for an app among those of its project. Throws the 409 where another of its apps serves one of them. */
export async function claimAddresses(
  tx: Tx,
  app: Pick<App, "id" | "cluster_id" | "project_id">,
  added: ReturnType<typeof addedIngresses>,
): Promise<void> {
  if (added.length === 0) return;
  await lockHosts(tx, app.cluster_id);
  const hosts = added.map(({ host }) => host);
  refuseServedAddresses(added, await listServed(tx, app, hosts));
}

/**
 * Claims the hosts for an app. Throws the 409 where another project has a host, a wildcard over it, or a host under a
 * requested wildcard. Hosts that its charts serve count, but a wildcard of a chart is not one over others.
 */
export async function claimHosts(
  tx: Tx,
  { id, cluster_id, project_id }: Pick<App, "id" | "cluster_id" | "project_id">,
  hosts: readonly string[],
): Promise<void> {
  if (hosts.length === 0) return;
  await lockHosts(tx, cluster_id);
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

/** Reads the addresses at the hosts that other apps of the project serve. Requires the cluster's row to be locked, as a claim does. */
async function listServed(
  tx: Tx,
  { id, cluster_id, project_id }: Pick<App, "id" | "cluster_id" | "project_id">,
  hosts: readonly string[],
): Promise<ServedAddress[]> {
  const { rows } = await sql<ServedAddress>`
    select a.name as app, ingress ->> 'host' as host, ingress ->> 'path' as path
      from ingress_hosts h join apps a on a.id = h.app_id and a.phase <> 'deleting'
      cross join lateral (
        select component -> 'workload_spec' -> 'ingress' as ingress from jsonb_array_elements(a.components) component
      ) served
      where h.cluster_id = ${cluster_id} and h.project_id = ${project_id} and h.app_id <> ${id} and h.host = any (${hosts}::text[])
        and ingress ->> 'host' = h.host
      order by a.name
  `.execute(tx);
  return rows;
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

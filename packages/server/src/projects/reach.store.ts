import { sql } from "kysely";
import type { Caller } from "../access/caller.ts";
import { totalRows, totalRowsIn } from "../database/row-count.store.ts";
import type { Queries } from "../database/transaction.ts";
import type { Project } from "./project.ts";
import { EVERYTHING, NOTHING, onCluster, type Reach } from "./reach.ts";

/** Grows with what the caller was granted one by one, never with the projects that there are. */
export async function reachOf(db: Queries, caller: Pick<Caller, "id" | "isSuperuser">): Promise<Reach> {
  if (caller.isSuperuser) return EVERYTHING;
  const { rows } = await sql<{ scope: "org" | "cluster" | "project"; id: string; cluster_id: string | null }>`
    with administered as (select org_id from memberships where user_id = ${caller.id} and role = 'admin'),
    bound as (
      select c.id from role_bindings b join clusters c on c.id = b.cluster_id
      where b.user_id = ${caller.id} and c.org_id not in (select org_id from administered)
    )
    select 'org' as scope, org_id as id, null::uuid as cluster_id from administered
    union all select 'cluster', id, null::uuid from bound
    union all select 'project', p.id, p.cluster_id from role_bindings b join projects p on p.id = b.project_id
      where b.user_id = ${caller.id} and p.org_id not in (select org_id from administered)
        and p.cluster_id not in (select id from bound)
  `.execute(db);
  const idsOf = (wanted: string) => rows.filter(({ scope }) => scope === wanted).map(({ id }) => id);
  return {
    everything: false,
    orgs: idsOf("org"),
    clusters: idsOf("cluster"),
    projects: rows.flatMap(({ id, cluster_id }) => (cluster_id === null ? [] : [{ id, clusterId: cluster_id }])),
  };
}

/** A cluster that is not there holds nothing. */
export async function reachOnCluster(db: Queries, reach: Reach, clusterId: string): Promise<Reach> {
  const cluster = await db.selectFrom("clusters").select("org_id").where("id", "=", clusterId).executeTakeFirst();
  return cluster ? onCluster(reach, { id: clusterId.toLowerCase(), orgId: cluster.org_id }) : NOTHING;
}

export async function totalInReach(db: Queries, reach: Reach): Promise<number> {
  if (reach.everything) return totalRows(db, "projects");
  const scopes = [...reach.orgs, ...reach.clusters];
  return (scopes.length > 0 ? await totalRowsIn(db, "projects", scopes) : 0) + reach.projects.length;
}

/**
 * Newest first. Each scope gives up its own newest from an index, and the page is cut from those: a filter over the whole
 * table would read all of it for a caller who sees little.
 */
export async function projectsInReach(
  db: Queries,
  reach: Reach,
  { limit, offset }: { readonly limit: number; readonly offset: number },
): Promise<Project[]> {
  if (reach.everything) {
    return db.selectFrom("projects").selectAll().orderBy("id", "desc").limit(limit).offset(offset).execute();
  }
  const most = limit + offset;
  const ids = reach.projects.map(({ id }) => id);
  const { rows } = await sql<Project>`
    select * from (
      select p.* from unnest(${reach.orgs}::uuid[]) as scope (id),
        lateral (select * from projects where org_id = scope.id order by id desc limit ${most}) p
      union all
      select p.* from unnest(${reach.clusters}::uuid[]) as scope (id),
        lateral (select * from projects where cluster_id = scope.id order by id desc limit ${most}) p
      union all
      select * from projects where id = any(${ids}::uuid[])
    ) seen order by id desc limit ${limit} offset ${offset}
  `.execute(db);
  return rows;
}

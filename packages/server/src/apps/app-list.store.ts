import { sql } from "kysely";
import type { Caller } from "../access/caller.ts";
import { totalRows } from "../database/row-count.store.ts";
import type { Queries } from "../database/transaction.ts";
import { reachOf } from "../projects/reach.store.ts";
import type { Reach } from "../projects/reach.ts";
import type { SeenApp } from "./app.ts";

interface Window {
  readonly limit: number;
  readonly offset: number;
}

interface Listed {
  readonly apps: SeenApp[];
  readonly total: number;
}

const SECRET_PATHS = sql`array(
  select k.component || '/' || k.key from app_secrets k where k.app_id = a.id order by k.component, k.key
) as secret_paths`;

/** Of one project, whoever asks. */
export async function listProjectApps(db: Queries, projectId: string, { limit, offset }: Window): Promise<Listed> {
  const [{ rows: apps }, total] = await Promise.all([
    sql<SeenApp>`select a.*, ${SECRET_PATHS} from apps a where a.project_id = ${projectId}
      order by a.id desc limit ${limit} offset ${offset}`.execute(db),
    totalRows(db, "apps", projectId),
  ]);
  return { apps, total };
}

/** What the caller can see, newest first; a project that the caller cannot see holds nothing. */
export async function listVisibleApps(
  db: Queries,
  caller: Caller,
  projectId: string | undefined,
  page: Window,
): Promise<Listed> {
  const reach = await reachOf(db, caller);
  if (projectId !== undefined) {
    return (await reaches(db, reach, projectId)) ? listProjectApps(db, projectId, page) : { apps: [], total: 0 };
  }
  return listAppsIn(db, reach, page);
}

const projectsIn = (reach: Reach) => sql<{ id: string }>`
  select id from projects where ${reach.everything} or org_id = any(${reach.orgs}::uuid[])
    or cluster_id = any(${reach.clusters}::uuid[]) or id = any(${reach.projects.map(({ id }) => id)}::uuid[])`;

async function reaches(db: Queries, reach: Reach, projectId: string): Promise<boolean> {
  const { rows } = await sql`select 1 from (${projectsIn(reach)}) seen where id = ${projectId}`.execute(db);
  return rows.length === 1;
}

/**
 * Each project gives up its own newest from an index, and the page is cut from those: a filter over the whole table would
 * read all of it for a caller who sees little. Totals are kept for each project, so theirs are added up.
 */
async function listAppsIn(db: Queries, reach: Reach, { limit, offset }: Window): Promise<Listed> {
  const page = reach.everything
    ? sql`select * from apps order by id desc limit ${limit} offset ${offset}`
    : sql`select newest.* from (${projectsIn(reach)}) seen,
        lateral (select * from apps where project_id = seen.id order by id desc limit ${limit + offset}) newest
        order by newest.id desc limit ${limit} offset ${offset}`;
  const scopes = reach.everything ? sql`` : sql`and scope in (${projectsIn(reach)})`;
  const [{ rows: apps }, counted] = await Promise.all([
    sql<SeenApp>`select a.*, ${SECRET_PATHS} from (${page}) a order by a.id desc`.execute(db),
    sql<{ total: number }>`select coalesce(sum(delta), 0)::bigint as total from row_counts
      where relation = 'apps' ${scopes}`.execute(db),
  ]);
  return { apps, total: counted.rows[0]?.total ?? 0 };
}

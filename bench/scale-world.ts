import { randomUUID } from "node:crypto";
import type { Database } from "../packages/server/src/database/connection.adapter.ts";
import { COMPONENTS } from "./filled-apps.ts";

/** How large an installation is. A fifth of it, and half of the audit log, is of one organization. */
export interface WorldSize {
  readonly orgs: number;
  readonly clusters: number;
  readonly projects: number;
  readonly apps: number;
  readonly auditRows: number;
}

const WHOLE: WorldSize = { orgs: 1_000, clusters: 5_000, projects: 50_000, apps: 1_000_000, auditRows: 10_000_000 };

export const sizeOf = (scale: number): WorldSize => ({
  orgs: Math.max(10, WHOLE.orgs * scale),
  clusters: Math.max(50, WHOLE.clusters * scale),
  projects: Math.max(500, WHOLE.projects * scale),
  apps: Math.max(10_000, WHOLE.apps * scale),
  auditRows: Math.max(100_000, WHOLE.auditRows * scale),
});

/** Numbers below this share are of the large organization, and the others of all others in turn. */
const orgOf = (number: string, of: number) =>
  `case when ${number} <= ${of / 5} then 1 else 2 + ${number} % ((select max(n) from filled_orgs) - 1) end`;

/** One in a hundred apps is in trouble, one in two hundred has drifted. */
const PHASE = `(case when spread % 100 = 0 then (array['failed', 'invalid', 'degraded'])[1 + spread / 100 % 3]
  when spread % 100 = 1 then (array['pending', 'deploying', 'paused'])[1 + spread / 100 % 3] else 'running' end)`;
const DRIFT = "(case when spread % 200 = 7 then 'drifted' else 'in_sync' end)";
const NAMES = "array['api', 'web', 'worker', 'billing', 'search', 'mail', 'export', 'gateway', 'report', 'cache']";
const ACTIONS =
  "array['app.update', 'app.scale', 'app.create', 'project.create', 'project.update', 'app.delete', 'cluster.update', 'user.login']";

/** Every table in one statement: rows that went through the API would take days. Returns the id of the large organization. */
export async function fillWorld({ pool }: Database, size: WorldSize): Promise<string> {
  const client = await pool.connect();
  const largeOrg = randomUUID();
  const run = (text: string, values: readonly unknown[] = []) => client.query(text, [...values]);
  try {
    await run("set maintenance_work_mem = '512MB'");
    await run("set synchronous_commit = off");
    await run(`create temp table filled_orgs as
      select n, case n when 1 then '${largeOrg}'::uuid else uuidv7() end as id from generate_series(1, ${size.orgs}) n`);
    await run(`insert into orgs (id, name, slug, created_at, updated_at)
      select id, 'Filled ' || n, 'filled-' || n, now(), now() from filled_orgs`);
    await run(`create temp table filled_clusters as
      select n, uuidv7() as id, (select id from filled_orgs o where o.n = ${orgOf("c.n", size.clusters)}) as org_id
      from generate_series(1, ${size.clusters}) c (n)`);
    await run(`insert into clusters (id, org_id, name, first_connected_at, last_heartbeat, created_at, updated_at)
      select id, org_id, 'cluster-' || n, now(), now(), now(), now() from filled_clusters`);
    await run(`insert into cluster_sessions (cluster_id, hub_id, hub_url, epoch, token_version, lease_until, started_at)
      select id, 'filled', '', nextval('session_epochs'), 0, now() + interval '1 day', now() from filled_clusters`);
    await fillProjects(run, size);
    await fillApps(run, size);
    await fillAudit(run, size);
    await run("drop table filled_orgs, filled_clusters, filled_projects");
  } finally {
    client.release(true);
  }
  return largeOrg;
}

type Run = (text: string, values?: readonly unknown[]) => Promise<unknown>;

/** A fifth of the projects is on the fifth of the clusters that the large organization has. */
async function fillProjects(run: Run, { clusters, projects }: WorldSize): Promise<void> {
  await run(`create temp table filled_projects as
    select p.n, uuidv7() as id, c.id as cluster_id, c.org_id, 'project-' || p.n as name
    from generate_series(1, ${projects}) p (n)
    join filled_clusters c on c.n = case when p.n <= ${projects / 5} then 1 + p.n % ${clusters / 5}
      else 1 + ${clusters / 5} + p.n % ${(clusters / 5) * 4} end`);
  await run(`insert into projects (id, org_id, cluster_id, name, namespace, lifecycle, created_at, updated_at)
    select id, org_id, cluster_id, name, name, 'ready', now(), now() from filled_projects order by id`);
  await run("analyze filled_projects");
}

async function fillApps(run: Run, { apps, projects }: WorldSize): Promise<void> {
  // Foreign keys hold by the way the rows are made, and checking them would take most of the time.
  await run(
    `insert into apps (id, org_id, cluster_id, project_id, namespace, name, components, generation, revision,
      observed_generation, phase, phase_since, phase_reason, drift_state, reported_at, deployed_at, created_at, updated_at)
    select uuidv7(), p.org_id, p.cluster_id, p.id, p.name, (${NAMES})[1 + app % 10] || '-' || app, $1::jsonb, 1, 1,
      1, ${PHASE}, now() - app % 1000 * interval '1 minute', case when spread % 100 = 0 then 'CrashLoopBackOff' end, ${DRIFT},
      now(), now() - app % 1000 * interval '1 minute', now(), now()
    from (select app, app + app / ${projects} as spread from generate_series(1, ${apps}) app) each
    join filled_projects p on p.n = 1 + app % ${projects}`,
    [JSON.stringify(COMPONENTS)],
  );
  await run("set session_replication_role = replica");
  await run(
    `insert into app_deployments (id, app_id, revision, generation, operation, status, spec, created_at, updated_at)
     select uuidv7(), id, 1, 1, 'create', 'succeeded', $1, now(), now() from apps`,
    [JSON.stringify({ components: COMPONENTS, paused: false })],
  );
  await run(`insert into desired_resources (cluster_id, kind, resource_id, key, generation, revision, acked_generation, updated_at)
    select cluster_id, 'app', id, 'app/' || namespace || '/' || name, 1, row_number() over (), 1, now() from apps`);
  await run("set session_replication_role = origin");
}

/** Entries of a year, oldest first, half of them of the large organization. */
async function fillAudit(run: Run, { auditRows }: WorldSize): Promise<void> {
  const { rows: indexes } = (await run(`select indexname, indexdef from pg_indexes
    where tablename = 'audit_log' and indexname <> 'audit_log_pkey'`)) as { rows: Record<string, string>[] };
  for (const { indexname } of indexes) await run(`drop index ${indexname}`);
  await run(`insert into audit_log (id, at, org_id, actor_id, actor_email, via, action, resource_type, resource_id, resource_name,
      changes, summary)
    select uuidv7(past), now() + past, org.id, ('00000000-0000-7000-8000-' || lpad((entry.n % 2000)::text, 12, '0'))::uuid,
      'person-' || entry.n % 2000 || '@example.com', 'user', (${ACTIONS})[1 + (entry.n % 8) * (entry.n % 8) / 8], 'app',
      'resource-' || entry.n % 100000, 'app-' || entry.n % 100000, '{"replicas": {"before": 1, "after": 2}}', 'Changed replicas from 1 to 2'
    from (select n, (n - ${auditRows}) * interval '1 year' / ${auditRows} as past from generate_series(1, ${auditRows}) n) entry
    join filled_orgs org on org.n = case when entry.n % 2 = 0 then 1 else 2 + entry.n / 2 % ((select max(n) from filled_orgs) - 1) end`);
  for (const { indexdef } of indexes) await run(indexdef?.replace(" ON ONLY ", " ON ") ?? "");
}

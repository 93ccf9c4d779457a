import type { ProjectReport } from "@binnacle/contract";
import { sql } from "kysely";
import { reportingAt } from "../clusters/freshness.ts";
import type { Tx } from "../database/transaction.ts";
import { lockRecords } from "../dispatch/dispatch.store.ts";
import { type DispatchedKind, deletionOf, divideOutcomes, fileOfProject } from "../dispatch/kind.ts";
import type { Announcement } from "../events/event.ts";
import { confirmedGone, type Project, projectAnnouncement } from "./project.ts";
import { projectAfterReport, projectBody, type SeenProject } from "./project-sync.ts";

/** With the hosts that its charts serve, in their order. */
interface ReportedProject extends SeenProject {
  readonly chart_hosts: readonly string[];
}

const SEEN = sql`, array(select host from chart_hosts where project_id = projects.id order by host collate "C") as chart_hosts,
  (select suspended_at from clusters where clusters.id = projects.cluster_id) as cluster_suspended_at`;

/** The dispatched kind of projects. */
export const projectKind: DispatchedKind<"project", ReportedProject> = {
  kind: "project",

  async loadBodies(db, rows) {
    const ids = rows.map(({ resource_id }) => resource_id);
    const found = await db
      .selectFrom("projects")
      .leftJoin("cluster_settings", "cluster_settings.cluster_id", "projects.cluster_id")
      .innerJoin("clusters", "clusters.id", "projects.cluster_id")
      .selectAll("projects")
      .select("clusters.suspended_at as cluster_suspended_at")
      .select((row) => row.fn.toJson("cluster_settings").as("settings"))
      .where("projects.id", "in", ids)
      .execute();
    const projects = new Map(found.map((project) => [project.id, project]));
    return ({ resource_id }) => {
      const project = projects.get(resource_id);
      return project ? projectBody(project, project.settings, { suspended_at: project.cluster_suspended_at }) : null;
    };
  },

  file: (key) => fileOfProject(key, "project", "Project"),

  rejected: (message) => ({ state: "apply_failed", message }),

  lock: (tx, clusterId, ids) => lockRecords(tx, "projects", clusterId, ids, SEEN),

  afterReport: (before, generation, report, row) =>
    generation === row.generation ? withHosts(projectAfterReport(before, report), report) : before,
  // The operator recreates a deleted namespace by itself, so the project stays unchanged.
  afterLoss: (before) => before,
  isDeleting: confirmedGone,

  /** A project that is gone is not deleted here, because an app or an addon instance of it may still be recorded. */
  async store(tx, outcomes, now) {
    const { changed } = divideOutcomes(outcomes);
    const projects = changed.map(({ after }) => after);
    await saveReported(tx, projects, now);
    const moved = changed.filter(({ before, after }) => before.chart_hosts !== after.chart_hosts);
    await saveChartHosts(
      tx,
      moved.map(({ after }) => after),
    );
    return projects.map((project) => reported(project, now));
  },

  afterRemoval: (tx, clusterId, gone, now) =>
    deleteEmptyProjects(
      tx,
      clusterId,
      gone.map(({ id }) => id),
      now,
    ),
};

/** A project that is being cleaned up, or has no namespace of its own, keeps the hosts of the last report. */
function withHosts(project: ReportedProject, { state, hosts = [] }: ProjectReport): ReportedProject {
  if (state !== "ready" && state !== "apply_failed") return project;
  const sorted = [...new Set(hosts)].sort();
  return sorted.join() === project.chart_hosts.join() ? project : { ...project, chart_hosts: sorted };
}

async function saveChartHosts(tx: Tx, projects: readonly ReportedProject[]): Promise<void> {
  if (projects.length === 0) return;
  await tx
    .deleteFrom("chart_hosts")
    .where(
      "project_id",
      "in",
      projects.map(({ id }) => id),
    )
    .execute();
  const rows = projects.flatMap(({ id, cluster_id, chart_hosts }) =>
    chart_hosts.map((host) => ({ project_id: id, cluster_id, host })),
  );
  await sql`
    insert into chart_hosts (project_id, cluster_id, host)
      select * from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as seen (project_id uuid, cluster_id uuid, host text)
  `.execute(tx);
}

const reported = (project: Project, now: Date): Announcement =>
  projectAnnouncement({ ...project, reported_at: now }, reportingAt(now), now);

async function saveReported(tx: Tx, projects: readonly Project[], now: Date): Promise<void> {
  if (projects.length === 0) return;
  await sql`
    update projects set lifecycle = seen.lifecycle, lifecycle_reason = seen.lifecycle_reason,
      lifecycle_message = seen.lifecycle_message, suspension_reported = seen.suspension_reported, reported_at = ${now}, updated_at = ${now}
    from jsonb_to_recordset(${JSON.stringify(projects)}::jsonb)
      as seen (id uuid, lifecycle text, lifecycle_reason text, lifecycle_message text, suspension_reported boolean)
    where projects.id = seen.id
  `.execute(tx);
}

/**
 * Deletes projects whose deletion was requested and that are empty: the operator has confirmed that the namespace is
 * absent, and no app or addon instance is left. Their pull secrets are deleted with them.
 */
export async function deleteEmptyProjects(
  tx: Tx,
  clusterId: string,
  ids: readonly string[],
  now: Date,
): Promise<readonly Announcement[]> {
  if (ids.length === 0) return [];
  const { rows } = await sql<Project>`
    delete from projects p where p.id = any(${[...new Set(ids)]}::uuid[]) and p.cluster_id = ${clusterId}
      and p.lifecycle in ('cleanup_pending', 'cleanup_degraded')
      and not exists (select 1 from desired_resources d
        where d.cluster_id = p.cluster_id and d.kind = 'project' and d.resource_id = p.id)
      and not exists (select 1 from apps a where a.project_id = p.id)
      and not exists (select 1 from addon_instances i where i.project_id = p.id)
    returning p.*
  `.execute(tx);
  if (rows.length === 0) return [];
  await tx
    .deleteFrom("desired_resources")
    .where("cluster_id", "=", clusterId)
    .where("kind", "=", "registry_secrets")
    .where(
      "resource_id",
      "in",
      rows.map(({ id }) => id),
    )
    .execute();
  return rows.map((project) => deletionOf(reported(project, now)));
}

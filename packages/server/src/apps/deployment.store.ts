import type { ProjectLifecycle } from "@binnacle/contract";
import { sql } from "kysely";
import type { Bus } from "../bus/bus.ts";
import type { Clock } from "../clock.ts";
import { hasLiveSession } from "../clusters/cluster.ts";
import { inTransaction, type Queries, type Tx } from "../database/transaction.ts";
import { type Announcement, publishEvents } from "../events/event.ts";
import { logAnnouncements } from "../events/event-log.store.ts";
import type { Log } from "../outage.ts";
import type { App } from "./app.ts";
import { logEndedDeployment, reportedAppEvent } from "./app-sync.ts";
import { overdueMessage } from "./deployment.ts";

interface Ports {
  readonly db: Queries;
  readonly bus: Bus;
  readonly clock: Clock;
  readonly log: Log;
}

interface OverdueRow extends App {
  readonly deployment_id: string;
  readonly deployment_revision: number;
  readonly deployment_generation: number;
  readonly session_lease_until: Date | null;
  readonly last_heartbeat: Date | null;
  readonly lifecycle: ProjectLifecycle;
  readonly lifecycle_message: string | null;
}

/** Small enough that the locks are held for milliseconds only. */
const BATCH_ROWS = 200;

/** Fails the deployments whose deadline has passed, and says why. Rows that another replica has locked are skipped. */
export async function failOverdueDeployments({ db, bus, clock, log }: Ports): Promise<void> {
  for (let found = BATCH_ROWS; found === BATCH_ROWS; ) {
    const now = clock();
    const failed = await inTransaction(db, async (tx) => {
      const overdue = await findOverdue(tx, now);
      await fail(tx, overdue, now);
      const announcements = overdue.map((app) => failedEvent(app, now));
      return { overdue, events: await logAnnouncements(tx, announcements, now) };
    });
    publishEvents(bus, failed.events);
    for (const app of failed.overdue) logEndedDeployment(log, failedEvent(app, now), messageOf(app, now));
    found = failed.overdue.length;
  }
}

function failedEvent(app: OverdueRow, now: Date): Announcement {
  const ended = { id: app.deployment_id, revision: app.deployment_revision, status: "failed" } as const;
  return reportedAppEvent(app, ended, app, now);
}

/**
 * No time runs while the project or the cluster is suspended, and all of it begins again afterwards. That is decided here, so that the
 * deployments of thousands of apps are not written.
 */
async function findOverdue(tx: Tx, now: Date): Promise<OverdueRow[]> {
  const { rows } = await sql<OverdueRow>`
    select apps.*, d.id as deployment_id, d.revision as deployment_revision, d.generation as deployment_generation,
      projects.lifecycle, projects.lifecycle_message,
      clusters.last_heartbeat, s.lease_until as session_lease_until
    from app_deployments d join apps on apps.id = d.app_id join projects on projects.id = apps.project_id
      join clusters on clusters.id = apps.cluster_id left join cluster_sessions s on s.cluster_id = apps.cluster_id
    where d.status = 'pending' and d.deadline_at <= ${now} and projects.suspended_at is null and clusters.suspended_at is null
      and coalesce(greatest(projects.suspension_ended_at, clusters.suspension_ended_at) + (d.deadline_at - d.updated_at) <= ${now}, true)
    order by d.deadline_at limit ${BATCH_ROWS} for update of d skip locked
  `.execute(tx);
  return rows;
}

const messageOf = (app: OverdueRow, now: Date): string =>
  overdueMessage({
    app,
    deployment: { generation: app.deployment_generation },
    isConnected: hasLiveSession(app, now),
    project: app,
  });

async function fail(tx: Tx, overdue: readonly OverdueRow[], now: Date): Promise<void> {
  if (overdue.length === 0) return;
  const messages = overdue.map((app) => messageOf(app, now));
  await sql`
    update app_deployments d set status = 'failed', message = given.message, finished_at = ${now}, updated_at = ${now}
    from unnest(${overdue.map(({ deployment_id }) => deployment_id)}::uuid[], ${messages}::text[]) as given (id, message)
    where d.id = given.id
  `.execute(tx);
}

/** The secrets that were changed after one revision, up to and including another one, each as `component/key`. */
export async function secretsChangedBetween(
  db: Queries,
  appId: string,
  [after, upTo]: readonly [number, number],
): Promise<string[]> {
  const { rows } = await sql<{ path: string }>`
    select distinct unnest(changed_secrets) as path from app_deployments
    where app_id = ${appId} and revision > ${after} and revision <= ${upTo} order by 1
  `.execute(db);
  return rows.map(({ path }) => path);
}

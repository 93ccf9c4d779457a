import { sql } from "kysely";
import type { Bus } from "../bus/bus.ts";
import type { Clock } from "../clock.ts";
import { readConnections } from "../clusters/freshness.store.ts";
import { inTransaction, type Queries, type Tx } from "../database/transaction.ts";
import { publishEvents } from "../events/event.ts";
import { logAnnouncements } from "../events/event-log.store.ts";
import { saveLifecycle } from "./project.store.ts";
import { cleanupUnconfirmed, type Lifecycle, type Project, projectAnnouncement, unconfirmed } from "./project.ts";

export interface Confirmation {
  readonly db: Queries;
  readonly bus: Bus;
  readonly clock: Clock;
  /** The time for a cluster to confirm that a project exists or is gone. */
  readonly withinSeconds: number;
}

type Find = (tx: Tx, before: Date) => Promise<Project[]>;

/** Small enough that the locks are held for milliseconds only. */
const BATCH_ROWS = 200;

/**
 * Marks every project that its cluster has not confirmed in time. Any number of replicas may do so at once: each
 * project is marked and announced once.
 */
export async function markUnconfirmed({ db, bus, clock, withinSeconds }: Confirmation): Promise<void> {
  const within = `within ${withinSeconds} seconds`;
  await mark(overdue, (project) => unconfirmed(project, `The cluster has not confirmed the project ${within}.`));
  await mark(uncleaned, (project) =>
    cleanupUnconfirmed(project, `The cluster cannot be reached and has not confirmed the cleanup ${within}.`),
  );

  async function mark(find: Find, decide: (project: Project) => Lifecycle | null): Promise<void> {
    for (let found = BATCH_ROWS; found === BATCH_ROWS; ) {
      const now = clock();
      const marked = await inTransaction(db, async (tx) => {
        const projects = await find(tx, new Date(now.getTime() - withinSeconds * 1000));
        const moved = projects.flatMap((project) => {
          const next = decide(project);
          return next ? [{ ...project, ...next, updated_at: now }] : [];
        });
        for (const project of moved) await saveLifecycle(tx, project.id, lifecycleOf(project), now);
        const connections = await readConnections(
          tx,
          moved.map(({ cluster_id }) => cluster_id),
        );
        const announcements = moved.flatMap((project) => {
          const connection = connections.get(project.cluster_id);
          return connection ? [projectAnnouncement(project, connection, now)] : [];
        });
        return logAnnouncements(tx, announcements, now);
      });
      publishEvents(bus, marked);
      found = marked.length;
    }
  }
}

const lifecycleOf = ({ lifecycle, lifecycle_reason, lifecycle_message }: Project): Lifecycle => ({
  lifecycle,
  lifecycle_reason,
  lifecycle_message,
});

function overdue(tx: Tx, before: Date): Promise<Project[]> {
  return tx
    .selectFrom("projects")
    .selectAll()
    .where("lifecycle", "=", "pending")
    .where("created_at", "<=", before)
    .orderBy("created_at")
    .limit(BATCH_ROWS)
    .forUpdate()
    .skipLocked()
    .execute();
}

/** Only projects without a connected operator: a connected one reports itself why a cleanup does not end. */
function uncleaned(tx: Tx, before: Date): Promise<Project[]> {
  return tx
    .selectFrom("projects")
    .selectAll()
    .where("lifecycle", "=", "cleanup_pending")
    .where("lifecycle_reason", "is", null)
    .where("updated_at", "<=", before)
    .where((is) =>
      is.not(
        is.exists(
          is
            .selectFrom("cluster_sessions as session")
            .select(sql`1`.as("live"))
            .whereRef("session.cluster_id", "=", "projects.cluster_id")
            .where("session.lease_until", ">", sql<Date>`now()`),
        ),
      ),
    )
    .orderBy("updated_at")
    .limit(BATCH_ROWS)
    .forUpdate()
    .skipLocked()
    .execute();
}

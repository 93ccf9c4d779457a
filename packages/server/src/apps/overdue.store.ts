import { sql } from "kysely";
import type { Bus } from "../bus/bus.ts";
import type { Clock } from "../clock.ts";
import type { Queries } from "../database/transaction.ts";
import { EVENTS_TOPIC } from "../events/event.ts";
import { newId } from "../id.adapter.ts";
import type { App } from "./app.ts";
import { reportedAppEvent } from "./app-report.ts";

export const OVERDUE_MESSAGE = "The app was not running in time.";

interface Ports {
  readonly db: Queries;
  readonly bus: Bus;
  readonly clock: Clock;
}

type Failed = App & { readonly deployment_id: string; readonly deployment_revision: number };

/** Deployments that had to be done by a time and are not. Rows that another replica works on are left to it. */
export async function failOverdueDeployments({ db, bus, clock }: Ports): Promise<void> {
  const now = clock();
  const { rows } = await sql<Failed>`
    with failed as (
      update app_deployments set status = 'failed', message = ${OVERDUE_MESSAGE}, finished_at = ${now}, updated_at = ${now}
      where id = any (array(
        select id from app_deployments where status = 'pending' and deadline_at <= ${now}
        order by deadline_at limit 1000 for update skip locked
      ))
      returning id, app_id, revision
    )
    select apps.*, failed.id as deployment_id, failed.revision as deployment_revision
    from failed join apps on apps.id = failed.app_id
  `.execute(db);
  for (const app of rows) {
    const ended = { id: app.deployment_id, revision: app.deployment_revision, status: "failed" } as const;
    bus.publish(EVENTS_TOPIC, { id: newId(), time: now.toISOString(), ...reportedAppEvent(app, ended) });
  }
}

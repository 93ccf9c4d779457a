import { canonicalJson, type Reason, UNKNOWN_DRIFT } from "@binnacle/contract";
import { sql } from "kysely";
import { reportingAt } from "../clusters/freshness.ts";
import type { Tx } from "../database/transaction.ts";
import { lockRecords } from "../dispatch/dispatch.store.ts";
import { type DispatchedKind, deletionOf, divideOutcomes, fileInProject, type Outcome } from "../dispatch/kind.ts";
import type { Announcement } from "../events/event.ts";
import { deleteEmptyProjects } from "../projects/project-kind.store.ts";
import type { Vault } from "../vault/vault.ts";
import type { FindDefinition } from "./addon-component.ts";
import { type App, appEvent, type Deployment } from "./app.ts";
import { appAfterReport, appBody, isInPlace, missingApp, type ReportedApp, reportedAppEvent } from "./app-sync.ts";
import { driftEvent, isSameDrift } from "./drift-report.ts";
import { releaseHosts } from "./ingress-host.store.ts";

/** The dispatched kind of apps. */
export const appKind = (vault: Vault, findDefinition: FindDefinition): DispatchedKind<"app", ReportedApp> => ({
  kind: "app",

  async loadBodies(db, rows) {
    const ids = rows.map(({ resource_id }) => resource_id);
    const found = await db.selectFrom("apps").selectAll().where("id", "in", ids).execute();
    const apps = new Map(found.map((app) => [app.id, app]));
    const sealed = Map.groupBy(
      await db.selectFrom("app_secrets").selectAll().where("app_id", "in", ids).orderBy("key").execute(),
      ({ app_id }) => app_id,
    );
    return ({ resource_id }) => {
      const app = apps.get(resource_id);
      if (!app) return null;
      const secrets = new Map<string, Map<string, string>>();
      for (const { id, component, key, sealed_value } of sealed.get(app.id) ?? []) {
        const value = vault.open(sealed_value, { table: "app_secrets", row: id, column: "sealed_value" });
        secrets.set(component, (secrets.get(component) ?? new Map<string, string>()).set(key, value));
      }
      return appBody(app, findDefinition, secrets);
    };
  },

  file: (key) => fileInProject(key, "apps", "App"),

  rejected: (message) => ({
    phase: "invalid",
    reason: "RefusedByCluster" satisfies Reason,
    message,
    components: [],
    drift: UNKNOWN_DRIFT,
  }),

  async lock(tx, clusterId, ids) {
    const apps = await lockRecords<App>(tx, "apps", clusterId, ids);
    return new Map([...apps].map(([id, app]) => [id, { app, settled: null }]));
  },

  afterReport: (before, generation, report, _, now) => appAfterReport(before, generation, report, now),
  afterLoss: missingApp,
  isDeleting: ({ app }) => app.phase === "deleting",

  async store(tx, outcomes, now) {
    const { gone, changed } = divideOutcomes(outcomes);
    const ended = await saveReported(
      tx,
      changed.map(({ after }) => after),
      now,
    );
    const settled = changed.filter(({ before, after }) => isInPlace(after.app) && !isInPlace(before.app));
    await releaseHosts(
      tx,
      settled.map(({ after: { app } }) => app),
    );
    const ids = gone.map(({ app }) => app.id);
    if (ids.length > 0) await tx.deleteFrom("apps").where("id", "in", ids).execute();
    return [
      ...changed.flatMap((outcome) => announcementsOf(outcome, ended, now)),
      ...gone.map(({ app }) => deletionOf(appEvent({ ...app, reported_at: now }, reportingAt(now), now))),
    ];
  },

  afterRemoval: (tx, clusterId, gone, now) =>
    deleteEmptyProjects(
      tx,
      clusterId,
      gone.map(({ app }) => app.project_id),
      now,
    ),

  /** Deployments and forced applies refer to a generation, so they follow it when it is raised. */
  async followGeneration(tx, raised) {
    const given = sql`unnest(${raised.map(({ resource_id }) => resource_id)}::uuid[],
      ${raised.map(({ generation }) => generation)}::bigint[]) as given (id, generation)`;
    await sql`
      update app_deployments set generation = given.generation from ${given}, apps
      where apps.id = given.id and app_deployments.app_id = apps.id and app_deployments.revision = apps.revision
    `.execute(tx);
    await sql`
      update apps set generation = given.generation,
        forced_generation = case when forced_generation = apps.generation then given.generation else forced_generation end
      from ${given} where apps.id = given.id
    `.execute(tx);
  },
});

type EndedDeployment = Pick<Deployment, "id" | "app_id" | "revision" | "status">;

/** Announces only apps that have changed; a repeated observation is not a change. */
function announcementsOf(
  { before, after }: Outcome<ReportedApp>,
  ended: readonly EndedDeployment[],
  now: Date,
): Announcement[] {
  const [app, earlier] = [after.app, before.app].map((seen) => ({ ...seen, reported_at: now })) as [App, App];
  const eventOf = (seen: App, end: EndedDeployment | null) => reportedAppEvent(seen, end, reportingAt(now), now);
  const event = eventOf(app, ended.find(({ app_id }) => app_id === app.id) ?? null);
  const isSame = canonicalJson(event) === canonicalJson(eventOf(earlier, null));
  return [...(isSame ? [] : [event]), ...(isSameDrift(earlier, app) ? [] : [driftEvent(app, now)])];
}

/** Writes only the columns that a report can change. Returns the deployments that it has ended. */
async function saveReported(tx: Tx, reported: readonly ReportedApp[], now: Date): Promise<EndedDeployment[]> {
  if (reported.length === 0) return [];
  await sql`
    update apps set phase = seen.phase, phase_reason = seen.phase_reason, phase_message = seen.phase_message,
      phase_since = seen.phase_since, observed_generation = seen.observed_generation, component_statuses = seen.component_statuses,
      drift_state = seen.drift_state, drift_summary = seen.drift_summary, drift_fields = seen.drift_fields,
      drift_detected_at = seen.drift_detected_at, drift_repairs = seen.drift_repairs,
      suspension_reported = seen.suspension_reported, reported_at = ${now}, updated_at = ${now}
    from jsonb_to_recordset(${JSON.stringify(reported.map(({ app }) => reportedPart(app)))}::jsonb) as seen (
      id uuid, phase text, phase_reason text, phase_message text, phase_since timestamptz, observed_generation bigint,
      component_statuses jsonb,
      drift_state text, drift_summary text, drift_fields jsonb, drift_detected_at timestamptz, drift_repairs jsonb,
      suspension_reported boolean
    )
    where apps.id = seen.id
  `.execute(tx);
  return settle(tx, reported, now);
}

const reportedPart = ({ components: _components, replicas_before_pause: _before, ...part }: App) => part;

async function settle(tx: Tx, reported: readonly ReportedApp[], now: Date) {
  const ends = reported.flatMap(({ app, settled }) => (settled ? [{ app_id: app.id, ...settled }] : []));
  if (ends.length === 0) return [];
  const { rows } = await sql<EndedDeployment>`
    update app_deployments d set status = ended.status, message = coalesce(ended.message, d.message),
      finished_at = ${now}, updated_at = ${now}
    from jsonb_to_recordset(${JSON.stringify(ends)}::jsonb) as ended (app_id uuid, generation bigint, status text, message text)
    where d.app_id = ended.app_id and d.generation = ended.generation and d.status = 'pending'
    returning d.id, d.app_id, d.revision, d.status
  `.execute(tx);
  return rows;
}

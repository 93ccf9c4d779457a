import {
  type AppBody,
  type AppReport,
  type ChartRef,
  type ComponentSpec,
  canonicalJson,
  type DesiredComponent,
  type Reason,
  secretPathsOfChart,
} from "@binnacle/contract";
import { definitionGone } from "../addons/addon.ts";
import { withSecrets } from "../addons/addon-sync.ts";
import { overlay } from "../addons/addon-values.ts";
import type { ClusterConnection } from "../clusters/freshness.ts";
import type { Announcement, Event } from "../events/event.ts";
import type { Log } from "../outage.ts";
import type { FindDefinition } from "./addon-component.ts";
import { type App, appEvent, type Deployment, effectiveComponents, specOf } from "./app.ts";
import { phaseSinceAfter, storedStatus } from "./component-status.ts";
import { type DeploymentOutcome, outcomeOf } from "./deployment.ts";
import { driftAfter, NO_DRIFT_REPORTED } from "./drift-report.ts";

/** Secrets by component, then by key. */
export type OpenSecrets = ReadonlyMap<string, ReadonlyMap<string, string>>;

const NONE: ReadonlyMap<string, string> = new Map();

/** The body of an app that is sent to its cluster. Throws where the catalog no longer has a definition. */
export function appBody(app: App, find: FindDefinition, secrets: OpenSecrets): AppBody {
  const spec = specOf(app);
  const parts = effectiveComponents(spec).map((component) =>
    partOf(component, find, secrets.get(component.name) ?? NONE),
  );
  return {
    spec: {
      project_id: app.project_id,
      namespace: app.namespace,
      name: app.name,
      paused: spec.paused,
      ...(app.suspended_at === null ? {} : { suspended: true }),
      take_over: app.forced_generation === app.generation,
      components: parts.map(({ component }) => component),
    },
    secret: {
      secrets: Object.fromEntries([...secrets].map(([component, keys]) => [component, Object.fromEntries(keys)])),
      values: Object.fromEntries(
        parts.flatMap(({ component, values }) => (values ? [[component.name, values] as const] : [])),
      ),
    },
  };
}

interface Part {
  readonly component: DesiredComponent;
  /** The Helm values of a chart or addon component. */
  readonly values?: Record<string, unknown>;
}

function partOf(
  { addon_spec, chart_spec, ...rest }: ComponentSpec,
  find: FindDefinition,
  secrets: ReadonlyMap<string, string>,
): Part {
  const component = { ...rest, type: rest.type ?? "workload" };
  if (chart_spec) {
    const { values = {}, hook_timeout_seconds, ...chart } = chart_spec;
    const waiting = hook_timeout_seconds === undefined ? {} : { hook_timeout_seconds };
    return {
      component: { ...component, release: { chart: givenParts(chart), export_schema: {}, ...waiting } },
      values: withSecrets(values, ofPaths(secrets, secretPathsOfChart(chart_spec))),
    };
  }
  if (addon_spec?.definition_id !== undefined) {
    const definition = find(addon_spec.definition_id);
    if (!definition) throw definitionGone();
    const { chart, default_values, export_schema, secret_values } = definition;
    const { values = {}, chart_version: version = chart.version } = addon_spec;
    return {
      component: { ...component, release: { chart: { repo: chart.repo, name: chart.name, version }, export_schema } },
      values: withSecrets(overlay(default_values, values), ofPaths(secrets, secret_values)),
    };
  }
  return {
    component: addon_spec?.instance === undefined ? component : { ...component, addon_instance: addon_spec.instance },
  };
}

/** Selects the secrets of a component that are values of its chart. */
const ofPaths = (secrets: ReadonlyMap<string, string>, paths: readonly string[]): ReadonlyMap<string, string> =>
  new Map([...secrets].filter(([key]) => paths.includes(key)));

const givenParts = ({ repo, name, version }: ChartRef): ChartRef => ({
  repo,
  name,
  ...(version === undefined ? {} : { version }),
});

/** An app with the deployments that reports have ended. */
export interface ReportedApp {
  readonly app: App;
  readonly settled: DeploymentOutcome | null;
}

/**
 * Applies a report to an app; returns the same object where nothing changes. A generation that was never sent to the
 * cluster is ignored, as is one older than an earlier report. A report on the previous generation updates the replica
 * counts and not the phase, because the change under way has not ended.
 */
export function appAfterReport(before: ReportedApp, generation: number, report: AppReport, now: Date): ReportedApp {
  const { app } = before;
  if (generation > app.generation || generation < (app.observed_generation ?? 0)) return before;
  const statuses = new Map((report.components_status ?? []).map((status) => [status.name, storedStatus(status)]));
  const component_statuses = report.components.map(({ name, ready_replicas }) => ({
    ...statuses.get(name),
    name,
    ready_replicas,
  }));
  const observed = { ...app, observed_generation: generation, component_statuses };
  const after = generation === app.generation ? withReportedPhase(observed, report, now) : observed;
  if (canonicalJson(after) === canonicalJson(app)) return before;
  // The change under way ends after the suspension, whatever is seen meanwhile.
  const isCurrent = generation === app.generation && report.suspended !== true;
  const settled = isCurrent ? outcomeOf(after, generation) : null;
  return { app: after, settled: before.settled ?? settled };
}

/** A deletion is requested here and ends when the app is absent; a cluster neither begins nor ends one. */
function withReportedPhase(app: App, report: AppReport, now: Date): App {
  const { phase, reason, message, drift } = report;
  if ((app.phase === "deleting") !== (phase === "deleting")) return app;
  const phase_since = phaseSinceAfter(app, report, now);
  const suspension_reported = app.suspended_at === null ? null : report.suspended === true;
  const said = { phase, phase_since, phase_reason: reason, phase_message: message, suspension_reported };
  return { ...app, ...said, ...driftAfter(app, drift, now) };
}

/**
 * Returns whether the cluster has applied the current generation completely and removed everything else. An app without
 * components cannot drift.
 */
export function isInPlace({ phase, generation, observed_generation, drift_state, components }: App): boolean {
  const isReached = observed_generation === generation && (phase === "running" || phase === "paused");
  return isReached && (drift_state === "in_sync" || components.length === 0);
}

/** The app was deleted on the cluster. It is sent again, and its state is unknown until the next report. */
export function missingApp(before: ReportedApp, now: Date): ReportedApp {
  if (before.app.phase === "deleting") return before;
  const app: App = {
    ...before.app,
    phase: "pending",
    phase_since: now,
    phase_reason: "DeletedOnCluster" satisfies Reason,
    phase_message: "It was deleted on the cluster and is being made again.",
    component_statuses: [],
    suspension_reported: null,
    ...NO_DRIFT_REPORTED,
  };
  return { ...before, app };
}

type Ended = Pick<Deployment, "id" | "revision" | "status">;

/** Logs the end of a deployment; an event that ends none is not logged. */
export function logEndedDeployment(log: Log, event: Announcement, cause?: string): void {
  const { deployment, cluster_id, phase_message, phase_reason } = event;
  if (!deployment) return;
  const resource = event["resource"] as Event["resource"];
  const { id: deployment_id, revision, status: outcome } = deployment as Ended;
  const names = { app_id: resource.id, app: resource.name, namespace: resource.namespace, cluster_id };
  const line = { ...names, deployment_id, revision, outcome };
  if (outcome === "succeeded") log.info(line, "a deployment has succeeded");
  else log.warn({ ...line, cause: cause ?? phase_message ?? phase_reason }, "a deployment has failed");
}

/** The event of a report includes the reported state, so that it differs from the event before. */
export const reportedAppEvent = (
  app: App,
  ended: Ended | null,
  connection: ClusterConnection,
  now: Date,
): Announcement => ({
  ...appEvent(app, connection, now),
  phase_reason: app.phase_reason,
  phase_message: app.phase_message,
  observed_generation: app.observed_generation,
  components: app.component_statuses.map(({ name, ready_replicas, phase }) => ({
    name,
    ready_replicas,
    ...(phase === undefined ? {} : { phase }),
  })),
  ...(ended ? { deployment: { id: ended.id, revision: ended.revision, status: ended.status } } : {}),
});

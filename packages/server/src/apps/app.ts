import {
  type AppListItem,
  type AppWarning,
  type ComponentSpec,
  type DeploymentCommit,
  type DeploymentListItem,
  type Revision,
  secretPathsOfChart,
  type Warning,
  type App as WireApp,
  type Deployment as WireDeployment,
  warningsOf,
} from "@binnacle/contract";
import type { Selectable } from "kysely";
import { type ClusterConnection, freshnessOf, type Surroundings, shownReason } from "../clusters/freshness.ts";
import type { AppDeploymentTable, AppTable } from "../database/fleet-tables.ts";
import type { DispatchedResource } from "../dispatch/dispatch.ts";
import type { Announcement } from "../events/event.ts";
import type { Versioned } from "../http/etag.ts";
import type { Input } from "../http/guard.ts";
import { shownSuspension } from "../suspensions/suspension.ts";
import { keysOf } from "./app-secrets.ts";
import { shownChart } from "./chart-component.ts";
import { listedDrift, shownDrift, shownStatus, withoutPods } from "./component-status.ts";

export type App = Selectable<AppTable>;
export type Deployment = Selectable<AppDeploymentTable>;

/** The part of an app that a revision stores and a rollback restores. */
export type AppSpec = Deployment["spec"];

/** The project distinguishes apps of the same namespace and name on several clusters. */
export interface AppAddress {
  readonly projectId: string;
  readonly namespace: string;
  readonly name: string;
}

/** An app with what its answers show beyond its row: the paths of its secrets, each as `component/key`, and how it is connected. */
export interface AppWithSecretPaths extends App, Surroundings {
  readonly secret_paths: readonly string[];
}

/** An app as lists read it: without contents. A trigger keeps the JSON of what they show of its components. */
export interface ListedApp extends Omit<App, "components" | "drift_fields">, Surroundings {
  readonly listed_components: string;
}

export type ListedComponent = Omit<AppListItem["components"][number], "ready_replicas">;

export const isPaused = (app: Pick<App, "replicas_before_pause">) => app.replicas_before_pause !== null;

export const specOf = (app: Pick<App, "components" | "replicas_before_pause">): AppSpec => ({
  components: app.components,
  paused: isPaused(app),
});

/** The part of an app whose changes are described in words. */
export const revisionOf = (app: AppWithSecretPaths): Revision => ({
  ...specOf(app),
  description: app.description,
  secrets: app.secret_paths,
});

/** Returns the components as the cluster runs them: a paused app keeps its declared replica counts and runs none. */
export function effectiveComponents<C extends Pick<ComponentSpec, "workload_spec"> | ListedComponent>({
  components,
  paused,
}: {
  readonly components: C[];
  readonly paused: boolean;
}): C[] {
  if (!paused) return components;
  return components.map((component) =>
    component.workload_spec ? { ...component, workload_spec: { ...component.workload_spec, replicas: 0 } } : component,
  );
}

export const appVersion = ({ id, generation }: App): Versioned => ({ id, version: generation });

/** The components of an app as lists show them. */
export const listedComponents = (app: Pick<ListedApp, "listed_components" | "replicas_before_pause">) =>
  effectiveComponents({
    components: JSON.parse(app.listed_components) as ListedComponent[],
    paused: isPaused(app),
  });

const readyReplicasOf = (app: Pick<App, "component_statuses">, component: string): number | null =>
  app.component_statuses.find(({ name }) => name === component)?.ready_replicas ?? null;

/** What reads and lists show alike. */
function shownFields(app: Omit<App, "components" | "drift_fields"> & Surroundings, now: Date) {
  return {
    id: app.id,
    name: app.name,
    namespace: app.namespace,
    project_id: app.project_id,
    cluster_id: app.cluster_id,
    org_id: app.org_id,
    description: app.description,
    paused: isPaused(app),
    suspended: shownSuspension("app", app, app),
    phase: app.phase,
    phase_since: app.phase_since.toISOString(),
    ...shownReason(app, app, now),
    generation: app.generation,
    observed_generation: app.observed_generation,
    revision: app.revision,
    ...freshnessOf(app.reported_at, app, now),
    created_at: app.created_at.toISOString(),
    updated_at: app.updated_at.toISOString(),
  };
}

/** An app may have thousands of variables that name what is not there. */
const MOST_WARNINGS = 20;

const shownWarning = ({ path, ...warning }: Warning): AppWarning => ({ ...warning, path: [...path] });

export function wireApp(app: AppWithSecretPaths, now: Date): WireApp {
  return {
    ...shownFields(app, now),
    components: effectiveComponents(specOf(app)).map((component) => ({
      ...shownChart(app.name, component, keysOf(app.secret_paths, component.name)),
      secrets: keysOf(app.secret_paths, component.name),
      ready_replicas: readyReplicasOf(app, component.name),
    })),
    components_status: app.component_statuses.flatMap(shownStatus),
    drift: shownDrift(app),
    warnings: warningsOf(app, (name) => keysOf(app.secret_paths, name))
      .slice(0, MOST_WARNINGS)
      .map(shownWarning),
  };
}

/** A page of apps would be large with all their contents and pods. */
export function listedApp(app: ListedApp, now: Date): AppListItem {
  return {
    ...shownFields(app, now),
    components: listedComponents(app).map((component) => ({
      ...component,
      ready_replicas: readyReplicasOf(app, component.name),
    })),
    components_status: app.component_statuses.flatMap(shownStatus).map(withoutPods),
    drift: listedDrift(app),
  };
}

/** Shows every secret value of a revision as a reference, even if the app no longer has that secret. */
export function wireDeployment(
  deployment: Deployment,
  app: Pick<App, "name">,
  commit: DeploymentCommit | null,
): WireDeployment {
  const { spec } = deployment;
  const components = effectiveComponents(spec).map((component) =>
    shownChart(app.name, component, secretPathsOfChart(component.chart_spec)),
  );
  return { ...listedDeployment(deployment, commit), spec: { components, paused: spec.paused } };
}

export function listedDeployment(
  deployment: Omit<Deployment, "spec">,
  commit: DeploymentCommit | null,
): DeploymentListItem {
  return {
    deployment_id: deployment.id,
    revision: deployment.revision,
    operation: deployment.operation,
    status: deployment.status,
    message: deployment.message,
    summary: deployment.summary,
    changes: deployment.changes,
    created_by: deployment.created_by,
    created_at: deployment.created_at.toISOString(),
    updated_at: deployment.updated_at.toISOString(),
    finished_at: deployment.finished_at?.toISOString() ?? null,
    commit,
  };
}

export const dispatchedApp = ({ id, namespace, name, generation }: App): DispatchedResource => ({
  kind: "app",
  resourceId: id,
  key: `app/${namespace}/${name}`,
  generation,
});

export const auditedApp = ({ id, name }: App) => ({ type: "app", id, name });

export const appEvent = (app: App, connection: ClusterConnection, now: Date): Announcement => ({
  type: "app",
  org_id: app.org_id,
  cluster_id: app.cluster_id,
  project_id: app.project_id,
  workload_id: app.id,
  resource: { type: "app", id: app.id, name: app.name, namespace: app.namespace },
  phase: app.phase,
  generation: app.generation,
  revision: app.revision,
  paused: isPaused(app),
  suspended: app.suspended_at !== null,
  ...freshnessOf(app.reported_at, connection, now),
});

/** The input of every request about one app. */
type AppInput = Input<{ readonly namespace: string; readonly name: string }, { readonly project_id: string }>;

export const addressOf = ({
  params: { namespace, name },
  query: { project_id },
}: Omit<AppInput, "body">): AppAddress => ({
  projectId: project_id,
  namespace,
  name,
});

export const addressed = (input: AppInput): AppAddress => addressOf(input);

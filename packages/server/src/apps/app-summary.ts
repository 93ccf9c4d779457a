import type { AppSummary, DeploymentOperation, DeploymentStatus } from "@binnacle/contract";
import { freshnessOf, type Surroundings, shownReason } from "../clusters/freshness.ts";
import { type App, isPaused, type ListedComponent, listedComponents } from "./app.ts";

type SummarizedColumn =
  | "id"
  | "org_id"
  | "cluster_id"
  | "project_id"
  | "namespace"
  | "name"
  | "replicas_before_pause"
  | "suspended_at"
  | "component_statuses"
  | "generation"
  | "revision"
  | "phase"
  | "phase_since"
  | "phase_reason"
  | "phase_message"
  | "observed_generation"
  | "drift_state"
  | "reported_at"
  | "updated_at";

/** An app with the names of its surroundings and its newest deployment; null where there is none. */
export interface SummarizedApp extends Pick<App, SummarizedColumn>, Surroundings {
  readonly listed_components: string;
  readonly project_name: string;
  readonly cluster_name: string;
  readonly deployment_id: string | null;
  readonly deployment_operation: DeploymentOperation | null;
  readonly deployment_status: DeploymentStatus | null;
  readonly deployment_created_at: Date | null;
  readonly deployment_created_by: string | null;
}

interface Summarized {
  readonly name: string;
  readonly workload_spec?: Pick<
    NonNullable<ListedComponent["workload_spec"]>,
    "image" | "replicas" | "autoscale" | "init_containers" | "sidecars"
  >;
}

/** The images of all containers, in the order of the components. */
export function imagesOf(components: readonly Summarized[]): string[] {
  const images = components.flatMap(({ workload_spec: { image, init_containers = [], sidecars = [] } = {} }) => [
    image,
    ...[...init_containers, ...sidecars].map((container) => container.image),
  ]);
  return [...new Set(images.filter((image) => image !== undefined))];
}

/** A component on which the cluster has not reported has what is declared: one replica, unless it says otherwise. */
export function replicasOf(
  components: readonly Summarized[],
  statuses: App["component_statuses"],
): {
  readonly ready: number;
  readonly desired: number;
} {
  const reported = new Map(statuses.map((status) => [status.name, status]));
  const counts = components.map(({ name, workload_spec }) => {
    const status = reported.get(name);
    const declared = workload_spec ? (workload_spec.autoscale?.min ?? workload_spec.replicas ?? 1) : 0;
    return { ready: status?.ready ?? status?.ready_replicas ?? 0, desired: status?.desired ?? declared };
  });
  const sum = (of: "ready" | "desired") => counts.reduce((total, count) => total + count[of], 0);
  return { ready: sum("ready"), desired: sum("desired") };
}

export function wireAppSummary(app: SummarizedApp, now: Date): AppSummary {
  const components = listedComponents(app);
  return {
    id: app.id,
    name: app.name,
    namespace: app.namespace,
    project_id: app.project_id,
    project_name: app.project_name,
    cluster_id: app.cluster_id,
    cluster_name: app.cluster_name,
    org_id: app.org_id,
    phase: app.phase,
    phase_since: app.phase_since.toISOString(),
    ...shownReason(app, app, now),
    paused: isPaused(app),
    suspended: app.suspended_at !== null || Boolean(app.surrounding_suspension),
    drift_state: app.drift_state,
    generation: app.generation,
    observed_generation: app.observed_generation,
    ...freshnessOf(app.reported_at, app, now),
    images: imagesOf(components),
    ...replicasOf(components, app.component_statuses),
    last_deployment: lastDeploymentOf(app),
    updated_at: app.updated_at.toISOString(),
  };
}

function lastDeploymentOf(app: SummarizedApp): AppSummary["last_deployment"] {
  const { deployment_id: id, deployment_operation: operation, deployment_status: status } = app;
  if (id === null || operation === null || status === null || app.deployment_created_at === null) return null;
  return {
    id,
    revision: app.revision,
    operation,
    status,
    created_at: app.deployment_created_at.toISOString(),
    created_by: app.deployment_created_by,
  };
}

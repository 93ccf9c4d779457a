import type {
  AddonDefinitionFile,
  AddonInstanceListItem,
  AddonPhase,
  ValidationItem,
  AddonInstance as WireInstance,
  AddonRevision as WireRevision,
} from "@binnacle/contract";
import type { Selectable } from "kysely";
import { listedDrift, shownDrift, withoutPods } from "../apps/component-status.ts";
import { type ClusterConnection, freshnessOf, type Surroundings, shownReason } from "../clusters/freshness.ts";
import type { AddonInstanceTable, AddonRevisionTable } from "../database/fleet-tables.ts";
import type { DispatchedResource } from "../dispatch/dispatch.ts";
import type { Announcement } from "../events/event.ts";
import { conflict, Fault } from "../fault.ts";
import type { Versioned } from "../http/etag.ts";
import type { Project } from "../projects/project.ts";
import type { Values } from "./addon-values.ts";

export type Instance = Selectable<AddonInstanceTable>;

/** An instance with what its answers show beyond its row. */
export type ShownInstance = Instance & Surroundings;

/** An instance as lists read it: without contents. */
export type ListedInstance = Omit<ShownInstance, "values" | "drift_fields">;
export type Revision = Selectable<AddonRevisionTable>;

export const nameTaken = () => conflict("An addon instance of this name already exists in the project.");
const beingDeleted = (name: string) => conflict(`The addon instance ${name} is being deleted.`);
export const definitionGone = () => conflict("The addon's definition is no longer in the catalog.");

/** The phase of an instance that no cluster has acted on. */
const FIRST_PHASE: AddonPhase = "pending";

/** Returns the phase after a change of the desired state, or null where the instance may no longer be changed. */
export function phaseAfterChange(phase: AddonPhase): AddonPhase | null {
  switch (phase) {
    case "pending":
    case "installing":
      return phase;
    case "ready":
    case "upgrading":
    case "degraded":
    case "failed":
      return "upgrading";
    case "deleting":
      return null;
  }
}

/** The report of an operator about an instance. Values of secret exports stay in the cluster. */
export interface Report {
  readonly generation: number;
  readonly phase: Exclude<AddonPhase, "pending" | "deleting">;
  readonly reason: string | null;
  readonly message: string | null;
  readonly exports: Readonly<Record<string, string | null>>;
}

type Observed = Pick<Instance, "phase" | "phase_reason" | "phase_message" | "observed_generation" | "exports">;

/**
 * Returns the instance after a report, or null where the report is stale. A report on an earlier generation shows
 * progress but does not complete the change under way. A deletion completes only when the instance is absent.
 */
export function afterReport(
  instance: Instance,
  report: Report,
  definition: Pick<AddonDefinitionFile, "export_schema"> | null,
): Observed | null {
  if (report.generation < (instance.observed_generation ?? 0)) return null;
  const exports = publishedExports(report.exports, definition, instance.name);
  const observed = { ...observedOf(instance), observed_generation: report.generation, exports };
  if (instance.phase === "deleting" || report.generation < instance.generation) return observed;
  return { ...observed, phase: report.phase, phase_reason: report.reason, phase_message: report.message };
}

const observedOf = ({ phase, phase_reason, phase_message, observed_generation, exports }: Instance): Observed => ({
  phase,
  phase_reason,
  phase_message,
  observed_generation,
  exports,
});

/** Keeps declared exports only, and secrets as references only, even if an operator sends more. */
function publishedExports(
  reported: Report["exports"],
  definition: Pick<AddonDefinitionFile, "export_schema"> | null,
  instanceName: string,
): Instance["exports"] {
  const declared = new Map(Object.entries(definition?.export_schema ?? {}));
  const published = Object.entries(reported).flatMap(([key, value]): [string, unknown][] => {
    const declaration = declared.get(key);
    if (declaration?.secret) return [[key, { secret_ref: { name: `${instanceName}-addon-exports`, key } }]];
    return declaration && value !== null ? [[key, value]] : [];
  });
  return Object.fromEntries(published);
}

export function chartVersionProblems({ chart }: Pick<AddonDefinitionFile, "chart">, version: string): ValidationItem[] {
  if (chart.versions.includes(version)) return [];
  const msg = `Input should be one of ${chart.versions.join(", ")}`;
  return [{ loc: ["body", "chart_version"], msg, type: "value_error" }];
}

/** The desired state of a revision. */
export interface DesiredState {
  readonly values: Values;
  readonly chart_version: string;
  readonly notes: string | null;
}

export function newInstance(
  own: Pick<Instance, "id" | "name" | "definition_id">,
  project: Pick<Project, "id" | "org_id" | "cluster_id" | "namespace">,
  { values, chart_version }: DesiredState,
  now: Date,
): Instance {
  return {
    ...own,
    org_id: project.org_id,
    cluster_id: project.cluster_id,
    project_id: project.id,
    namespace: project.namespace,
    values: { ...values },
    chart_version,
    generation: 1,
    revision_number: 1,
    phase: FIRST_PHASE,
    phase_since: now,
    phase_reason: null,
    phase_message: null,
    observed_generation: null,
    exports: {},
    component_statuses: [],
    drift_state: "unknown",
    drift_summary: null,
    drift_fields: [],
    drift_detected_at: null,
    drift_repairs: [],
    reported_at: null,
    created_at: now,
    updated_at: now,
  };
}

/** Returns the instance with a new desired state. Throws where it may no longer be changed. */
export function revised(current: Instance, { values, chart_version }: DesiredState, now: Date): Instance {
  const phase = phaseAfterChange(current.phase);
  if (phase === null) throw beingDeleted(current.name);
  return {
    ...current,
    values: { ...values },
    chart_version,
    phase,
    phase_since: phase === current.phase ? current.phase_since : now,
    generation: current.generation + 1,
    revision_number: current.revision_number + 1,
    updated_at: now,
  };
}

export const operatorUnreachable = () =>
  new Fault("bad_gateway", "The operator of the cluster cannot be reached; the addon instance was not deleted.");
export const deletionUnconfirmed = () =>
  new Fault(
    "timed_out",
    "The deletion is recorded and goes on, but the cluster has not confirmed it yet. Read the instance to follow it.",
  );

export const deleting = (current: Instance, now: Date): Instance => ({
  ...current,
  phase: "deleting",
  phase_since: now,
  phase_reason: null,
  phase_message: null,
  generation: current.generation + 1,
  updated_at: now,
});

/** Records the current desired state as a revision. */
export const revisionOf = (instance: Instance, id: string, notes: string | null, createdBy: string): Revision => ({
  id,
  addon_instance_id: instance.id,
  revision_number: instance.revision_number,
  values: instance.values,
  chart_version: instance.chart_version,
  notes,
  created_by: createdBy,
  created_at: instance.updated_at,
});

export const versionOf = ({ id, generation }: Pick<Instance, "id" | "generation">): Versioned => ({
  id,
  version: generation,
});

export const dispatchedAddon = ({ id, namespace, name, generation }: Instance): DispatchedResource => ({
  kind: "addon_instance",
  resourceId: id,
  key: `addon_instance/${namespace}/${name}`,
  generation,
});

export const auditedAs = ({ id, name }: Instance) => ({ type: "addon_instance", id, name });

export const announcementOf = (instance: Instance, connection: ClusterConnection, now: Date): Announcement => ({
  type: "addon",
  org_id: instance.org_id,
  cluster_id: instance.cluster_id,
  project_id: instance.project_id,
  resource: { type: "addon", id: instance.id, name: instance.name, namespace: instance.namespace },
  phase: instance.phase,
  phase_reason: instance.phase_reason,
  phase_message: instance.phase_message,
  revision_number: instance.revision_number,
  ...freshnessOf(instance.reported_at, connection, now),
});

export const wireInstance = (shown: ShownInstance, now: Date): WireInstance => ({
  ...shownFields(shown, now),
  values: shown.values,
  components_status: shown.component_statuses,
  drift: shownDrift(shown),
});

/** What reads and lists show alike. */
function shownFields(shown: ListedInstance, now: Date) {
  const { id, name, namespace, org_id, cluster_id, project_id, chart_version, revision_number, phase } = shown;
  const { definition_id, generation, observed_generation, exports, created_at, updated_at } = shown;
  return {
    ...{ id, name, namespace, org_id, cluster_id, project_id, chart_version, revision_number, phase },
    ...{ generation, observed_generation },
    ...shownReason(shown, shown, now),
    ...freshnessOf(shown.reported_at, shown, now),
    addon_definition_id: definition_id,
    phase_since: shown.phase_since.toISOString(),
    exports: exports as WireInstance["exports"],
    created_at: created_at.toISOString(),
    updated_at: updated_at.toISOString(),
  };
}

/** A page of instances would be large with all their values and pods. */
export const listedInstance = (instance: ListedInstance, now: Date): AddonInstanceListItem => ({
  ...shownFields(instance, now),
  components_status: instance.component_statuses.map(withoutPods),
  drift: listedDrift(instance),
});

export function wireRevision(revision: Revision): WireRevision {
  const { revision_number, values, chart_version, notes, created_by, created_at } = revision;
  return {
    revision_id: revision.id,
    revision_number,
    values,
    chart_version,
    notes,
    created_by,
    created_at: created_at.toISOString(),
  };
}

import {
  type ClusterInput,
  cloudOf,
  type ProvisioningAction,
  type ProvisioningPhase,
  type ProvisioningStatus,
  type Cluster as WireCluster,
} from "@binnacle/contract";
import type { Selectable } from "kysely";
import type { ClusterTable } from "../database/fleet-tables.ts";
import { conflict, invalidValue } from "../fault.ts";
import { shownSuspension } from "../suspensions/suspension.ts";
import { freshnessOf } from "./freshness.ts";
import { skewOf } from "./operator-skew.ts";
import { messageOf, statusOf } from "./status.ts";

/** A cluster with the facts of other tables that its status depends on. Of its journal it has what the status needs. */
export interface Cluster extends Omit<Selectable<ClusterTable>, "volume_group_ownership"> {
  /** The lease that the hub renews while the operator is connected; null where there is none. */
  readonly session_lease_until: Date | null;
  /** The fields of the newest provisioning job. */
  readonly job_action: ProvisioningAction | null;
  readonly job_status: ProvisioningStatus | null;
  readonly job_phase: ProvisioningPhase | null;
  readonly job_error_message: string | null;
  /** The newest upgrade of its operator, with times as PostgreSQL writes them. */
  readonly operator_upgrade: WireCluster["operator_upgrade"];
  /** Whether its projects have confirmed that it is suspended. */
  readonly suspension_reported: boolean | null;
}

/** Returns whether Binnacle created the infrastructure. */
export const isProvisioned = ({ credential_id }: Pick<Cluster, "credential_id">) => credential_id !== null;

export const hasLiveSession = ({ session_lease_until }: Pick<Cluster, "session_lease_until">, now: Date) =>
  session_lease_until !== null && session_lease_until > now;

/** The version is that of the control plane. */
export function wireCluster(cluster: Cluster, now: Date, version: string): WireCluster {
  const { capacity } = cluster;
  return {
    id: cluster.id,
    org_id: cluster.org_id,
    name: cluster.name,
    description: cluster.description,
    status: statusOf(cluster, now),
    current_stage: currentStageOf(cluster),
    message: messageOf(cluster, now),
    provider: cluster.provider,
    credential_id: cluster.credential_id,
    region: cluster.region,
    instance_type: cluster.instance_type,
    agent_count: cluster.agent_count,
    disk_size_gb: cluster.disk_size_gb,
    egress: cluster.egress,
    node_count: cluster.node_count,
    operator_version: cluster.operator_version,
    operator_skew: cluster.operator_version === null ? null : skewOf(cluster.operator_version, version),
    operator_self_upgrade: cluster.self_upgrade,
    operator_upgrade: wireOperatorUpgrade(cluster.operator_upgrade),
    suspended: shownSuspension("cluster", cluster, { operator_suspends: cluster.suspends }),
    kubernetes_version: cluster.kubernetes_version,
    last_heartbeat: cluster.last_heartbeat?.toISOString() ?? null,
    ...freshnessOf(cluster.last_heartbeat, cluster, now),
    metrics: capacity && {
      cpu_cores: capacity["cpu_cores"] ?? null,
      memory_bytes: capacity["memory_bytes"] ?? null,
      pods: capacity["pods"] ?? null,
    },
    created_at: cluster.created_at.toISOString(),
    updated_at: cluster.updated_at.toISOString(),
  };
}

function wireOperatorUpgrade(upgrade: Cluster["operator_upgrade"]): WireCluster["operator_upgrade"] {
  const timeOf = (text: string | null) => text && new Date(text).toISOString();
  return upgrade && { ...upgrade, started_at: timeOf(upgrade.started_at), finished_at: timeOf(upgrade.finished_at) };
}

type StageColumns = Pick<Cluster, "stage" | "stage_status" | "stage_component" | "stage_at">;

/** The last report is the current stage until it says that the stage has ended. */
function currentStageOf({
  stage,
  stage_status,
  stage_component,
  stage_at,
}: StageColumns): WireCluster["current_stage"] {
  if (stage === null || stage_status !== "started" || stage_at === null) return null;
  return { stage, component: stage_component, started_at: stage_at.toISOString() };
}

/** The defaults of a provisioned cluster, beside the kind of machine that its provider has for one. */
const PROVISIONING_DEFAULTS = { agent_count: 0, disk_size_gb: 50 };

/** Returns the columns of a new cluster. `credentialRegion` is null for a bring-your-own cluster. */
export function provisioningOptions(body: ClusterInput, credentialRegion: string | null) {
  const given = {
    region: body.region ?? credentialRegion,
    instance_type: body.instance_type ?? null,
    agent_count: body.agent_count ?? null,
    disk_size_gb: body.disk_size_gb ?? null,
  };
  if (body.provider === undefined) return given;
  return {
    region: given.region,
    instance_type: given.instance_type ?? cloudOf(body.provider)?.default_instance_type ?? null,
    agent_count: given.agent_count ?? PROVISIONING_DEFAULTS.agent_count,
    disk_size_gb: given.disk_size_gb ?? PROVISIONING_DEFAULTS.disk_size_gb,
  };
}

const MOST_NAMED = 20;

/** Joins names to `a, b and 3 more`, so that a message stays short. */
export function named(names: readonly string[]): string {
  const shown = names.slice(0, MOST_NAMED);
  const rest = names.length - shown.length;
  return rest > 0 ? `${shown.join(", ")} and ${rest} more` : shown.join(", ");
}

export const clusterNameTaken = () => conflict("A cluster with this name already exists.");
/** Otherwise machines are made and paid for whose operator can never start. */
export const noOperatorImage = () =>
  invalidValue(
    ["body", "provider"],
    "New machines would have no image of the operator to pull. The administrator of this control plane has to set BINNACLE_IMAGES_DIR, " +
      "which needs a BINNACLE_PUBLIC_URL without a path, or BINNACLE_IMAGE_REGISTRY",
  );

export const hasProjects = (names: readonly string[]) =>
  conflict(`The cluster still has projects: ${named(names)}. Delete them first.`);

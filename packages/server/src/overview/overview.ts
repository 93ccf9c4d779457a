import {
  ADDON_PHASES,
  APP_PHASES,
  type AttentionAction,
  type AttentionItem,
  type AttentionKind,
  type AttentionReason,
  CLUSTER_STATUSES,
  type ClusterStatus,
  type FleetCluster,
  MOST_ATTENTION_ITEMS,
  MOST_OTHERS_NAMED,
  type OrgOverview,
  PROJECT_LIFECYCLES,
} from "@binnacle/contract";
import { isStale } from "../clusters/freshness.ts";
import { type ClusterFacts, messageOf, statusOf } from "../clusters/status.ts";

/** How many apps on a cluster the caller sees. */
export interface AppCounts {
  readonly apps: number;
  readonly failing: number;
  readonly held_up: number;
}

const NO_APPS: AppCounts = { apps: 0, failing: 0, held_up: 0 };

export const fleetOf = (
  clusters: readonly ClusterFacts[],
  counts: ReadonlyMap<string, AppCounts>,
  now: Date,
): FleetCluster[] =>
  clusters.map((cluster) => ({
    id: cluster.id,
    name: cluster.name,
    status: statusOf(cluster, now),
    stale: isStale(cluster, now),
    ...(counts.get(cluster.id) ?? NO_APPS),
  }));

/** An object that needs attention, as the database finds it. */
export interface Found {
  readonly kind: AttentionKind;
  readonly id: string;
  readonly name: string;
  readonly namespace: string | null;
  readonly project_id: string | null;
  readonly cluster_id: string | null;
  readonly reason: AttentionReason;
  /** One word for programs, as the cluster reports it. */
  readonly cause: string | null;
  readonly message: string | null;
  readonly since: Date | null;
  /** Whether an earlier revision of the app has run, or the addon instance has one. */
  readonly hasRun?: boolean;
  /** Distinguishes the object from others with the same cause; null where the cause is enough. */
  readonly fault?: string | null;
  /** How many objects have the same cause, this one included, where not all of them were read. */
  readonly alike?: number;
}

/** Everything else is a warning: it works, or may be working. */
export const FAILURES: readonly AttentionReason[] = [
  "failed",
  "rollout_failed",
  "invalid",
  "disconnected",
  "install_failed",
  "error",
  "cleanup_degraded",
  "namespace_conflict",
  "provisioning_failed",
];

const CLUSTER_TROUBLE: readonly ClusterStatus[] = ["disconnected", "install_failed", "error"];

/** The trouble of a cluster. One that has never been connected is waiting, not lost, and an abandoned one needs no attention. */
export function clusterTrouble(cluster: ClusterFacts, now: Date): Found[] {
  const { id, name, job_id } = cluster;
  const place = { namespace: null, project_id: null, cluster_id: id, cause: null };
  const status = statusOf(cluster, now);
  if (status === "abandoned" || status === "detaching") return [];
  const isInTrouble = CLUSTER_TROUBLE.includes(status);
  const since = {
    disconnected: cluster.last_heartbeat,
    install_failed: cluster.stage_at,
    error: cluster.job_updated_at,
  };
  const own: Found[] = isInTrouble
    ? [
        {
          ...{ kind: "cluster", id, name, ...place, reason: status as keyof typeof since },
          ...{ message: messageOf(cluster, now), since: since[status as keyof typeof since] },
        },
      ]
    : [];
  // A cluster whose creation or deletion has failed is in `error` for that reason already.
  if (job_id === null || cluster.job_status !== "failed" || status === "error") return own;
  const job = { kind: "provisioning_job", id: job_id, name, ...place, reason: "provisioning_failed" } as const;
  return [...own, { ...job, message: cluster.job_error_message, since: cluster.job_updated_at }];
}

const isFailure = ({ reason }: Found) => FAILURES.includes(reason);
const timeOf = ({ since }: Found) => since?.getTime() ?? Number.MAX_SAFE_INTEGER;

/**
 * Clusters that are lost are grouped with each other, and everything on a cluster with its like there, as far as one step resolves all of
 * them. A failed installation or job has a story of its own, and tokens expire one by one.
 */
function groupOf(found: Found): string {
  const { kind, id, reason, cause, cluster_id, fault = null } = found;
  if (kind === "cluster") return reason === "disconnected" ? reason : id;
  if (kind === "provisioning_job" || kind === "cli_token") return id;
  return JSON.stringify([kind, reason, cause, cluster_id, fault, actionOf(found)]);
}

/** The worst and oldest first, those with the same cause together; what has no time comes last. */
export function attentionItems(found: readonly Found[]): AttentionItem[] {
  const sorted = found.toSorted(
    (a, b) => Number(isFailure(b)) - Number(isFailure(a)) || timeOf(a) - timeOf(b) || (a.id < b.id ? -1 : 1),
  );
  return [...Map.groupBy(sorted, groupOf).values()]
    .slice(0, MOST_ATTENTION_ITEMS)
    .flatMap(([first, ...others]) => (first ? [itemOf(first, others)] : []));
}

const itemOf = (item: Found, others: readonly Found[]): AttentionItem => ({
  kind: item.kind,
  id: item.id,
  name: item.name,
  namespace: item.namespace,
  project_id: item.project_id,
  cluster_id: item.cluster_id,
  severity: isFailure(item) ? "failed" : "warning",
  reason: item.reason,
  cause: item.cause,
  action: actionOf(item),
  others: Math.max(others.length, (item.alike ?? 1) - 1),
  others_named: others
    .slice(0, MOST_OTHERS_NAMED)
    .map(({ id, name, namespace, project_id }) => ({ id, name, namespace, project_id })),
  message: item.message,
  since: item.since?.toISOString() ?? null,
});

/** Nothing about the app itself is wrong where no node can take its pods. */
export const OF_THE_CLUSTER: readonly string[] = ["Unschedulable", "Evicted"];
/** The app starts after a change of it alone: its containers cannot start, or Helm does not install its charts, so that it has no pods. */
const OF_THE_APP: readonly string[] = [
  ...["ImagePullBackOff", "CreateContainerConfigError", "StartError", "OOMKilled"],
  ...["InstallFailed", "UpgradeFailed", "ReleaseConflict", "ExportsConflict"],
];

type Trouble = Pick<Found, "kind" | "reason" | "cause" | "hasRun">;

/** The step that resolves the trouble of an app or an addon instance, where one does. */
export function actionOf(found: Trouble): AttentionAction | null {
  if (found.kind === "app") return appAction(found);
  return found.kind === "addon_instance" ? addonAction(found) : null;
}

/** Helm tries again by itself, so a failed addon instance needs other values or another version. */
function addonAction({ reason, cause, hasRun = false }: Trouble): AttentionAction | null {
  if (reason !== "failed" || (cause !== null && OF_THE_CLUSTER.includes(cause))) return null;
  return hasRun && cause === "UpgradeFailed" ? "roll_back" : "edit";
}

/** A container that never started has no logs, so nobody is sent there. */
function appAction({ reason, cause, hasRun = false }: Trouble): AttentionAction | null {
  if (reason === "invalid") return "edit";
  if (reason === "drifted" || reason === "blocked_sync") return null;
  if (cause !== null && OF_THE_CLUSTER.includes(cause)) return "see_pods";
  if (hasRun && reason !== "degraded") return "roll_back";
  if (cause !== null && OF_THE_APP.includes(cause)) return "edit";
  return reason === "rollout_failed" ? "retry" : "see_pods";
}

export interface StateCount {
  readonly state: string;
  readonly count: number;
}

/** All that an overview counts, in what the caller sees. */
export interface Counted {
  readonly clusters: readonly ClusterFacts[];
  readonly appsOn: ReadonlyMap<string, AppCounts>;
  readonly projects: readonly StateCount[];
  readonly apps: readonly (StateCount & {
    readonly drifted: number;
    readonly blocked: number;
    readonly held_up: number;
  })[];
  readonly addonInstances: readonly StateCount[];
  /** The worst of what the database finds in projects, and how many of them there are. */
  readonly contents: { readonly found: readonly Found[]; readonly total: number };
  readonly tokens: readonly Found[];
}

export function overviewOf(counted: Counted, now: Date): OrgOverview {
  const { clusters, appsOn, apps, contents, tokens } = counted;
  const ofClusters = clusters.flatMap((cluster) => clusterTrouble(cluster, now));
  // Nobody waits for an abandoned cluster.
  const stale = clusters.filter((cluster) => cluster.abandoned_at === null && isStale(cluster, now));
  const statuses = clusters.map((cluster) => ({ state: statusOf(cluster, now), count: 1 }));
  return {
    clusters: { ...totals("by_status", CLUSTER_STATUSES, statuses), stale: stale.length },
    projects: totals("by_lifecycle", PROJECT_LIFECYCLES, counted.projects),
    apps: {
      ...totals("by_phase", APP_PHASES, apps),
      drifted: sum(apps.map(({ drifted }) => drifted)),
      blocked: sum(apps.map(({ blocked }) => blocked)),
      held_up: sum(apps.map(({ held_up }) => held_up)),
      stale: sum(stale.map(({ id }) => appsOn.get(id)?.apps ?? 0)),
    },
    addon_instances: totals("by_phase", ADDON_PHASES, counted.addonInstances),
    attention: {
      total: ofClusters.length + contents.total + tokens.length,
      items: attentionItems([...ofClusters, ...contents.found, ...tokens]),
    },
  };
}

const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0);

function totals<K extends string, S extends string>(key: K, states: readonly S[], counts: readonly StateCount[]) {
  const of = (state: S) => sum(counts.filter((it) => it.state === state).map(({ count }) => count));
  const by = Object.fromEntries(states.map((state) => [state, of(state)])) as Record<S, number>;
  return { total: sum(counts.map(({ count }) => count)), [key]: by } as { total: number } & Record<
    K,
    Record<S, number>
  >;
}

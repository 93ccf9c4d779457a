import { type ChartRef, canonicalJson, chartSourceKey } from "@binnacle/contract";
import { ownLabels } from "../desired/ownership.ts";
import type { KubeObject } from "../kube/kube-client.ts";
import { fieldsIn, listIn } from "../kube/object-fields.ts";
import type { ReleaseId } from "./revision.ts";

/** The service account of a project's namespace as which its charts are installed. */
export const CHARTS_ACCOUNT = "binnacle-charts";

/** A chart as the settings of a cluster name it: in every version. */
export type ChartName = Pick<ChartRef, "repo" | "name">;

/** The rights that Helm uses for a release. */
export interface Rights {
  readonly user: string;
  /** Where it works. */
  readonly namespace: string;
  readonly isClusterWide: boolean;
  /** Tells people what to do where the rights are not enough. */
  readonly remedy: string;
}

export interface RightsPolicy {
  /** Charts that may have rights in the whole cluster, from the policy of the namespace's project. */
  readonly clusterWideCharts: (namespace: string) => readonly ChartName[];
  /** The user with these rights; null where the operator may not act as one. */
  readonly clusterWideUser: string | null;
}

export const accountUser = (namespace: string, account: string): string =>
  `system:serviceaccount:${namespace}:${account}`;

export const projectUser = (namespace: string): string => accountUser(namespace, CHARTS_ACCOUNT);

const NOT_ALLOWED =
  "Charts have the rights of their project's namespace only. A platform admin can allow this chart more in the cluster's settings.";
const NOT_EQUIPPED =
  "The cluster's settings allow this chart rights of the whole cluster, but the operator has none to give: install its chart with rbac.clusterWideCharts=true.";
const ALL_THERE_IS = "The account for charts with rights of the whole cluster lacks this right.";

/** Without a chart, which nobody remembers, the rights are those of the project. */
export function rightsFor(
  { namespace }: Pick<ReleaseId, "namespace">,
  chart: ChartName | null | undefined,
  { clusterWideCharts, clusterWideUser }: RightsPolicy,
): Rights {
  const isAllowed =
    !!chart && clusterWideCharts(namespace).some((one) => chartSourceKey(one) === chartSourceKey(chart));
  if (isAllowed && clusterWideUser !== null) {
    return { user: clusterWideUser, namespace, isClusterWide: true, remedy: ALL_THERE_IS };
  }
  const remedy = isAllowed ? NOT_EQUIPPED : NOT_ALLOWED;
  return { user: projectUser(namespace), namespace, isClusterWide: false, remedy };
}

/** The account as which a project's charts are installed, and what gives it its rights: both in the project's namespace. */

const RBAC = "rbac.authorization.k8s.io";

const metadataIn = (namespace: string, clusterId: string) => ({
  name: CHARTS_ACCOUNT,
  namespace,
  labels: ownLabels(clusterId),
});

/** No pod gets its token without asking for it. */
export const accountIn = (namespace: string, clusterId: string): KubeObject => ({
  apiVersion: "v1",
  kind: "ServiceAccount",
  metadata: metadataIn(namespace, clusterId),
  automountServiceAccountToken: false,
});

export const bindingIn = (namespace: string, clusterId: string, role: string): KubeObject => ({
  apiVersion: `${RBAC}/v1`,
  kind: "RoleBinding",
  metadata: metadataIn(namespace, clusterId),
  roleRef: { apiGroup: RBAC, kind: "ClusterRole", name: role },
  subjects: [{ kind: "ServiceAccount", name: CHARTS_ACCOUNT, namespace }],
});

const hasLabels = ({ metadata }: KubeObject, wanted: KubeObject): boolean =>
  Object.entries(wanted.metadata.labels ?? {}).every(([name, value]) => metadata.labels?.[name] === value);

export const isAccountAsWanted = (found: KubeObject | null, wanted: KubeObject): boolean =>
  found !== null && hasLabels(found, wanted) && found["automountServiceAccountToken"] === false;

/** `replace`: Kubernetes lets nobody turn a binding to another role. */
export function bindingStep(found: KubeObject | null, wanted: KubeObject): "keep" | "apply" | "replace" {
  if (found === null) return "apply";
  if (roleOf(found) !== roleOf(wanted)) return "replace";
  return hasLabels(found, wanted) && subjectsOf(found) === subjectsOf(wanted) ? "keep" : "apply";
}

function roleOf(binding: KubeObject): string {
  const { kind, name } = fieldsIn(binding["roleRef"]);
  return canonicalJson([kind, name]);
}

const subjectsOf = (binding: KubeObject): string =>
  canonicalJson(listIn(binding["subjects"]).map(({ kind, name, namespace }) => [kind, name, namespace ?? null]));

import { type ChartRef, chartSourceKey } from "@binnacle/contract";
import { ownLabels } from "../desired/ownership.ts";
import type { KubeObject } from "../kube/kube-client.ts";
import { hasLabelsOf, roleBinding } from "../kube/role-binding.ts";
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

/** No pod gets its token without asking for it. */
export const accountIn = (namespace: string, clusterId: string): KubeObject => ({
  apiVersion: "v1",
  kind: "ServiceAccount",
  metadata: { name: CHARTS_ACCOUNT, namespace, labels: ownLabels(clusterId) },
  automountServiceAccountToken: false,
});

export const bindingIn = (namespace: string, clusterId: string, role: string): KubeObject =>
  roleBinding({
    name: CHARTS_ACCOUNT,
    namespace,
    labels: ownLabels(clusterId),
    role,
    account: { namespace, name: CHARTS_ACCOUNT },
  });

export const isAccountAsWanted = (found: KubeObject | null, wanted: KubeObject): boolean =>
  found !== null && hasLabelsOf(found, wanted) && found["automountServiceAccountToken"] === false;

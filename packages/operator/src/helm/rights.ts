import { type ChartRef, chartSourceKey } from "@binnacle/contract";
import type { ReleaseId } from "./revision.ts";

/** The service account of a project's namespace as which its charts are installed. */
export const CHARTS_ACCOUNT = "binnacle-charts";

/** A chart as the settings of a cluster name it: in every version. */
export type ChartName = Pick<ChartRef, "repo" | "name">;

/** Whose rights Helm has for a release. */
export interface Rights {
  readonly user: string;
  /** Where it works. */
  readonly namespace: string;
  readonly isClusterWide: boolean;
  /** What people can do about it where the rights do not suffice. */
  readonly remedy: string;
}

export interface RightsPolicy {
  /** Charts that a platform admin lets have rights of the whole cluster, as the namespace's project is told. */
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

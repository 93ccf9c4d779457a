/** Which projects a caller can see, as scopes that do not overlap. */
export interface Reach {
  /** A superuser's. */
  readonly everything: boolean;
  /** Those of these organizations, which the caller administers. */
  readonly orgs: readonly string[];
  /** Those on these clusters, where the caller has a role, of other organizations than the above. */
  readonly clusters: readonly string[];
  /** These alone, where the caller has a role, neither in the organizations nor on the clusters above. */
  readonly projects: readonly { readonly id: string; readonly clusterId: string }[];
}

export const NOTHING: Reach = { everything: false, orgs: [], clusters: [], projects: [] };
export const EVERYTHING: Reach = { ...NOTHING, everything: true };

/** What of it lies on one cluster. */
export function onCluster(reach: Reach, cluster: { readonly id: string; readonly orgId: string }): Reach {
  const isWhole = reach.everything || reach.orgs.includes(cluster.orgId) || reach.clusters.includes(cluster.id);
  return isWhole
    ? { ...NOTHING, clusters: [cluster.id] }
    : { ...NOTHING, projects: reach.projects.filter(({ clusterId }) => clusterId === cluster.id) };
}

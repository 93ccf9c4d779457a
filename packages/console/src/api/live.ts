import type { CallName, Event } from "@binnacle/client";

/** The key under which an answer is cached: the operation and its input. */
export type ReadKey = readonly [operation: string, input?: Readonly<Record<string, unknown>>];

const EVERYTHING = ["app", "cluster", "project", "addon", "addon_instance", "provisioning_job", "build"] as const;
const APP = ["app", "build", "addon_attachment", "component"] as const;
/** Whatever runs on a cluster is confirmed by its operator, and no longer when that is lost. */
const CONFIRMED_APP = [...APP, "cluster"] as const;
const CONFIRMED_ADDON = ["addon", "addon_instance", "cluster"] as const;
const CONFIRMED_PROJECT = ["project", "cluster"] as const;

/**
 * The kinds of resources whose events make an answer out of date. A read that is not named here is not kept live: what it
 * shows does not change, or is followed in another way.
 */
export const OUTDATED_BY: Readonly<Partial<Record<CallName, readonly string[]>>> = {
  getOrgOverview: EVERYTHING,
  getFleet: ["cluster", "app"],
  listApps: CONFIRMED_APP,
  listAppSummaries: [...CONFIRMED_APP, "project"],
  listProjectApps: CONFIRMED_APP,
  getApp: CONFIRMED_APP,
  listDeployments: APP,
  getDeployment: APP,
  diffDeployments: APP,
  getAppResources: APP,
  listAppEvents: APP,
  listComponentSecrets: APP,
  listAddonInstances: CONFIRMED_ADDON,
  getAddonInstance: CONFIRMED_ADDON,
  listAddonRevisions: ["addon", "addon_instance"],
  listClusters: ["cluster"],
  previewOperatorUpgrade: ["cluster"],
  getCluster: ["cluster"],
  getClusterSettings: ["cluster"],
  getClusterBundle: ["cluster"],
  getInstallInstructions: ["cluster"],
  listClusterRoles: ["role_binding"],
  listClusterRegistrySecrets: ["registry_secret"],
  listProvisioningJobs: ["provisioning_job", "cluster"],
  getProvisioningJob: ["provisioning_job", "cluster"],
  getProvisioningPlan: ["provisioning_job", "cluster"],
  listProjects: CONFIRMED_PROJECT,
  getProject: CONFIRMED_PROJECT,
  getProjectPolicy: ["project"],
  listAvailableExports: ["app", "addon", "addon_instance"],
  getSecretsOverview: ["app", "registry_secret"],
  listProjectRoles: ["role_binding"],
  listProjectRegistrySecrets: ["registry_secret"],
  listEffectiveRegistrySecrets: ["registry_secret"],
  listStackTemplates: ["stack_template"],
  getStackTemplate: ["stack_template"],
  listOrgs: ["org"],
  getOrg: ["org"],
  getOrgSettings: ["org"],
  listMembers: ["member", "user"],
  getRoleMatrix: ["member", "user", "role_binding"],
  getMyAccess: ["member", "role_binding", "org"],
  listCredentials: ["credential"],
  getCredential: ["credential"],
  listChartRepositories: ["chart_repository"],
  listSessions: ["session", "user"],
  listCliTokens: ["cli_token", "session"],
  listUsers: ["user"],
  getUser: ["user"],
  getMe: ["user"],
};

/** Reads that every change of an audited resource adds to. */
const OUTDATED_BY_ACTIVITY: readonly string[] = ["listAuditLog"];

/** Whether an event says that a cached answer may have changed. In doubt it does: a read too many is cheap. */
export function isOutdated([operation, input = {}]: ReadKey, event: Pick<Event, "type" | "resource">): boolean {
  // The roles of the user have changed, so every answer may be another one.
  if (event.type === "access") return true;
  if (event.type === "activity" && OUTDATED_BY_ACTIVITY.includes(operation)) return true;
  const kinds = OUTDATED_BY[operation as CallName];
  if (!kinds?.includes(event.resource.type)) return false;
  return concerns([operation, input], event.resource);
}

/** Reads whose `id` is that of a resource of the kind. */
const READ_BY_OWN_ID: Readonly<Record<string, readonly string[]>> = {
  cluster: ["getCluster", "getClusterSettings", "getClusterBundle", "getInstallInstructions", "listProvisioningJobs"],
  project: ["getProject", "getProjectPolicy"],
};

function concerns([operation, input = {}]: ReadKey, { type, id, name, namespace }: Event["resource"]): boolean {
  // A read by namespace and name is about one app.
  if (type === "app" && input["name"] !== undefined && name !== null) {
    if (namespace !== undefined) return input["namespace"] === namespace && input["name"] === name;
    // An audit entry names an app as `namespace/name`.
    return name === input["name"] || name === [input["namespace"], input["name"]].join("/");
  }
  // A read by id is about one resource; only for reads of the resource's own kind do the two ids mean the same.
  const isOwn = READ_BY_OWN_ID[type]?.includes(operation) ?? false;
  return !isOwn || id === null || input["id"] === id;
}

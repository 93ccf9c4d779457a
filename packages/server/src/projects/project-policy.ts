import { DEFAULT_POLICY, POD_SECURITY_LEVELS, type PodSecurity, type ProjectPolicy } from "@binnacle/contract";
import { decide, type Standing } from "../access/role.ts";
import type { Settings } from "../clusters/cluster-settings.ts";
import { forbidden } from "../fault.ts";
import type { Project } from "./project.ts";

export type PolicyColumns = Pick<Project, "pod_security" | "weaker_pod_security_allowed" | "isolation">;

/** The fields of a request; those that are left out stay. */
export type PolicyChange = Partial<Pick<Project, "pod_security" | "isolation">>;

/** The policy of a new project. */
export const FIRST_POLICY: PolicyColumns = {
  pod_security: null,
  weaker_pod_security_allowed: false,
  isolation: DEFAULT_POLICY.isolation,
};

const isWeaker = (level: PodSecurity, than: PodSecurity): boolean =>
  POD_SECURITY_LEVELS.indexOf(level) < POD_SECURITY_LEVELS.indexOf(than);

/**
 * Returns the effective level. A level weaker than the cluster's counts only if an administrator of the organization
 * has allowed it; otherwise a project could keep a weak level from before the cluster became stricter.
 */
export function effectivePodSecurity(
  { pod_security: own, weaker_pod_security_allowed: isAllowed }: Omit<PolicyColumns, "isolation">,
  ofCluster: PodSecurity,
): PodSecurity {
  if (own === null) return ofCluster;
  return isWeaker(own, ofCluster) && !isAllowed ? ofCluster : own;
}

const isOrgAdmin = (standing: Standing): boolean =>
  decide({ needs: "project_role", role: "org_admin" }, standing) === "allowed";

const isAdmin = (standing: Standing): boolean =>
  decide({ needs: "project_role", role: "admin" }, standing) === "allowed";

/** Returns the columns after a change. Throws where the role of the caller is not sufficient. */
export function changePolicy(
  current: PolicyColumns,
  change: PolicyChange,
  ofCluster: PodSecurity,
  standing: Standing,
): PolicyColumns {
  const next = { ...current, ...change };
  if (next.isolation !== current.isolation && !isAdmin(standing)) {
    throw forbidden("Only an administrator of the project, its cluster or its organization may change its isolation.");
  }
  if (next.pod_security === current.pod_security) return next;
  const isWeak = next.pod_security !== null && isWeaker(next.pod_security, ofCluster);
  if (isWeak && !isOrgAdmin(standing)) {
    throw forbidden(
      `Only an administrator of the organization may set a pod_security weaker than the cluster's, which is ${ofCluster}.`,
    );
  }
  return { ...next, weaker_pod_security_allowed: isWeak };
}

/** A project with the name of an ingress namespace could reach every other project of the cluster. */
export function refuseIngressNamespace(
  name: string,
  { ingress_namespaces }: Pick<Settings, "ingress_namespaces">,
  standing: Standing,
): void {
  if (!ingress_namespaces.includes(name) || isOrgAdmin(standing)) return;
  throw forbidden(
    `The namespace ${name} is one of the cluster's ingress controllers; only an administrator of the organization may make a project of it.`,
  );
}

export function wirePolicy(project: PolicyColumns & Pick<Project, "id">, settings: Settings): ProjectPolicy {
  return {
    project_id: project.id,
    pod_security: project.pod_security,
    effective_pod_security: effectivePodSecurity(project, settings.pod_security),
    isolation: project.isolation,
    ingress_namespaces: settings.ingress_namespaces,
  };
}

import {
  API_GROUP,
  DEFAULT_POLICY,
  type DesiredPolicy,
  LABELS,
  POD_SECURITY_LEVELS,
  type PodSecurity,
} from "@binnacle/contract";
import { ownLabels } from "../desired/ownership.ts";
import type { KubeObject, ResourceType } from "../kube/kube-client.ts";
import type { Project } from "./project.ts";

/** The policy of a project's namespace: Pod Security labels and a NetworkPolicy. */

/** Marks the policy objects among all our objects. */
export const POLICY_LABEL = `${API_GROUP}/fence`;

const namespaced = (group: string, plural: string, kind: string): ResourceType => ({
  group,
  version: "v1",
  plural,
  kind,
  namespaced: true,
});

export const POLICY_TYPES: readonly ResourceType[] = [
  namespaced("networking.k8s.io", "networkpolicies", "NetworkPolicy"),
  // Older versions made these two of a quota. Nothing is capped any more, so those that are left are deleted.
  namespaced("", "resourcequotas", "ResourceQuota"),
  namespaced("", "limitranges", "LimitRange"),
];

const POD_SECURITY = "pod-security.kubernetes.io";
/** Of its own accord the API server writes it onto every namespace, and lets nobody change it. */
const NAMESPACE_NAME = "kubernetes.io/metadata.name";

/** An older control plane sends no policy; its projects get the default one. */
const policyOf = ({ spec }: Pick<Project, "spec">): DesiredPolicy => spec.policy ?? DEFAULT_POLICY;

/** The level that the project's namespace gets: what its policy says, and no higher than whoever owns the cluster permits. */
export function podSecurityOf(project: Pick<Project, "spec"> | null, limit: PodSecurity): PodSecurity {
  const wanted = (project ? policyOf(project) : DEFAULT_POLICY).pod_security;
  return isAbove(wanted, limit) ? limit : wanted;
}

/** The levels are listed from the one with the most rights. */
const isAbove = (level: PodSecurity, limit: PodSecurity): boolean =>
  POD_SECURITY_LEVELS.indexOf(level) < POD_SECURITY_LEVELS.indexOf(limit);

/** Null where the policy is within the limit. */
export function beyondLimit(project: Pick<Project, "spec">, limit: PodSecurity): string | null {
  const wanted = policyOf(project).pod_security;
  if (!isAbove(wanted, limit)) return null;
  return `The cluster permits projects at most the Pod Security level ${limit}, which its namespace has, instead of ${wanted}. Ask for ${limit}, or have whoever installs the operator's chart set limits.podSecurity=${wanted}.`;
}

/** People are warned of what the strictest level would refuse; the audit log of the API server has it too. */
export function podSecurityLabels(
  project: Pick<Project, "spec">,
  limit: PodSecurity,
): Readonly<Record<string, string>> {
  const levels = { enforce: podSecurityOf(project, limit), warn: "restricted", audit: "restricted" };
  return Object.fromEntries(
    Object.entries(levels).flatMap(([mode, level]) => [
      [`${POD_SECURITY}/${mode}`, level],
      [`${POD_SECURITY}/${mode}-version`, "latest"],
    ]),
  );
}

/** The objects that the project's namespace is to have, and none of these kinds beside them. */
export function policyObjects(project: Project, clusterId: string): KubeObject[] {
  const { isolation, ingress_namespaces } = policyOf(project);
  return isolation === "none" ? [] : [inNamespace(isolationOf(ingress_namespaces), project, clusterId)];
}

interface Content {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly spec: object;
}

function inNamespace({ apiVersion, kind, name, spec }: Content, project: Project, clusterId: string): KubeObject {
  const labels = { ...ownLabels(clusterId), [LABELS.project]: project.resource_id, [POLICY_LABEL]: "true" };
  return { apiVersion, kind, metadata: { name, namespace: project.spec.namespace, labels }, spec };
}

function isolationOf(ingressNamespaces: readonly string[]): Content {
  const values = [...new Set(ingressNamespaces)].sort();
  const fromIngress = { namespaceSelector: { matchExpressions: [{ key: NAMESPACE_NAME, operator: "In", values }] } };
  const from = [{ podSelector: {} }, ...(values.length > 0 ? [fromIngress] : [])];
  return {
    apiVersion: "networking.k8s.io/v1",
    kind: "NetworkPolicy",
    name: "binnacle-isolation",
    spec: { podSelector: {}, policyTypes: ["Ingress"], ingress: [{ from }] },
  };
}

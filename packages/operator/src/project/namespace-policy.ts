import { API_GROUP, DEFAULT_POLICY, type DesiredPolicy, LABELS } from "@binnacle/contract";
import { ownLabels } from "../desired/ownership.ts";
import type { KubeObject, ResourceType } from "../kube/kube-client.ts";
import type { Project } from "./project.ts";

/** The policy of a project's namespace: Pod Security labels and three objects. */

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
  namespaced("", "resourcequotas", "ResourceQuota"),
  namespaced("", "limitranges", "LimitRange"),
];

const POD_SECURITY = "pod-security.kubernetes.io";
/** Of its own accord the API server writes it onto every namespace, and lets nobody change it. */
const NAMESPACE_NAME = "kubernetes.io/metadata.name";

/** An older control plane sends no policy; its projects get the default one. */
export const policyOf = ({ spec }: Pick<Project, "spec">): DesiredPolicy => spec.policy ?? DEFAULT_POLICY;

/** People are warned of what the strictest level would refuse; the audit log of the API server has it too. */
export function podSecurityLabels(project: Pick<Project, "spec">): Readonly<Record<string, string>> {
  const levels = { enforce: policyOf(project).pod_security, warn: "restricted", audit: "restricted" };
  return Object.fromEntries(
    Object.entries(levels).flatMap(([mode, level]) => [
      [`${POD_SECURITY}/${mode}`, level],
      [`${POD_SECURITY}/${mode}-version`, "latest"],
    ]),
  );
}

/** The objects that the project's namespace is to have, and none of these kinds beside them. */
export function policyObjects(project: Project, clusterId: string): KubeObject[] {
  const { isolation, ingress_namespaces, quota } = policyOf(project);
  const contents = [
    isolation === "none" ? null : isolationOf(ingress_namespaces),
    quota ? quotaOf(quota) : null,
    quota ? limitsOf(quota) : null,
  ];
  return contents.flatMap((content) => (content ? [inNamespace(content, project, clusterId)] : []));
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

type Quota = NonNullable<DesiredPolicy["quota"]>;

function quotaOf(quota: Quota): Content | null {
  const hard = given({
    "requests.cpu": quota.requests_cpu,
    "requests.memory": quota.requests_memory,
    "limits.cpu": quota.limits_cpu,
    "limits.memory": quota.limits_memory,
    pods: quota.pods === undefined ? undefined : String(quota.pods),
    "requests.storage": quota.storage_gb === undefined ? undefined : `${quota.storage_gb}Gi`,
  });
  return hard && { apiVersion: "v1", kind: "ResourceQuota", name: "binnacle-quota", spec: { hard } };
}

function limitsOf(quota: Quota): Content | null {
  const limit = given({
    default: given({ cpu: quota.default_limit_cpu, memory: quota.default_limit_memory }),
    defaultRequest: given({ cpu: quota.default_request_cpu, memory: quota.default_request_memory }),
  });
  const limits = [{ type: "Container", ...limit }];
  return limit && { apiVersion: "v1", kind: "LimitRange", name: "binnacle-limits", spec: { limits } };
}

/** Null where nothing is given. */
function given(fields: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> | null {
  const entries = Object.entries(fields).filter(([, value]) => value !== undefined && value !== null);
  return entries.length > 0 ? Object.fromEntries(entries) : null;
}

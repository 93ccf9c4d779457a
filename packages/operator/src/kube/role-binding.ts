import { canonicalJson } from "@binnacle/contract";
import type { KubeObject, ResourceType } from "./kube-client.ts";
import { fieldsIn, listIn } from "./object-fields.ts";

/** Bindings of a ClusterRole in one namespace. */

const RBAC = "rbac.authorization.k8s.io";

export const ROLE_BINDINGS: ResourceType = {
  group: RBAC,
  version: "v1",
  plural: "rolebindings",
  kind: "RoleBinding",
  namespaced: true,
};

export interface ServiceAccountName {
  readonly namespace: string;
  readonly name: string;
}

interface Binding {
  readonly name: string;
  readonly namespace: string;
  readonly labels: Readonly<Record<string, string>>;
  /** The ClusterRole whose rights it gives in the namespace. */
  readonly role: string;
  readonly account: ServiceAccountName;
}

export const roleBinding = ({ name, namespace, labels, role, account }: Binding): KubeObject => ({
  apiVersion: `${RBAC}/v1`,
  kind: "RoleBinding",
  metadata: { name, namespace, labels },
  roleRef: { apiGroup: RBAC, kind: "ClusterRole", name: role },
  subjects: [{ kind: "ServiceAccount", name: account.name, namespace: account.namespace }],
});

export const hasLabelsOf = ({ metadata }: KubeObject, wanted: KubeObject): boolean =>
  Object.entries(wanted.metadata.labels ?? {}).every(([name, value]) => metadata.labels?.[name] === value);

/** `replace`: Kubernetes lets nobody turn a binding to another role. */
export function bindingStep(found: KubeObject | null, wanted: KubeObject): "keep" | "apply" | "replace" {
  if (found === null) return "apply";
  if (roleOf(found) !== roleOf(wanted)) return "replace";
  return hasLabelsOf(found, wanted) && subjectsOf(found) === subjectsOf(wanted) ? "keep" : "apply";
}

function roleOf(binding: KubeObject): string {
  const { kind, name } = fieldsIn(binding["roleRef"]);
  return canonicalJson([kind, name]);
}

const subjectsOf = (binding: KubeObject): string =>
  canonicalJson(listIn(binding["subjects"]).map(({ kind, name, namespace }) => [kind, name, namespace ?? null]));

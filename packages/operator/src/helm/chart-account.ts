import { canonicalJson } from "@binnacle/contract";
import { ownLabels } from "../desired/ownership.ts";
import type { KubeObject } from "../kube/kube-client.ts";
import { fieldsIn, listIn } from "../kube/object-fields.ts";
import { CHARTS_ACCOUNT } from "./rights.ts";

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

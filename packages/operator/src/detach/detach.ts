import { ANNOTATIONS, type LeftObject, safeText } from "@binnacle/contract";
import { ownLabels } from "../desired/ownership.ts";
import type { KubeObject, ResourceType } from "../kube/kube-client.ts";
import { OWNED_KINDS } from "../kube/resource-types.ts";
import { POLICY_TYPES } from "../project/namespace-policy.ts";

/** What Binnacle makes in the namespaces of projects, and leaves there. */
export const RELEASED_TYPES: readonly ResourceType[] = [
  ...OWNED_KINDS,
  ...POLICY_TYPES.filter(({ kind }) => kind === "NetworkPolicy"),
];

/**
 * Takes the marks of Binnacle off an object. Labels by which Services and workloads find their pods stay, and pods keep all of theirs: to
 * change them would replace the pods.
 */
export const releasePatch = (clusterId: string) => ({
  metadata: {
    labels: Object.fromEntries(Object.keys(ownLabels(clusterId)).map((name) => [name, null])),
    annotations: {
      [ANNOTATIONS.resourceId]: null,
      [ANNOTATIONS.generation]: null,
      [ANNOTATIONS.hash]: null,
    },
  },
});

/** An object that the operator has not let go of, and why. */
export const leftAs = (
  kind: string,
  { name, namespace }: Pick<KubeObject["metadata"], "name" | "namespace">,
  reason: string,
): LeftObject => ({ kind, namespace: namespace ?? null, name, reason: safeText(reason) });

/** Its rights there are needed again as long as something in the namespace is left. */
export const mayRelease = (namespace: string, left: readonly Pick<LeftObject, "namespace">[]): boolean =>
  !left.some((one) => one.namespace === namespace);

export const heldText = (finalizers: readonly string[]): string =>
  finalizers.length > 0 ? `It is held by the finalizers ${finalizers.join(", ")}.` : "It is still there.";

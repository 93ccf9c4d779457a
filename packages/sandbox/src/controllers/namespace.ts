import type { KubeObject } from "../store/kube-object.ts";
import { type Controller, NOTHING, type Outcome, type Owned, type Place, type Write } from "./control.ts";
import { type Condition, isDeleting, withCondition } from "./pod.ts";
import { deletion, statusWrites } from "./writes.ts";

const NAMESPACES = "namespaces";
const FINALIZER = "kubernetes";

export interface Namespace extends KubeObject {
  readonly spec?: { readonly finalizers?: readonly string[] };
  readonly status?: { readonly phase?: string; readonly conditions?: readonly Condition[] };
}

/** Empties a namespace that is to be deleted, and lets it go when nothing is left in it. */
export const namespaces: Controller = {
  name: "namespace",
  concerns({ resource, object, type }, view): readonly Place[] {
    if (resource === NAMESPACES) return type !== "DELETED" && isDeleting(object) ? [placeAt(object.metadata.name)] : [];
    const { namespace } = object.metadata;
    if (namespace === undefined) return [];
    const around = view.get(NAMESPACES, namespace);
    return around && isDeleting(around) ? [placeAt(namespace)] : [];
  },
  step({ name }, view, nowMs) {
    const namespace = view.get(NAMESPACES, name) as Namespace | null;
    if (!namespace || !isDeleting(namespace)) return NOTHING;
    const content = view
      .namespacedResources()
      .flatMap((resource) => view.list(resource, name).map((object) => ({ resource, object })));
    return stepNamespace(namespace, content, nowMs);
  },
};

const placeAt = (name: string): Place => ({ resource: NAMESPACES, name });

export function stepNamespace(namespace: Namespace, content: readonly Owned[], nowMs: number): Outcome {
  const { finalizers = [] } = namespace.spec ?? {};
  if (content.length === 0) {
    const letGo = { verb: "finalize", namespace: namespace.metadata.name } as const;
    return { writes: finalizers.includes(FINALIZER) ? [letGo] : [], wakeAtMs: null };
  }
  const deletions = content
    .filter(({ object }) => !isDeleting(object))
    .map(({ resource, object }) => deletion(resource, object, "Background"));
  const held = content.filter(({ object }) => isDeleting(object));
  // While something can still be deleted, what is left says nothing yet.
  if (deletions.length > 0) return { writes: deletions, wakeAtMs: null };
  const conditions = conditionsOf(held).reduce<readonly Condition[]>(
    (all, one) => withCondition(all, one, nowMs),
    namespace.status?.conditions ?? [],
  );
  return {
    writes: statusWrites(NAMESPACES, namespace, { ...namespace.status, phase: "Terminating", conditions }),
    wakeAtMs: null,
  };
}

function conditionsOf(held: readonly Owned[]): readonly Condition[] {
  const remaining = counts(held.map(({ resource }) => resourceWithGroup(resource)));
  const finalizers = counts(held.flatMap(({ object }) => object.metadata.finalizers ?? []));
  return [
    fine("NamespaceDeletionDiscoveryFailure", "ResourcesDiscovered", "All resources successfully discovered"),
    fine(
      "NamespaceDeletionGroupVersionParsingFailure",
      "ParsedGroupVersions",
      "All legacy kube types successfully parsed",
    ),
    fine(
      "NamespaceDeletionContentFailure",
      "ContentDeleted",
      "All content successfully deleted, may be waiting on finalization",
    ),
    {
      type: "NamespaceContentRemaining",
      status: "True",
      reason: "SomeResourcesRemain",
      message: `Some resources are remaining: ${listed(remaining, (name, count) => `${name} has ${count} resource instances`)}`,
    },
    finalizers.size > 0
      ? {
          type: "NamespaceFinalizersRemaining",
          status: "True",
          reason: "SomeFinalizersRemain",
          message: `Some content in the namespace has finalizers remaining: ${listed(finalizers, (name, count) => `${name} in ${count} resource instances`)}`,
        }
      : fine("NamespaceFinalizersRemaining", "ContentHasNoFinalizers", "All content-preserving finalizers finished"),
  ];
}

const fine = (type: string, reason: string, message: string): Condition => ({ type, status: "False", reason, message });

/** `pods` of the core group are written as `pods.`, as Kubernetes does. */
const resourceWithGroup = (resource: string): string => (resource.includes(".") ? resource : `${resource}.`);

const counts = (names: readonly string[]): ReadonlyMap<string, number> =>
  new Map([...Map.groupBy(names, (name) => name)].map(([name, { length }]) => [name, length]));

const listed = (of: ReadonlyMap<string, number>, textOf: (name: string, count: number) => string): string =>
  [...of]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, count]) => textOf(name, count))
    .join(", ");

const ACCOUNT = "default";
const AUTHORITY = "kube-root-ca.crt";

/** Every namespace has a default service account and the certificate of the API server. */
export const namespaceDefaults = (rootCertificate: string): Controller => ({
  name: "namespace-defaults",
  concerns({ resource, type, object }): readonly Place[] {
    const { name, namespace = "" } = object.metadata;
    if (resource === "namespaces") return type === "ADDED" ? [{ resource, name }] : [];
    const isOurs =
      (resource === "serviceaccounts" && name === ACCOUNT) || (resource === "configmaps" && name === AUTHORITY);
    return isOurs && type !== "ADDED" ? [{ resource: "namespaces", name: namespace }] : [];
  },
  step({ name: namespace }, view) {
    const around = view.get("namespaces", namespace);
    if (!around || isDeleting(around)) return NOTHING;
    const writes: Write[] = [];
    if (!view.get("serviceaccounts", ACCOUNT, namespace)) {
      const object = { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: ACCOUNT, namespace } };
      writes.push({ verb: "create", resource: "serviceaccounts", object });
    }
    if (!view.get("configmaps", AUTHORITY, namespace)) {
      const description = "The certificate of the simulated API server, as a real cluster would give it to pods.";
      const annotations = { "kubernetes.io/description": description };
      const metadata = { name: AUTHORITY, namespace, annotations };
      const object = { apiVersion: "v1", kind: "ConfigMap", metadata, data: { "ca.crt": rootCertificate } };
      writes.push({ verb: "create", resource: "configmaps", object });
    }
    return { writes, wakeAtMs: null };
  },
});

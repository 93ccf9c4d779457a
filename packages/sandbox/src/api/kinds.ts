/** A kind that every cluster serves. */
export interface Kind {
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly singular: string;
  readonly kind: string;
  readonly namespaced: boolean;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly subresources: readonly string[];
  /** Of its fields, in `kubernetes-types.json`. */
  readonly type: string;
}

type Traits = Partial<Pick<Kind, "plural" | "shortNames" | "subresources" | "categories" | "namespaced">>;

function kinds(group: string, version: string, typeGroup: string, traits: Readonly<Record<string, Traits>>): Kind[] {
  return Object.entries(traits).map(([kind, given]) => {
    const singular = kind.toLowerCase();
    return {
      group,
      version,
      kind,
      singular,
      plural: given.plural ?? `${singular}s`,
      namespaced: given.namespaced ?? true,
      shortNames: given.shortNames ?? [],
      categories: given.categories ?? [],
      subresources: given.subresources ?? [],
      type: `${typeGroup}.${version}.${kind}`,
    };
  });
}

const status = ["status"];
const scaled = ["status", "scale"];
const all = ["all"];
const extensions = { namespaced: false, categories: ["api-extensions"] };

export const KINDS: readonly Kind[] = [
  ...kinds("", "v1", "core", {
    ConfigMap: { shortNames: ["cm"] },
    Endpoints: { plural: "endpoints", shortNames: ["ep"] },
    Event: { shortNames: ["ev"] },
    LimitRange: { shortNames: ["limits"] },
    Namespace: { namespaced: false, shortNames: ["ns"], subresources: ["finalize", "status"] },
    Node: { namespaced: false, shortNames: ["no"], subresources: status },
    PersistentVolumeClaim: { shortNames: ["pvc"], subresources: status },
    PersistentVolume: { namespaced: false, shortNames: ["pv"], subresources: status },
    Pod: { shortNames: ["po"], categories: all, subresources: ["log", "exec", "status", "binding", "eviction"] },
    PodTemplate: {},
    ReplicationController: { shortNames: ["rc"], categories: all, subresources: scaled },
    ResourceQuota: { shortNames: ["quota"], subresources: status },
    Secret: {},
    ServiceAccount: { shortNames: ["sa"], subresources: ["token"] },
    Service: { shortNames: ["svc"], categories: all, subresources: status },
  }),
  ...kinds("apps", "v1", "apps", {
    ControllerRevision: {},
    DaemonSet: { shortNames: ["ds"], categories: all, subresources: status },
    Deployment: { shortNames: ["deploy"], categories: all, subresources: scaled },
    ReplicaSet: { shortNames: ["rs"], categories: all, subresources: scaled },
    StatefulSet: { shortNames: ["sts"], categories: all, subresources: scaled },
  }),
  ...kinds("batch", "v1", "batch", {
    CronJob: { shortNames: ["cj"], categories: all, subresources: status },
    Job: { categories: all, subresources: status },
  }),
  ...kinds("autoscaling", "v2", "autoscaling", {
    HorizontalPodAutoscaler: { shortNames: ["hpa"], categories: all, subresources: status },
  }),
  ...kinds("networking.k8s.io", "v1", "networking", {
    IngressClass: { plural: "ingressclasses", namespaced: false },
    Ingress: { plural: "ingresses", shortNames: ["ing"], subresources: status },
    NetworkPolicy: { plural: "networkpolicies", shortNames: ["netpol"] },
  }),
  ...kinds("policy", "v1", "policy", { PodDisruptionBudget: { shortNames: ["pdb"], subresources: status } }),
  ...kinds("rbac.authorization.k8s.io", "v1", "rbac", {
    ClusterRoleBinding: { namespaced: false },
    ClusterRole: { namespaced: false },
    RoleBinding: {},
    Role: {},
  }),
  ...kinds("storage.k8s.io", "v1", "storage", {
    CSIDriver: { namespaced: false },
    CSINode: { namespaced: false },
    StorageClass: { plural: "storageclasses", namespaced: false, shortNames: ["sc"] },
    VolumeAttachment: { namespaced: false, subresources: status },
  }),
  ...kinds("coordination.k8s.io", "v1", "coordination", { Lease: {} }),
  ...kinds("discovery.k8s.io", "v1", "discovery", { EndpointSlice: {} }),
  ...kinds("scheduling.k8s.io", "v1", "scheduling", {
    PriorityClass: { plural: "priorityclasses", namespaced: false, shortNames: ["pc"] },
  }),
  ...kinds("admissionregistration.k8s.io", "v1", "admissionregistration", {
    MutatingWebhookConfiguration: extensions,
    ValidatingWebhookConfiguration: extensions,
  }),
  ...kinds("apiextensions.k8s.io", "v1", "apiextensions", {
    CustomResourceDefinition: { ...extensions, shortNames: ["crd", "crds"], subresources: status },
  }),
  ...kinds("apiregistration.k8s.io", "v1", "apiregistration", {
    APIService: { ...extensions, subresources: status },
  }),
];

/** Kinds of which nothing is stored, but which somebody may send. */
export const MESSAGES: readonly { readonly apiVersion: string; readonly kind: string; readonly type: string }[] = [
  { apiVersion: "v1", kind: "DeleteOptions", type: "meta.v1.DeleteOptions" },
  { apiVersion: "meta.k8s.io/v1", kind: "DeleteOptions", type: "meta.v1.DeleteOptions" },
  { apiVersion: "v1", kind: "Binding", type: "core.v1.Binding" },
  { apiVersion: "policy/v1", kind: "Eviction", type: "policy.v1.Eviction" },
  { apiVersion: "autoscaling/v1", kind: "Scale", type: "autoscaling.v1.Scale" },
  ...["SelfSubjectAccessReview", "SelfSubjectRulesReview", "SubjectAccessReview", "LocalSubjectAccessReview"].map(
    (kind) => ({
      apiVersion: "authorization.k8s.io/v1",
      kind,
      type: `authorization.v1.${kind}`,
    }),
  ),
  ...["TokenRequest", "TokenReview", "SelfSubjectReview"].map((kind) => ({
    apiVersion: "authentication.k8s.io/v1",
    kind,
    type: `authentication.v1.${kind}`,
  })),
];

/** The role with which charts are installed in the namespaces of projects, named after the release of the tests. */
export const CHARTS_ROLE = "binnacle-system:binnacle-operator:charts";

const RBAC = "rbac.authorization.k8s.io";

/** By verbs, group and resources, and of some only those of one name. */
type Right = readonly [verbs: readonly string[], group: string, resources: readonly string[], name?: string];

/** What it binds itself to in the namespaces of projects. */
export const PROJECTS_ROLE = "binnacle-system:binnacle-operator:projects";

/** Rights in the whole cluster that the operator's code needs for its own account. */
export const NEEDED: readonly Right[] = [
  [["get", "list", "watch", "create", "patch", "delete"], "binnacle.dev", ["projects", "apps", "addoninstances"]],
  [["patch"], "binnacle.dev", ["projects/status", "apps/status", "addoninstances/status"]],
  [["get", "list", "watch", "create", "patch", "delete"], "", ["namespaces"]],
  [["get", "list", "watch"], "", ["secrets", "configmaps", "services", "serviceaccounts", "persistentvolumeclaims"]],
  [["get", "list", "watch"], "apps", ["deployments", "statefulsets", "daemonsets"]],
  [["get", "list", "watch"], "policy", ["poddisruptionbudgets"]],
  [["get", "list", "watch"], "batch", ["jobs", "cronjobs"]],
  [["get", "list", "watch"], "networking.k8s.io", ["ingresses", "networkpolicies"]],
  [["list", "watch"], "gateway.networking.k8s.io", ["httproutes", "grpcroutes", "tlsroutes"]],
  [["get", "list", "watch"], "autoscaling", ["horizontalpodautoscalers"]],
  [["list", "watch"], "", ["resourcequotas", "limitranges"]],
  [["get", "list", "watch"], "", ["pods", "nodes"]],
  [["get"], "", ["persistentvolumes"]],
  [["get"], "storage.k8s.io", ["storageclasses"]],
  [["get"], "", ["services/proxy"]],
  [["get", "list"], "metrics.k8s.io", ["nodes", "pods"]],
  [["get", "list", "watch"], "shipwright.io", ["buildruns"]],
  [["get", "list", "watch"], "kpack.io", ["builds"]],
  [["create"], RBAC, ["rolebindings"]],
  [["get", "patch", "delete"], RBAC, ["rolebindings"], "binnacle-operator"],
  [["get", "patch", "delete"], RBAC, ["rolebindings"], "binnacle-charts"],
  [["bind"], RBAC, ["clusterroles"], PROJECTS_ROLE],
  [["bind"], RBAC, ["clusterroles"], CHARTS_ROLE],
];

/** Those that it needs in the namespaces of projects only. */
export const NEEDED_IN_PROJECTS: readonly Right[] = [
  [["create", "patch", "delete"], "", ["secrets", "configmaps", "services", "serviceaccounts"]],
  [["create", "patch", "delete"], "", ["persistentvolumeclaims"]],
  [["create", "patch", "delete"], "apps", ["deployments", "statefulsets", "daemonsets"]],
  [["create", "patch", "delete"], "policy", ["poddisruptionbudgets"]],
  [["create", "patch", "delete"], "batch", ["jobs", "cronjobs"]],
  [["create", "patch", "delete"], "networking.k8s.io", ["ingresses", "networkpolicies"]],
  [["create", "patch", "delete"], "autoscaling", ["horizontalpodautoscalers"]],
  [["delete"], "gateway.networking.k8s.io", ["httproutes", "grpcroutes", "tlsroutes"]],
  [["delete"], "", ["resourcequotas", "limitranges"]],
  [["list", "create"], "", ["events"]],
  [["list"], "apps", ["replicasets"]],
  [["get"], "", ["pods/log"]],
  [["get", "create"], "", ["pods/exec"]],
  [["impersonate"], "", ["serviceaccounts"], "binnacle-charts"],
];

/** Those that it needs in its own namespace only, besides the ones with which it upgrades itself. */
export const NEEDED_AT_HOME: readonly Right[] = [
  [["create"], "", ["secrets", "configmaps"]],
  [["patch"], "", ["secrets"], "binnacle-operator-token"],
  [["patch"], "", ["secrets"], "binnacle-chart-repositories"],
  [["patch"], "", ["configmaps"], "binnacle-operator-memory"],
];

/** Those that it needs beyond, where Binnacle has made the machines. */
export const NEEDED_FOR_INFRASTRUCTURE: readonly Right[] = [
  [["patch"], "", ["nodes"]],
  [["create"], "", ["pods/eviction"]],
  [["delete"], "", ["pods", "persistentvolumeclaims", "services"]],
  [["patch"], "", ["services"]],
  [["list"], "", ["persistentvolumes"]],
];

/** Each right by itself, to compare. */
export const rightsIn = (rights: readonly Right[]): string[] =>
  rights
    .flatMap(([verbs, group, resources, name]) =>
      resources.flatMap((resource) => verbs.map((verb) => rightText(verb, group, resource, name))),
    )
    .sort();

export const rightText = (verb: string, group: string, resource: string, name?: string): string =>
  [verb, group === "" ? resource : `${resource}.${group}`, ...(name === undefined ? [] : [name])].join(" ");

interface Rule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
  readonly resourceNames?: readonly string[];
}

/** The rules of a rendered role in the same form. */
export const rightsOfRules = (rules: unknown): string[] =>
  rightsIn(
    (rules as readonly Rule[]).flatMap(({ apiGroups, resources, verbs, resourceNames }) =>
      apiGroups.flatMap((group): Right[] =>
        resourceNames
          ? resourceNames.map((name): Right => [verbs, group, resources, name])
          : [[verbs, group, resources]],
      ),
    ),
  );

/** Rights with which the operator could take over the cluster or objects that are not Binnacle's. */
export const REFUSED: readonly (readonly [
  verb: string,
  group: string,
  resource: string,
  namespace: string,
  name?: string,
])[] = [
  ["update", "", "secrets", "shop"],
  ["create", "", "secrets", "kube-system"],
  ["patch", "", "secrets", "binnacle-system", "another"],
  ["patch", "", "configmaps", "binnacle-system", "another"],
  ["create", "", "serviceaccounts", "kube-system"],
  ["create", "apps", "deployments", "kube-system"],
  ["create", "apps", "deployments", "binnacle-system"],
  ["patch", "apps", "deployments", "binnacle-system", "another"],
  ["create", "batch", "jobs", "kube-system"],
  ["delete", "", "configmaps", "kube-system"],
  ["delete", "networking.k8s.io", "networkpolicies", "kube-system"],
  ["get", "", "pods/exec", "kube-system"],
  ["get", "", "pods/log", "kube-system"],
  ["impersonate", "", "serviceaccounts", "kube-system", "binnacle-charts"],
  ["create", "", "events", "kube-system"],
  ["patch", "", "events", "default"],
  ["create", "", "pods", "shop"],
  ["create", "apps", "replicasets", "kube-system"],
  ["create", "", "pods/eviction", "shop"],
  ["create", "rbac.authorization.k8s.io", "roles", "shop"],
  ["patch", "rbac.authorization.k8s.io", "rolebindings", "shop", "another"],
  ["bind", "rbac.authorization.k8s.io", "clusterroles", "shop", "cluster-admin"],
  ["impersonate", "", "serviceaccounts", "kube-system", "default"],
  ["impersonate", "", "serviceaccounts", "binnacle-system", "binnacle-cluster-charts"],
  ["impersonate", "", "groups", "", "system:masters"],
  ["patch", "coordination.k8s.io", "leases", "kube-system"],
  ["create", "rbac.authorization.k8s.io", "clusterroles", ""],
  ["create", "rbac.authorization.k8s.io", "clusterrolebindings", ""],
  ["escalate", "rbac.authorization.k8s.io", "roles", "shop"],
  ["bind", "rbac.authorization.k8s.io", "clusterroles", ""],
  ["impersonate", "", "users", ""],
  ["update", "", "pods/exec", "shop"],
  ["create", "", "pods/attach", "shop"],
  ["create", "", "pods/portforward", "shop"],
  ["create", "", "serviceaccounts/token", "kube-system"],
  ["get", "", "nodes/proxy", ""],
  ["patch", "", "nodes", ""],
  ["delete", "", "nodes", ""],
  ["delete", "", "persistentvolumes", ""],
  ["create", "apiextensions.k8s.io", "customresourcedefinitions", ""],
  ["delete", "apiextensions.k8s.io", "customresourcedefinitions", ""],
  ["create", "admissionregistration.k8s.io", "mutatingwebhookconfigurations", ""],
  ["create", "certificates.k8s.io", "certificatesigningrequests", ""],
  ["create", "", "services/proxy", "shop"],
  ["deletecollection", "", "namespaces", ""],
  ["deletecollection", "", "secrets", "shop"],
];

import Type, { type Static } from "typebox";
import { ChartName, DnsLabel, strict } from "./fields.ts";
import { ISOLATIONS, POD_SECURITY_LEVELS } from "./states.ts";

/**
 * The policy of a project's namespace. Cluster settings, projects and the messages to the operator use the same shapes.
 */

export const PodSecurityField = Type.Enum(POD_SECURITY_LEVELS, {
  description: "A level of the Pod Security Standards. The API server refuses pods that violate it.",
  examples: ["baseline"],
});

export const OwnPodSecurity = Type.Union([Type.Enum(POD_SECURITY_LEVELS), Type.Null()], {
  description: "The project's own level of the Pod Security Standards; null follows the cluster's.",
  examples: ["restricted"],
});

export const IsolationField = Type.Enum(ISOLATIONS, {
  description:
    "`namespace` lets in traffic from the project's own namespace and from the cluster's `ingress_namespaces` only; `none` lets in everything.",
  default: "namespace",
  examples: ["namespace"],
});

export const IngressNamespaces = Type.Array(DnsLabel("ingress-nginx"), {
  maxItems: 20,
  uniqueItems: true,
  description:
    "Namespaces whose pods reach those of isolated projects: ingress controllers, and whatever scrapes metrics.",
  examples: [["ingress-nginx"]],
});

export const ClusterWideChart = Type.Object(
  {
    repo: Type.String({
      minLength: 1,
      maxLength: 2000,
      pattern: "^(https?|oci)://[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?(:[0-9]{1,5})?(/[A-Za-z0-9._~/%+-]*)?$",
      description: "A Helm repository, or the OCI path that the chart's name is appended to.",
      examples: ["https://charts.example.com"],
    }),
    name: ChartName,
  },
  { ...strict, title: "ClusterWideChart" },
);
export type ClusterWideChart = Static<typeof ClusterWideChart>;

export const ClusterWideCharts = Type.Array(ClusterWideChart, {
  maxItems: 100,
  uniqueItems: true,
  description: "Charts that are installed with rights on the whole cluster instead of their project's alone.",
  examples: [[{ repo: "https://charts.example.com", name: "cert-manager" }]],
});

/** The policy as it is sent to the operator. */
export const DesiredPolicy = Type.Object({
  pod_security: Type.Enum(POD_SECURITY_LEVELS),
  isolation: Type.Enum(ISOLATIONS),
  ingress_namespaces: Type.Array(Type.String()),
  cluster_wide_charts: Type.Array(Type.Object({ repo: Type.String(), name: Type.String() })),
});
export type DesiredPolicy = Static<typeof DesiredPolicy>;

/** The policy of a new project. `kube-system` is where k3s runs its ingress controller. */
export const DEFAULT_POLICY = {
  pod_security: "baseline",
  isolation: "namespace",
  ingress_namespaces: ["ingress-nginx", "kube-system", "traefik"],
  cluster_wide_charts: [],
} as const satisfies DesiredPolicy;

const ADDRESS = /^([a-z]+:\/\/[^/]+)(.*)$/is;

/** A canonical key to compare charts by: the case of the host and a trailing slash do not matter. */
export function chartSourceKey({ repo, name }: ClusterWideChart): string {
  const [, host = "", path = repo] = ADDRESS.exec(repo) ?? [];
  let end = path.length;
  while (path.endsWith("/", end)) end -= 1;
  return `${host.toLowerCase()}${path.slice(0, end)} ${name}`;
}

import { POD_SECURITY_LEVELS } from "@binnacle/contract";
import {
  baseUrl,
  filled,
  hostWithPort,
  integer,
  LOG_LEVEL,
  list,
  oneOf,
  optional,
  required,
  setting,
  type Variable,
} from "@binnacle/process";
import { TRACES_ENDPOINT } from "@binnacle/tracing";
import { annotationName, clusterId, httpProxy, hubUrl, kubernetesName, roleName, token } from "./parsers.ts";

const SWITCH = ["on", "off"] as const;

/** Variables that may be shown and logged. */
export const SETTINGS = {
  hubUrl: required("BINNACLE_HUB_URL", hubUrl, "Where the hub listens, such as `wss://binnacle.example.com/hub/v1`"),
  hubProxy: optional(
    "BINNACLE_HUB_PROXY",
    httpProxy,
    "HTTP proxy that the connection to the hub goes through, such as `http://proxy.example.com:3128`; nothing else goes through it",
  ),
  clusterId: required("BINNACLE_CLUSTER_ID", clusterId, "The id that the control plane knows this cluster by"),
  kubeconfig: optional(
    "KUBECONFIG",
    filled,
    "File that says how to reach the cluster; without it the service account of the pod is used",
  ),
  namespace: setting(
    "BINNACLE_NAMESPACE",
    "binnacle-system",
    kubernetesName,
    "Namespace of the operator's own objects",
  ),
  tokenSecret: optional(
    "BINNACLE_TOKEN_SECRET",
    kubernetesName,
    "Secret of that namespace whose key `token` takes a renewed token; without it a renewed token lasts as long as the process",
  ),
  deployment: optional(
    "BINNACLE_DEPLOYMENT",
    kubernetesName,
    "Deployment of that namespace that the operator runs in and may give another image; without it, it is not upgraded from the control plane",
  ),
  pod: optional(
    "BINNACLE_POD",
    kubernetesName,
    "The operator's own pod, which needs not wait for its own Lease after a restart; needed with `BINNACLE_DEPLOYMENT`",
  ),
  helm: setting("BINNACLE_HELM", "helm", filled, "Path of the `helm` program"),
  helmSlots: setting(
    "BINNACLE_HELM_SLOTS",
    "2",
    integer(1, 32),
    "How many Helms run at once; the charts of one project get one fewer, so that they never keep out all others. Each takes up to 150 MB",
  ),
  appsAtOnce: setting(
    "BINNACLE_UPGRADE_APPS_AT_ONCE",
    "5",
    integer(1, 10_000),
    "How many apps are rolled out at once that this version of the operator renders with other pods than the one before; the others wait and run on",
  ),
  chartHosts: setting(
    "BINNACLE_CHART_HOSTS",
    "",
    list(hostWithPort),
    "Hosts of chart repositories that may have an address which is not public and may speak plain HTTP, comma-separated; `host` or `host:port`",
  ),
  serviceAccount: optional(
    "BINNACLE_SERVICE_ACCOUNT",
    kubernetesName,
    "Service account of that namespace that the operator works as; needed with `BINNACLE_PROJECTS_ROLE`",
  ),
  projectsRole: optional(
    "BINNACLE_PROJECTS_ROLE",
    roleName,
    "ClusterRole that the operator binds itself to in the namespace of each project; the operator's chart brings it. Without it the operator has the rights of whoever started it",
  ),
  podSecurityLimit: setting(
    "BINNACLE_POD_SECURITY_LIMIT",
    "privileged",
    oneOf(POD_SECURITY_LEVELS),
    "The highest level of Pod Security that a project may have on this cluster: `privileged`, `baseline` or `restricted`",
  ),
  exec: setting(
    "BINNACLE_EXEC",
    "on",
    oneOf(SWITCH),
    "`off` refuses commands in containers, whatever the control plane allows",
  ),
  infrastructure: setting(
    "BINNACLE_INFRASTRUCTURE",
    "on",
    oneOf(SWITCH),
    "`off` refuses to drain nodes and to remove load balancers and volumes, whatever the operator's rights are",
  ),
  chartsRole: setting(
    "BINNACLE_CHARTS_ROLE",
    "binnacle-charts",
    roleName,
    "ClusterRole that says what charts may do in the namespace of their project; the operator's chart brings it",
  ),
  ingressAnnotations: setting(
    "BINNACLE_INGRESS_ANNOTATIONS",
    "",
    list(annotationName),
    "Annotations that charts may use although an ingress controller may answer for other hosts because of them, comma-separated; aliases and snippets are refused otherwise",
  ),
  broadIngresses: setting(
    "BINNACLE_BROAD_INGRESSES",
    "off",
    oneOf(SWITCH),
    "`on` lets charts have Ingresses for all hosts and for wildcards, which some ingress controllers prefer to the hosts of other projects",
  ),
  clusterChartsAccount: optional(
    "BINNACLE_CLUSTER_CHARTS_ACCOUNT",
    kubernetesName,
    "Service account of the operator's namespace as which charts are installed that the control plane allows rights of the whole cluster; without it none are",
  ),
  prometheusUrl: optional(
    "BINNACLE_PROMETHEUS_URL",
    baseUrl,
    "Prometheus that metrics are read from; without it one is looked for in the cluster",
  ),
  healthPort: setting(
    "BINNACLE_HEALTH_PORT",
    "8081",
    integer(0, 65_535),
    "Port of `/healthz`, `/readyz` and `/metrics`; 0 opens none",
  ),
  logLevel: LOG_LEVEL,
  tracesEndpoint: TRACES_ENDPOINT,
};

/** Variables that must never appear in a message or a log. */
export const SECRETS = {
  token: required("BINNACLE_TOKEN", token, "Agent token of the cluster"),
};

/** Every variable that the operator reads; `docs/operations/operator.md` is held against this list by a test. */
export const VARIABLES: readonly Variable<unknown>[] = [...Object.values(SETTINGS), ...Object.values(SECRETS)];

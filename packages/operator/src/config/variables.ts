import {
  baseUrl,
  filled,
  hostWithPort,
  integer,
  LOG_LEVEL,
  list,
  optional,
  required,
  setting,
  type Variable,
} from "@binnacle/process";
import { TRACES_ENDPOINT } from "@binnacle/tracing";
import { annotationName, clusterId, hubUrl, kubernetesName, roleName, token } from "./parsers.ts";

/** Variables that may be shown and logged. */
export const SETTINGS = {
  hubUrl: required("BINNACLE_HUB_URL", hubUrl, "Where the hub listens, such as `wss://binnacle.example.com/hub/v1`"),
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
  helm: setting("BINNACLE_HELM", "helm", filled, "Path of the `helm` program"),
  chartHosts: setting(
    "BINNACLE_CHART_HOSTS",
    "",
    list(hostWithPort),
    "Hosts of chart repositories that may have an address which is not public and may speak plain HTTP, comma-separated; `host` or `host:port`",
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
    "Port of `/healthz` and `/readyz` for probes; 0 opens none",
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

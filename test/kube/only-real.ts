import { HELM } from "../../packages/operator/src/helm/helm-program.fixture.ts";

/** Tests of the operator that a simulated cluster cannot serve, each with what it lacks; all others run against both. */
export const FILES_ONLY_REAL: Readonly<Record<string, string>> = {
  "packages/operator/src/app/app-idle.kube.test.ts": "has an admission policy in CEL change what comes in",
  "packages/operator/src/app/pod-rejection.kube.test.ts":
    "has the API server refuse pods by Pod Security and by quotas, which the sandbox does not mind",
  "packages/operator/src/chart/chart.kube.test.ts":
    "installs the chart on a cluster of its own, with its access rights",
  "packages/operator/src/chart/confinement.kube.test.ts":
    "has an admission policy and access rights refuse what the operator's account must not do",
  "packages/operator/src/infrastructure/infrastructure.kube.test.ts":
    "has evictions refused by budgets, on a cluster of its own whose nodes take no more pods afterwards",
  "packages/operator/src/kube/informer.kube.test.ts": "kills and restarts an API server of its own",
  "packages/operator/src/telemetry/logs.kube.test.ts": "writes the lines of its pods through kwok's logs",
  "packages/operator/src/telemetry/prometheus.kube.test.ts": "asks the Prometheus program",
  "packages/operator/src/upgrade/self-upgrade.kube.test.ts":
    "installs the chart on a cluster of its own, with its access rights",
  "packages/sandbox/src/api/http/conformance.kube.test.ts": "holds the sandbox against a real API server",
  "test/charts/control-plane.kube.test.ts": "has the API server check every field, and pods by Pod Security",
  "test/journeys/console.kube.test.ts":
    "holds the console against a real API server; test/console/first-five-minutes.test.ts has it on the sandbox",
};

/** Beginnings of the names of single tests, in files that otherwise run against both. */
export const TESTS_ONLY_REAL: Readonly<Record<string, string>> = {
  "[JO1] the operator is installed by the printed command": "installs the chart on a cluster of its own",
  "[JO9] an app streams its logs through the hub": "writes the lines of its pods through kwok's logs",
  "[HE23] a chart is refused for an object outside its namespace": "has Helm ask for the schema of lists in Protobuf",
  "[HE45] a chart that the API server refuses halfway": "relies on Kubernetes to check who grants which rights",
  "[HE27] a chart cannot grant rights": "relies on Kubernetes to check who grants which rights",
  "[AO59] a volume whose storage class forbids": "has the API server refuse to enlarge a claim by its storage class",
  "[KU15] the lines of a pod are read and followed": "writes the lines of its pods through kwok's logs",
};

/** They run against the sandbox as well, where the program has been built. */
export const FILES_WITH_HELM: readonly string[] = [
  "packages/operator/src/addon/addon.kube.test.ts",
  "packages/operator/src/addon/addon-drift.kube.test.ts",
  "packages/operator/src/helm/private-chart.kube.test.ts",
  "packages/operator/src/addon/chart-rights.kube.test.ts",
  "packages/operator/src/telemetry/release-telemetry.kube.test.ts",
];

export const filesOnlyReal = (): string[] => [...Object.keys(FILES_ONLY_REAL), ...(HELM ? [] : FILES_WITH_HELM)];

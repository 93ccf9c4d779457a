import { type DesiredComponent, type PodSecurity, WORKLOAD_KINDS } from "@binnacle/contract";
import { rendered, standing, workload } from "./rendered.fixture.ts";
import type { Publisher, RenderedApp, Workload } from "./rendering.ts";

/** Apps whose rendering is kept for each release. Between them they have every kind of component and every field of a workload. */

const EVERYTHING: Workload = {
  command: ["run"],
  args: ["--verbose"],
  env: [
    { name: "LOG_LEVEL", value: "info" },
    { name: "PRICE", value: "$5 $(LOG_LEVEL)" },
    { name: "DB_PASSWORD", export_ref: { component: "db", key: "password" } },
  ],
  ports: [
    { name: "http", port: 8080 },
    { name: "8081", port: 8081, protocol: "TCP" },
    { name: "dns", port: 5353, protocol: "UDP" },
  ],
  resources: { requests: { cpu: "100m", memory: "64Mi" }, limits: { cpu: "500m", memory: "128Mi" } },
  probes: {
    liveness: { port: 8080, initial_delay_seconds: 3 },
    readiness: { path: "/healthz", port: 8080, period_seconds: 5, timeout_seconds: 2, failure_threshold: 2 },
    startup: { command: ["true"], period_seconds: 20 },
  },
  files: [
    { path: "/etc/app/config.yaml", content: "level: info\n" },
    { path: "/etc/app/key", secret: "API_KEY" },
  ],
  init_containers: [
    {
      name: "migrate",
      image: "app:1",
      command: ["migrate"],
      args: ["up"],
      env: [
        { name: "STEP", value: "1" },
        { name: "DB_HOST", export_ref: { component: "db", key: "host" } },
      ],
      resources: { requests: { cpu: "50m", memory: "32Mi" }, limits: { cpu: "1", memory: "64Mi" } },
    },
  ],
  sidecars: [
    {
      name: "proxy",
      image: "envoy:1",
      command: ["envoy"],
      args: ["--quiet"],
      env: [
        { name: "MODE", value: "" },
        { name: "DB_HOST", export_ref: { component: "db", key: "host" } },
      ],
      resources: { requests: { cpu: "10m", memory: "16Mi" }, limits: { cpu: "20m", memory: "32Mi" } },
    },
  ],
  labels: { team: "payments" },
  annotations: { "prometheus.io/scrape": "true" },
  node_selector: { disk: "fast" },
  tolerations: [
    { key: "spot", operator: "Exists" },
    { key: "dedicated", operator: "Equal", value: "batch", effect: "NoExecute", toleration_seconds: 60 },
  ],
  affinity: {
    node_affinity: {
      required: [{ key: "arch", operator: "In", values: ["arm64"] }],
      preferred: [
        { key: "zone", operator: "Exists", weight: 10 },
        { key: "cores", operator: "Gt", values: ["4"], weight: 5 },
      ],
    },
    pod_affinity: {
      required: [{ component: "db", topology_key: "zone" }],
      preferred: [{ component: "db", topology_key: "rack", weight: 20 }],
    },
    pod_anti_affinity: {
      required: [{}, { component: "db", topology_key: "zone" }],
      preferred: [{ weight: 30 }, { component: "db", topology_key: "zone", weight: 40 }],
    },
  },
  topology_spread: [{ topology_key: "zone", max_skew: 2, when_unsatisfiable: "DoNotSchedule" }],
  security_context: { run_as_user: 1000, run_as_non_root: true, read_only_root_filesystem: true },
  termination_grace_seconds: 45,
};

const VOLUMES: Workload["volumes"] = [
  { name: "data", mount_path: "/data", size_gb: 2, storage_class: "fast", access_mode: "ReadWriteOnce" },
  { name: "cache", mount_path: "/cache", size_gb: 1 },
];
const SHARED: Workload["volumes"] = [
  { name: "shared", mount_path: "/shared", size_gb: 1, access_mode: "ReadWriteMany" },
];

const INGRESS: Workload["ingress"] = { host: "shop.example.com", path: "/shop", port: 8080, tls: true, class: "nginx" };

/** What only some kinds have. */
const BEYOND: Readonly<Record<(typeof WORKLOAD_KINDS)[number], Workload>> = {
  deployment: { replicas: 3, autoscale: { min: 2, max: 4, cpu_percent: 70 }, volumes: SHARED, ingress: INGRESS },
  statefulset: { replicas: 3, volumes: VOLUMES },
  daemonset: {},
  job: { volumes: VOLUMES },
  cronjob: { schedule: "0 3 * * *", volumes: SHARED },
};

const needed = (kind: (typeof WORKLOAD_KINDS)[number]): Workload =>
  kind === "cronjob" ? { kind, schedule: "@daily" } : { kind };
const ofEveryKind = (spec: Workload): DesiredComponent[] =>
  WORKLOAD_KINDS.map((kind) => workload(kind, { ...needed(kind), ...spec }));

const EVERY_FIELD: DesiredComponent[] = [
  standing("db"),
  ...WORKLOAD_KINDS.map((kind) =>
    workload(
      kind,
      { kind, ...EVERYTHING, ...BEYOND[kind] },
      { exports: { path: "/v1" }, export_refs: [{ component: "db", key: "host", env: "DATABASE" }] },
    ),
  ),
];
const DATABASE: Publisher = {
  keys: ["host", "password"],
  exports: {
    host: { value: "db.market.svc" },
    password: { secret: { name: "db-addon-exports", key: "password" }, checksum: "0123456789abcdef" },
  },
};
const CONNECTED: DesiredComponent[] = [
  workload(
    "api",
    { ports: [{ name: "http", port: 80 }] },
    { exports: { dsn: `http://user:\${secret.PASSWORD}@\${host}:\${port}` } },
  ),
  workload("web", { volumes: VOLUMES }, { depends_on: ["api"], export_refs: [{ component: "api" }] }),
  {
    name: "search",
    type: "chart",
    release: { chart: { repo: "https://charts.example.com", name: "search" }, export_schema: {} },
  },
];

const TIMES = { initial_delay_seconds: 1, period_seconds: 5, timeout_seconds: 2, failure_threshold: 4 };
const probedBy = (probe: NonNullable<NonNullable<Workload["probes"]>["liveness"]>): Workload => ({
  ports: [{ name: "http", port: 80 }],
  probes: { liveness: probe, readiness: probe, startup: probe },
});
const PROBED: DesiredComponent[] = [
  workload("by-path", probedBy({ path: "/healthz", port: 80, ...TIMES })),
  workload("by-port", probedBy({ port: 80 })),
  workload("by-command", probedBy({ command: ["true"], ...TIMES })),
];

const secretsOf = (components: readonly DesiredComponent[]) =>
  Object.fromEntries(components.map(({ name }) => [name, { API_KEY: "key", PASSWORD: "password" }]));

interface KeptApp {
  readonly components: DesiredComponent[];
  readonly paused?: boolean;
  readonly podSecurity?: PodSecurity;
  readonly pullSecrets?: readonly string[];
  readonly secrets?: ReturnType<typeof secretsOf>;
}

/** By the name of the file. */
export const KEPT_APPS: Readonly<Record<string, KeptApp>> = {
  bare: { components: ofEveryKind({}) },
  "every-field": { components: EVERY_FIELD, pullSecrets: ["registry"], secrets: secretsOf(EVERY_FIELD) },
  restricted: {
    components: ofEveryKind({ sidecars: [{ name: "proxy", image: "envoy:1" }] }),
    podSecurity: "restricted",
  },
  paused: { components: ofEveryKind({ ports: [{ name: "http", port: 80 }] }), paused: true },
  probed: { components: PROBED },
  connected: { components: CONNECTED, secrets: secretsOf(CONNECTED) },
};

export const keptRendering = (app: KeptApp): RenderedApp =>
  rendered(app.components, { ...app, instances: new Map([["db", DATABASE]]) });

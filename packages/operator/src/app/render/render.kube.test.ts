import { type DesiredComponent, LABELS, type PodSecurity } from "@binnacle/contract";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { clusterClient, freshNamespace } from "../../kube/cluster.fixture.ts";
import type { KubeClient, KubeObject } from "../../kube/kube-client.ts";
import { renderApp } from "./render-app.ts";
import { appSpec, CLUSTER, standing, templateIn, workload } from "./rendered.fixture.ts";
import { isInvalid, type Workload } from "./rendering.ts";

let client: KubeClient;
let namespace: Awaited<ReturnType<typeof freshNamespace>>;
beforeAll(async () => {
  client = await clusterClient();
  namespace = await freshNamespace(client);
});
afterAll(async () => {
  await namespace?.remove();
  await client?.close();
});

const EVERYTHING: Workload = {
  command: ["run"],
  args: ["--verbose"],
  replicas: 2,
  env: [
    { name: "LOG_LEVEL", value: "" },
    { name: "with.dots-and-dashes", value: "1" },
  ],
  ports: [
    { name: "8080", port: 8080 },
    { name: "a--b", port: 8081 },
    { name: "dns", port: 8080, protocol: "UDP" },
  ],
  volumes: [
    { name: "data", mount_path: "/data", size_gb: 1 },
    {
      name: "v".repeat(63),
      mount_path: "/more",
      size_gb: 1,
      storage_class: "fast.example.com",
      access_mode: "ReadWriteOncePod",
    },
  ],
  resources: { requests: { cpu: "500m", memory: "64Mi" }, limits: { cpu: "500m", memory: "1Gi" } },
  probes: {
    liveness: { port: 8080, initial_delay_seconds: 0 },
    readiness: { path: "/healthz", port: 8080, period_seconds: 5, timeout_seconds: 2, failure_threshold: 2 },
    startup: { command: ["true"], initial_delay_seconds: 1 },
  },
  files: [
    { path: "/etc/app/config.yaml", content: "log: info\n" },
    { path: "/data/.hidden", content: "" },
    { path: "/etc/key", secret: "API_KEY" },
    { path: "/etc/odd", secret: "odd.key" },
  ],
  init_containers: [
    { name: "migrate", image: "app:1", command: ["migrate"], args: ["up"], env: [{ name: "A", value: "" }] },
    { name: "warm", image: "app:1", resources: { requests: { cpu: "1" }, limits: { cpu: "1" } } },
  ],
  sidecars: [{ name: "proxy", image: "envoy:1", env: [{ name: "PRICE", value: "$5" }] }],
  labels: { team: "payments", "example.com/empty": "" },
  annotations: { "prometheus.io/scrape": "true", note: "" },
  security_context: { run_as_user: 1000, run_as_non_root: true, read_only_root_filesystem: true },
  termination_grace_seconds: 90,
  node_selector: { "kubernetes.io/os": "linux" },
  tolerations: [
    { key: "dedicated", value: "batch", effect: "NoSchedule" },
    { key: "empty", value: "" },
    { key: "spot", operator: "Exists", effect: "NoExecute", toleration_seconds: 0 },
  ],
  affinity: {
    node_affinity: {
      required: [
        { key: "disk", operator: "NotIn", values: ["spinning"] },
        { key: "cores", operator: "Gt", values: ["2"] },
      ],
      preferred: [{ weight: 5, key: "kubernetes.io/arch", operator: "Exists" }],
    },
    pod_affinity: { preferred: [{ weight: 9, component: "plain", topology_key: "topology.kubernetes.io/zone" }] },
    pod_anti_affinity: { required: [{}], preferred: [{ weight: 1, component: "bare" }] },
  },
  topology_spread: [
    { topology_key: "topology.kubernetes.io/zone" },
    { topology_key: "kubernetes.io/hostname", max_skew: 2, when_unsatisfiable: "DoNotSchedule" },
  ],
};
const SERVED = { ...EVERYTHING, ingress: { host: "*.example.com", path: "/v1", tls: true, class: "internal" } };
const { volumes: _volumes, replicas: _replicas, ...WITHOUT_VOLUMES } = EVERYTHING;
const REFS = [{ component: "db" }];
const autoscale = { min: 2, max: 4, cpu_percent: 80 };

const COMPONENTS: DesiredComponent[] = [
  standing("db"),
  workload("plain"),
  workload("rolling", { ports: [{ name: "http", port: 80 }], autoscale, ingress: { host: "shop.example.com" } }),
  workload("deployment", { ...SERVED, kind: "deployment" }, { export_refs: REFS }),
  workload(
    "stateful",
    { ...SERVED, kind: "statefulset", autoscale, ingress: { host: "b.example.com" } },
    { export_refs: REFS },
  ),
  workload("bare", { kind: "statefulset" }),
  workload(
    "daemon",
    { ...WITHOUT_VOLUMES, kind: "daemonset", ingress: { host: "c.example.com" } },
    { export_refs: REFS },
  ),
  workload("job", { ...EVERYTHING, kind: "job" }, { export_refs: REFS }),
  workload("cron", { ...EVERYTHING, kind: "cronjob", schedule: "@daily" }, { export_refs: REFS }),
];

interface Given {
  readonly name?: string;
  readonly paused?: boolean;
  readonly podSecurity?: PodSecurity;
}

function objectsOf(
  components: DesiredComponent[],
  { name = "shop", paused = false, podSecurity = "baseline" }: Given = {},
): readonly KubeObject[] {
  const secrets = Object.fromEntries(
    components.map((component) => [component.name, { API_KEY: "hunter2", "odd.key": "" }]),
  );
  const spec = appSpec(components, { namespace: namespace.name, name, paused });
  const exports = { host: { value: "db" }, password: { secret: { name: "db-addon-exports", key: "password" } } };
  const app = renderApp(
    { spec, secret: { secrets, values: {} } },
    {
      clusterId: CLUSTER,
      pullSecrets: ["ghcr-registry-project"],
      podSecurity,
      instances: new Map([["db", { keys: ["host", "password"], exports }]]),
      releases: new Map(),
    },
  );
  if (isInvalid(app)) throw new Error(app.message);
  return app.components.flatMap(({ objects }) => objects);
}

async function podsOf(component: string): Promise<readonly KubeObject[]> {
  const type = await client.resourceTypeOf("v1", "Pod");
  const labelSelector = `${LABELS.component}=${component}`;
  return (await client.list(type, { namespace: namespace.name, labelSelector })).items;
}

/** Whatever the one has, the other has too: beside it, only what the API server has added. */
function lostIn(desired: unknown, stored: unknown, path = ""): string[] {
  if (typeof desired !== "object" || desired === null) return Object.is(desired, stored) ? [] : [path];
  const kept = (stored ?? {}) as Record<string, unknown>;
  return Object.entries(desired).flatMap(([field, value]) => lostIn(value, kept[field], `${path}/${field}`));
}

const MERGE = { kind: "merge" } as const;

/** As its controller makes it: a StatefulSet adds the volumes of its claims. The account of a Job is not there. */
function completed(template: Record<string, unknown>): object {
  const { serviceAccountName: _, ...spec } = template;
  const [container] = spec["containers"] as [{ readonly volumeMounts?: readonly { readonly name: string }[] }];
  const volumes = (spec["volumes"] ?? []) as readonly { readonly name: string }[];
  const missing = (container.volumeMounts ?? []).filter(({ name }) => volumes.every((volume) => volume.name !== name));
  const claims = missing.map(({ name }) => ({ name, persistentVolumeClaim: { claimName: "claim" } }));
  return { ...spec, volumes: [...volumes, ...claims] };
}

describe("a real Kubernetes", () => {
  const apps = [{ paused: false }, { paused: true }, { name: "y".repeat(42), paused: false }];

  test.each(apps)("[RN2] a real API server accepts every rendered object and keeps every field: %o", async (app) => {
    const objects = objectsOf(COMPONENTS, app);
    const stored = await Promise.all(objects.map((object) => client.apply(object, { dryRun: true })));
    const lost = objects.flatMap((object, at) => lostIn(object, stored[at], `${object.kind}/${object.metadata.name}`));
    expect(lost).toEqual([]);
    expect(new Set(objects.map(({ kind }) => kind)).size).toBe(app.paused ? 11 : 13);
  });

  test.each(["baseline", "restricted"] as const)(
    "[AO40] a real API server accepts the pods of every component at the level %s",
    async (level) => {
      const { name: held, remove } = await freshNamespace(client);
      const labels = { "pod-security.kubernetes.io/enforce": level };
      await client.patch(await client.resourceTypeOf("v1", "Namespace"), held, null, { metadata: { labels } }, MERGE);
      const templates = objectsOf(COMPONENTS, { podSecurity: level }).flatMap((object) => templateIn(object) ?? []);
      expect(templates.length).toBeGreaterThan(COMPONENTS.length / 2);
      for (const [at, { spec }] of templates.entries()) {
        const metadata = { name: `pod-${at}`, namespace: held };
        await client.create({ apiVersion: "v1", kind: "Pod", metadata, spec: completed(spec) }, { dryRun: true });
      }
      await remove();
    },
  );

  test("[RN1] a real API server creates pods of the objects with the longest names", async () => {
    const stateful = workload("stateful10", { kind: "statefulset" });
    const job = workload("onlyonce10", { kind: "job" });
    const cron = workload("cronjobs10", { kind: "cronjob", schedule: "@daily" });
    const objects = objectsOf([stateful, job, cron], { name: "z".repeat(42) });
    for (const object of objects) await client.apply(object);
    for (const component of [stateful, job]) {
      await vi.waitFor(async () => expect(await podsOf(component.name)).toHaveLength(1), { timeout: 30_000 });
    }
  });

  test("[RN15] a real API server accepts a pause and its end for every rendered object", async () => {
    for (const app of [{ paused: false }, { paused: true }, { paused: false }]) {
      const objects = objectsOf(COMPONENTS, app).filter(({ kind }) => kind !== "HorizontalPodAutoscaler");
      for (const object of objects) await client.apply(object);
    }
  });
});

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { HELM } from "../../packages/operator/src/chart/helm.fixture.ts";
import { type ChartObject, named, podOf, rendered, SCENARIOS } from "./control-plane.fixture.ts";

const COMPONENTS = ["api", "hub", "worker"];
const labelsOf = (component: string) => ({
  "app.kubernetes.io/name": "binnacle",
  "app.kubernetes.io/instance": "binnacle",
  "app.kubernetes.io/component": component,
});

describe.skipIf(HELM === null)("the options of the control plane's chart", () => {
  let home: string;
  let full: readonly ChartObject[];
  let minimal: readonly ChartObject[];
  beforeAll(async () => {
    home = mkdtempSync(join(tmpdir(), "binnacle-helm-"));
    [full, minimal] = [await rendered(home, "full-values.yaml"), await rendered(home, "minimal-values.yaml")];
  });
  afterAll(() => rmSync(home, { recursive: true, force: true }));

  const ofKind = (objects: readonly ChartObject[], kind: string) => objects.filter((object) => object.kind === kind);
  const podsIn = (objects: readonly ChartObject[]) => objects.flatMap((object) => podOf(object) ?? []);
  /** The variables of a pod that come from Secrets, as `secret/key`. */
  const secretsOf = (object: ChartObject) =>
    Object.fromEntries(
      (podOf(object)?.spec.containers[0]?.env ?? []).flatMap(({ name, valueFrom }) => {
        const { secretKeyRef: from } = (valueFrom ?? {}) as { secretKeyRef?: { name: string; key: string } };
        return from ? [[name, `${from.name}/${from.key}`]] : [];
      }),
    );

  test("[IS2325] the API scales by CPU and the hub by the sessions of a pod, which is a metric that Binnacle has", () => {
    const metricsOf = (name: string) =>
      named(full, "HorizontalPodAutoscaler", name).spec as unknown as { metrics: object[] };
    const cpu = { name: "cpu", target: { type: "Utilization", averageUtilization: 70 } };
    expect(metricsOf("binnacle-api").metrics).toEqual([{ type: "Resource", resource: cpu }]);
    const sessions = {
      metric: { name: "binnacle_hub_sessions" },
      target: { type: "AverageValue", averageValue: "2000" },
    };
    expect(metricsOf("binnacle-hub").metrics).toEqual([{ type: "Pods", pods: sessions }]);
    // An upgrade must not set a count back that the autoscaler has chosen.
    expect(ofKind(full, "Deployment").map(({ metadata, spec }) => [metadata.name, spec?.replicas])).toEqual([
      ["binnacle-api", undefined],
      ["binnacle-hub", undefined],
      ["binnacle-worker", 2],
    ]);
  });

  test("[IS2326] a drain of nodes takes one pod of each component at a time, and pods are spread over zones and nodes", () => {
    for (const name of COMPONENTS) {
      const selector = { matchLabels: labelsOf(name) };
      const budget = named(minimal, "PodDisruptionBudget", `binnacle-${name}`);
      expect(budget.spec).toEqual({ maxUnavailable: 1, selector });
      const pod = podOf(named(minimal, "Deployment", `binnacle-${name}`));
      expect(pod?.metadata.labels).toMatchObject(labelsOf(name));
      const keys = ["topology.kubernetes.io/zone", "kubernetes.io/hostname"];
      expect(pod?.spec).toMatchObject({
        topologySpreadConstraints: keys.map((topologyKey) => ({ topologyKey, labelSelector: selector })),
      });
    }
  });

  test("[IS2326] a single pod has no budget, which would hold up every drain", async () => {
    expect(ofKind(await rendered(home, "single-values.yaml"), "PodDisruptionBudget")).toEqual([]);
  });

  test("[IS2327] every secret can come from a Secret of one's own, and the chart then makes none", () => {
    expect(ofKind(full, "Secret")).toEqual([]);
    const expected = {
      DATABASE_URL: "postgres-app/uri",
      REDIS_URL: "redis/url",
      BINNACLE_SECRET_KEY: "binnacle-keys/BINNACLE_SECRET_KEY",
      BINNACLE_VAULT_KEYS: "binnacle-keys/BINNACLE_VAULT_KEYS",
      BINNACLE_ADMIN_PASSWORD: "binnacle-admin/password",
    };
    const withPods = full.filter(podOf);
    expect(withPods).toHaveLength(COMPONENTS.length + 1);
    for (const object of withPods)
      expect([object.metadata.name, secretsOf(object)]).toEqual([object.metadata.name, expected]);
  });

  test("[IS2327] what is given as a value is in a Secret of the release, and in no other object", async () => {
    const objects = await rendered(home, "single-values.yaml");
    const holding = objects.filter((object) => JSON.stringify(object).includes("postgres.example.com"));
    expect(holding).toEqual([]);
    const { data } = named(objects, "Secret", "binnacle-database") as ChartObject & { data: { uri: string } };
    expect(Buffer.from(data.uri, "base64").toString()).toBe(
      "postgres://binnacle:secret@postgres.example.com:5432/binnacle",
    );
    expect(secretsOf(named(objects, "Deployment", "binnacle"))).toMatchObject({
      DATABASE_URL: "binnacle-database/uri",
    });
  });

  /** The Services that a way in leads to, by path, in the order in which they are tried. */
  const waysOf = (objects: readonly ChartObject[]) => {
    const [ingress] = ofKind(objects, "Ingress") as unknown as {
      spec: { rules: { host: string; http: { paths: { path: string; backend: { service: { name: string } } }[] } }[] };
    }[];
    const [route] = ofKind(objects, "HTTPRoute") as unknown as {
      spec: {
        hostnames: string[];
        rules: { matches: { path: { value: string } }[]; backendRefs: { name: string; port: number }[] }[];
      };
    }[];
    return {
      ingress: ingress?.spec.rules.map(({ host, http }) => [
        host,
        ...http.paths.map(({ path, backend }) => [path, backend.service.name]),
      ]),
      route: [
        route?.spec.hostnames,
        ...(route?.spec.rules ?? []).map(({ matches, backendRefs }) => [matches[0]?.path.value, backendRefs[0]?.name]),
      ],
    };
  };

  test.each([
    ["separate", "binnacle-hub", "binnacle-api"],
    ["single", "binnacle", "binnacle"],
  ])(
    "[IS2328] with mode %s an Ingress and a route of the Gateway API lead operators to %s and all others to %s",
    async (mode, hub, api) => {
      const objects = await rendered(home, "full-values.yaml", [`mode=${mode}`]);
      const paths = [
        ["/hub/v1", hub],
        ["/", api],
      ];
      expect(waysOf(objects)).toEqual({
        ingress: [["binnacle.example.com", ...paths]],
        route: [["binnacle.example.com"], ...paths],
      });
      for (const name of [hub, api]) {
        const { spec } = named(objects, "Service", name) as unknown as { spec: { selector: object; ports: object[] } };
        const chosen = ofKind(objects, "Deployment").filter(({ spec: of }) => {
          const labels = of?.template?.metadata.labels ?? {};
          return Object.entries(spec.selector).every(([label, value]) => labels[label] === value);
        });
        expect(chosen.map(({ metadata }) => metadata.name)).toEqual([name]);
        expect(spec.ports).toEqual([{ name: "http", port: 80, targetPort: "http" }]);
      }
    },
  );

  test("[IS2329] Prometheus finds the metrics of every pod, and a policy lets it and no one else read them", () => {
    const { spec } = named(full, "ServiceMonitor", "binnacle") as unknown as {
      spec: { selector: { matchLabels: Record<string, string> }; endpoints: { port: string }[] };
    };
    const found = ofKind(full, "Service").filter(({ metadata }) =>
      Object.entries(spec.selector.matchLabels).every(([label, value]) => metadata.labels?.[label] === value),
    ) as unknown as { spec: { selector: object; ports: { name: string; targetPort: string }[] } }[];
    expect(found.map((service) => service.spec.ports.map(({ name }) => name))).toEqual([
      spec.endpoints.map(({ port }) => port),
    ]);
    for (const { metadata, spec: pod } of podsIn(ofKind(full, "Deployment"))) {
      expect(metadata.labels).toMatchObject(found[0]?.spec.selector ?? {});
      expect(pod.containers[0]).toMatchObject({
        ports: [{ name: "http" }, { name: found[0]?.spec.ports[0]?.targetPort, containerPort: 9090 }],
      });
    }
    const monitoring = { namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": "monitoring" } } };
    expect(named(full, "NetworkPolicy", "binnacle").spec).toMatchObject({
      policyTypes: ["Ingress"],
      ingress: [{ ports: [{ port: "http" }] }, { ports: [{ port: "metrics" }], from: [monitoring] }],
    });
  });

  test("[IS2330] pods get what a company adds, and all of them the secrets of its registry", () => {
    expect(named(full, "ConfigMap", "binnacle-extra").kind).toBe("ConfigMap");
    expect(podOf(named(full, "Deployment", "binnacle-worker"))?.spec).toMatchObject({
      containers: [
        {
          env: expect.arrayContaining([{ name: "BINNACLE_TOFU", value: "/tools/tofu" }]),
          volumeMounts: expect.arrayContaining([{ name: "tools", mountPath: "/tools" }]),
        },
      ],
      volumes: expect.arrayContaining([{ name: "tools", emptyDir: {} }]),
    });
    expect(podOf(named(full, "Deployment", "binnacle-hub"))?.spec).toMatchObject({
      tolerations: [{ key: "hubs", operator: "Exists" }],
    });
    for (const { spec } of podsIn(full)) expect(spec).toMatchObject({ imagePullSecrets: [{ name: "registry" }] });
  });

  test.each(SCENARIOS)(
    "[IS2331] with %s no hook migrates, and the startup probe waits an hour for a migration",
    async (scenario) => {
      const objects = await rendered(home, scenario);
      expect(objects.filter((object) => JSON.stringify(object.metadata).includes("helm.sh/hook"))).toEqual([]);
      for (const { spec } of podsIn(ofKind(objects, "Deployment"))) {
        const probe = (path: string) => ({ httpGet: { path, port: "http" } });
        expect(spec.containers[0]).toMatchObject({
          startupProbe: { ...probe("/startupz"), periodSeconds: 2, failureThreshold: 1_800 },
          livenessProbe: probe("/livez"),
          readinessProbe: probe("/readyz"),
        });
      }
    },
  );
});

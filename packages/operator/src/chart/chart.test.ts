import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AddonBody, AppBody, ProjectBody } from "@binnacle/contract";
import { load } from "js-yaml";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { VARIABLES } from "../config/variables.ts";
import { readDefinitions } from "../desired/definitions.fixture.ts";
import { HARMLESS_NAMES, UNLISTED_NAMES } from "../hosts/route-hosts.fixture.ts";
import { CLUSTER_EVENTS_NAMESPACE } from "../reconcile/transition-event.ts";
import { LEASE_NAMESPACE, leaseNameOf } from "../upgrade/leadership.runner.ts";
import { CHART, CLUSTER_ID, HELM, type HelmObject, helmIn, objectsIn, TOKEN, withValues } from "./helm.fixture.ts";
import {
  CHARTS_ROLE,
  NEEDED,
  NEEDED_AT_HOME,
  NEEDED_FOR_INFRASTRUCTURE,
  NEEDED_IN_PROJECTS,
  PROJECTS_ROLE,
  rightsIn,
  rightsOfRules,
} from "./rights.fixture.ts";

const fileOf = (name: string) => readFileSync(join(CHART, name), "utf8");

/** A custom resource definition, as far as it is looked into here. */
interface Definition {
  readonly names: { readonly kind: "Project" | "App" | "AddonInstance" };
  readonly versions: readonly {
    readonly subresources: unknown;
    readonly schema: { readonly openAPIV3Schema: { readonly properties: { readonly spec: DefinedSpec } } };
  }[];
}
interface DefinedSpec {
  readonly properties: object;
  readonly required: readonly string[];
}

test("[OC7] the custom resource definitions know the fields that the hub sends, and keep unknown fields", async () => {
  const bodies = { Project: ProjectBody, App: AppBody, AddonInstance: AddonBody };
  const definitions = (await readDefinitions()).map(({ spec }) => spec as Definition);
  expect(definitions).toHaveLength(3);
  for (const { names, versions } of definitions) {
    expect(versions).toMatchObject([{ subresources: { status: {} } }]);
    const spec = versions[0]?.schema.openAPIV3Schema.properties.spec;
    const { properties, required } = bodies[names.kind].properties.spec;
    expect(Object.keys(spec?.properties ?? {}).sort()).toEqual(Object.keys(properties).sort());
    expect(required).toEqual(expect.arrayContaining([...(spec?.required ?? [])]));
    expect(spec).toMatchObject({ "x-kubernetes-preserve-unknown-fields": true, "x-kubernetes-map-type": "atomic" });
  }
});

test("[OC26] the definitions know conditions as Kubernetes has them, and show whether a resource is ready, and why", async () => {
  for (const { spec } of await readDefinitions()) {
    const [version] = (spec as { versions: { additionalPrinterColumns: object[]; schema: object }[] }).versions;
    expect(version?.additionalPrinterColumns.slice(0, 3)).toEqual([
      { name: "Ready", type: "string", jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
      { name: "Phase", type: "string", jsonPath: ".status.phase" },
      { name: "Reason", type: "string", jsonPath: ".status.reason" },
    ]);
    const required = ["type", "status", "reason", "message", "lastTransitionTime"];
    expect(version?.schema).toHaveProperty("openAPIV3Schema.properties.status.properties.conditions.items", {
      type: "object",
      required,
      properties: expect.objectContaining({ status: { type: "string", enum: ["True", "False", "Unknown"] } }),
    });
  }
});

test("[OC23] the policy on hosts knows the annotations that the operator refuses in charts", () => {
  const [, pattern = ""] = /define "operator.hostAnnotations" -}}\n(.+)\n/.exec(fileOf("templates/_names.tpl")) ?? [];
  const isKnown = (name: string) => new RegExp(pattern).test(name);
  expect([...UNLISTED_NAMES, ...HARMLESS_NAMES].filter(isKnown)).toEqual(UNLISTED_NAMES);
});

describe("the values", () => {
  const leaves = (value: unknown, path: string): string[] => {
    const fields = typeof value === "object" && value !== null && !Array.isArray(value) ? Object.entries(value) : [];
    const isFree = ["resources", "nodeSelector", "affinity"].includes(path);
    return fields.length === 0 || isFree
      ? [path]
      : fields.flatMap(([name, inner]) => leaves(inner, path ? `${path}.${name}` : name));
  };

  test("[OC8] the chart's README lists all values of the chart, and nothing else", () => {
    const rows = fileOf("README.md")
      .split("\n")
      .filter((line) => line.startsWith("| `") && !/^\| `binnacle/.test(line));
    const named = rows.flatMap((row) => [...(row.split("|")[1] ?? "").matchAll(/`([^`]+)`/g)].map(([, name]) => name));
    expect(named.sort()).toEqual(leaves(load(fileOf("values.yaml")), "").sort());
  });
});

describe.skipIf(HELM === null)("what Helm makes of the chart", () => {
  let home: string;
  let helm: ReturnType<typeof helmIn>;
  beforeAll(() => {
    home = mkdtempSync(join(tmpdir(), "binnacle-helm-"));
    helm = helmIn(home);
  });
  afterAll(() => rmSync(home, { recursive: true, force: true }));

  const rendered = async (values: Record<string, string> = {}) =>
    objectsIn(await helm("template", "op", CHART, "--namespace", "binnacle-system", ...withValues(values)));
  const only = (objects: readonly HelmObject[], kind: string) => objects.filter((object) => object.kind === kind);
  const pod = async (values?: Record<string, string>) => {
    const template = only(await rendered(values), "Deployment")[0]?.spec?.template;
    if (!template) throw new Error("the chart has no Deployment");
    return template;
  };
  const envOf = async (values?: Record<string, string>) => (await pod(values)).spec.containers[0]?.env ?? [];

  test("[OC1] helm lint has nothing to complain about in the chart", async () => {
    expect(await helm("lint", "--strict", CHART, ...withValues())).toContain("0 chart(s) failed");
  });

  const REFUSED = [
    ["an unknown value", { "rbak.create": "true" }, /rbak/],
    ["an unknown value deeper down", { "rbac.creat": "true" }, /creat/],
    ["no token", { "cluster.token": "" }, /token/],
    ["two tokens", { "cluster.existingSecret": "mine" }, /existingSecret/],
    ["an address with a password", { "hub.url": "wss://ada:s3cret@example.com/hub/v1" }, /hub/],
    ["an address that is not a hub's", { "hub.url": "https://example.com" }, /hub/],
    ["a malformed id", { "cluster.id": "mine" }, /cluster/],
    ["the rights of earlier versions", { "rbac.addons": "cluster" }, /addons/],
    ["every kind for charts", { "rbac.chartRules[0].resources[0]": "*" }, /chartRules/],
    ["an account without a name", { "serviceAccount.create": "false" }, /serviceAccount/],
  ] as const;
  test.each(REFUSED)("[OC1] the chart refuses %s", async (_, values, named) => {
    const { "serviceAccount.create": create, ...texts } = values as Record<string, string>;
    const typed = create ? ["--set", `serviceAccount.create=${create}`] : [];
    await expect(helm("template", "op", CHART, ...withValues(texts), ...typed)).rejects.toThrow(named);
  });

  test("[OC2] the pod of the operator runs confined: not as root, with the default seccomp profile", async () => {
    const { spec } = await pod();
    expect(spec).toMatchObject({
      enableServiceLinks: false,
      securityContext: { runAsNonRoot: true, seccompProfile: { type: "RuntimeDefault" } },
      volumes: [{ name: "tmp", emptyDir: {} }],
    });
    const [container, ...others] = spec.containers;
    expect(others).toEqual([]);
    expect(container).toMatchObject({
      securityContext: {
        allowPrivilegeEscalation: false,
        privileged: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ["ALL"] },
      },
      volumeMounts: [{ name: "tmp", mountPath: "/tmp" }],
      livenessProbe: { httpGet: { path: "/healthz", port: "health" } },
      readinessProbe: { httpGet: { path: "/readyz", port: "health" } },
      ports: [{ name: "health", containerPort: 8081 }],
      resources: { requests: { memory: "128Mi" } },
    });
    const [deployment] = only(await rendered(), "Deployment");
    expect(deployment?.spec).toMatchObject({
      replicas: 1,
      strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } },
    });
  });

  test("[OC17] the pod runs on Linux nodes, and where `podIds` is 0 as whichever user the cluster assigns", async () => {
    const { spec } = await pod();
    expect(spec).toMatchObject({
      nodeSelector: { "kubernetes.io/os": "linux" },
      securityContext: { runAsUser: 65532, runAsGroup: 65532, fsGroup: 65532 },
    });
    const text = await helm(
      "template",
      "op",
      CHART,
      ...withValues({ "nodeSelector.disk": "ssd" }),
      "--set",
      "podIds=0",
    );
    const assigned = objectsIn(text).find(({ kind }) => kind === "Deployment")?.spec?.template.spec;
    expect(assigned).toMatchObject({ nodeSelector: { disk: "ssd", "kubernetes.io/os": "linux" } });
    expect(assigned).toHaveProperty("securityContext", {
      runAsNonRoot: true,
      seccompProfile: { type: "RuntimeDefault" },
    });
  });

  test("[OC18] `hub.proxy` reaches the operator, and takes no password", async () => {
    expect(await envOf({ "hub.proxy": "http://proxy:3128" })).toContainEqual({
      name: "BINNACLE_HUB_PROXY",
      value: "http://proxy:3128",
    });
    await expect(rendered({ "hub.proxy": "http://ada:s3cret@proxy:3128" })).rejects.toThrow(/proxy/);
  });

  test("[OC3] the custom resource definitions are part of the release and are kept when it is uninstalled", async () => {
    const definitions = only(await rendered(), "CustomResourceDefinition");
    expect(definitions.map(({ metadata }) => metadata.name).sort()).toEqual(
      (await readDefinitions()).map(({ metadata }) => metadata.name).sort(),
    );
    for (const { metadata } of definitions) expect(metadata.annotations).toEqual({ "helm.sh/resource-policy": "keep" });
    const without = await helm("template", "op", CHART, ...withValues(), "--set", "crds.install=false");
    expect(only(objectsIn(without), "CustomResourceDefinition")).toEqual([]);
  });

  test("[OC4] the token stands in a Secret and in no other object", async () => {
    const objects = await rendered();
    const stored = objects.filter((object) => JSON.stringify(object).includes(TOKEN));
    expect(stored.map(({ kind, metadata }) => [kind, metadata.name])).toEqual([["Secret", "op-token"]]);
    const env = await envOf();
    expect(env).toContainEqual({ name: "BINNACLE_TOKEN_SECRET", value: "op-token" });
  });

  test("[OC4] an existing Secret with the token is used instead of a new one", async () => {
    const values = { "cluster.token": "", "cluster.existingSecret": "mine" };
    expect(only(await rendered(values), "Secret")).toEqual([]);
    const env = await envOf(values);
    expect(env).toContainEqual({ name: "BINNACLE_TOKEN", valueFrom: { secretKeyRef: { name: "mine", key: "token" } } });
    expect(env).toContainEqual({ name: "BINNACLE_TOKEN_SECRET", value: "mine" });
  });

  test("[OC4] another token starts another pod of the operator", async () => {
    const sums = await Promise.all([pod(), pod(), pod({ "cluster.token": "another" })]);
    const [one, same, other] = sums.map((template) => template.metadata.annotations["checksum/token"]);
    expect(same).toBe(one);
    expect(other).not.toBe(one);
  });

  const roleNamed = async (name: string, typed: readonly string[] = []) => {
    const text = await helm(
      "template",
      "binnacle-operator",
      CHART,
      "--namespace",
      "binnacle-system",
      ...withValues(),
      ...typed,
    );
    return objectsIn(text).find(({ kind, metadata }) => /Role$/.test(kind) && metadata.name === name)?.rules;
  };

  test.each([
    ["in the whole cluster", "binnacle-system:binnacle-operator", NEEDED],
    ["in the namespaces of projects", PROJECTS_ROLE, NEEDED_IN_PROJECTS],
    ["in its own namespace", "binnacle-operator-own", NEEDED_AT_HOME],
  ])(
    "[OC5] the operator's role %s holds the rights that its code needs there, and nothing else",
    async (_, name, needed) => {
      expect(rightsOfRules(await roleNamed(name))).toEqual(rightsIn(needed));
    },
  );

  test("[OC5] nothing but the role for the whole cluster is bound to the operator in the whole cluster", async () => {
    const objects = await rendered();
    expect(only(objects, "ClusterRoleBinding").map(({ roleRef }) => roleRef?.name)).toEqual(["binnacle-system:op"]);
    const bound = only(objects, "RoleBinding").map(({ roleRef }) => roleRef?.name);
    expect(bound.sort()).toEqual(["binnacle-system:op:lease", "op-own", "op-self-upgrade"]);
  });

  test("[OC5] with an address of Prometheus the operator may ask no Service through the API server", async () => {
    const typed = ["--set", "prometheus.url=http://prometheus:9090"];
    const rights = rightsOfRules(await roleNamed("binnacle-system:binnacle-operator", typed));
    expect(rights).toEqual(rightsIn(NEEDED).filter((right) => right !== "get services/proxy"));
  });

  test("[OC11] without `rbac.exec` the operator may not run commands in containers, and has all other rights", async () => {
    const rights = rightsOfRules(await roleNamed(PROJECTS_ROLE, ["--set", "rbac.exec=false"]));
    expect(rights).toEqual(rightsIn(NEEDED_IN_PROJECTS).filter((right) => !right.includes("pods/exec")));
    const env = (await envOf()).filter(({ name }) => name === "BINNACLE_EXEC");
    expect(env).toEqual([{ name: "BINNACLE_EXEC", value: "on" }]);
  });

  test("[OC12] with `rbac.infrastructure` the operator may also clear nodes and remove volumes, and nothing more", async () => {
    const typed = ["--set", "rbac.infrastructure=true"];
    const rights = rightsOfRules(await roleNamed("binnacle-system:binnacle-operator", typed));
    expect(rights).toEqual(rightsIn([...NEEDED, ...NEEDED_FOR_INFRASTRUCTURE]));
  });

  test("[OC10] the role of charts covers objects of a namespace and holds no right that leads to more", async () => {
    const rights = rightsOfRules(await roleNamed(CHARTS_ROLE));
    expect(rights).toContain("patch deployments.apps");
    const words = rights.flatMap((right) => right.split(" "));
    for (const never of ["*", "impersonate", "bind", "escalate", "deletecollection", "namespaces", "nodes"]) {
      expect(words).not.toContain(never);
    }
    const kept =
      /exec|attach|portforward|token|proxy|resourcequotas|limitranges|binnacle|cluster|webhook|persistentvolumes$/;
    expect(rights.filter((right) => kept.test(right))).toEqual([]);
    expect(rights.filter((right) => right.endsWith("endpoints"))).toEqual([
      "get endpoints",
      "list endpoints",
      "watch endpoints",
    ]);
  });

  test("[OC10] `rbac.chartRules` allows charts further kinds of their namespace, but no impersonation", async () => {
    const rule = { apiGroups: ["cert-manager.io"], resources: ["certificates"], verbs: ["get", "create"] };
    const typed = ["--set-json", `rbac.chartRules=${JSON.stringify([rule])}`];
    expect(rightsOfRules(await roleNamed(CHARTS_ROLE, typed))).toContain("create certificates.cert-manager.io");
    const impersonating = JSON.stringify([{ apiGroups: [""], resources: ["users"], verbs: ["impersonate"] }]);
    const refused = helm("template", "op", CHART, ...withValues(), "--set-json", `rbac.chartRules=${impersonating}`);
    await expect(refused).rejects.toThrow(/chartRules/);
  });

  test("[OC6] nothing in the chart has cluster-wide rights for charts unless `rbac.clusterWideCharts` is set", async () => {
    const text = async (value: boolean) =>
      helm("template", "op", CHART, "--namespace", "ops", ...withValues(), "--set", `rbac.clusterWideCharts=${value}`);
    const without = objectsIn(await text(false));
    expect(only(without, "ClusterRoleBinding").map(({ roleRef }) => roleRef?.name)).toEqual(["ops:op"]);
    expect(JSON.stringify(without)).not.toContain("cluster-charts");
    const chosen = objectsIn(await text(true));
    const bindings = only(chosen, "ClusterRoleBinding");
    expect(bindings.map(({ roleRef }) => roleRef?.name).sort()).toEqual(["cluster-admin", "ops:op"]);
    const wide = bindings.find(({ roleRef }) => roleRef?.name === "cluster-admin");
    expect(wide).toMatchObject({ subjects: [{ name: "binnacle-cluster-charts", namespace: "ops" }] });
    const role = only(chosen, "Role").find(({ metadata }) => metadata.name === "binnacle-cluster-charts");
    expect(rightsOfRules(role?.rules)).toEqual(["impersonate serviceaccounts binnacle-cluster-charts"]);
    const env = chosen.find(({ kind }) => kind === "Deployment")?.spec?.template.spec.containers[0]?.env;
    expect(env).toContainEqual({ name: "BINNACLE_CLUSTER_CHARTS_ACCOUNT", value: "binnacle-cluster-charts" });
  });

  test("[OU30] the operator may change its own Deployment, and has neither the rights nor its name if the values forbid it", async () => {
    const role = only(await rendered(), "Role").find(({ metadata }) => metadata.name === "op-self-upgrade");
    expect(rightsOfRules(role?.rules)).toEqual(["get deployments.apps op", "patch deployments.apps op"]);
    expect((await envOf()).map(({ name }) => name)).toContain("BINNACLE_DEPLOYMENT");
    const forbidden = objectsIn(
      await helm("template", "op", CHART, ...withValues(), "--set", "selfUpgrade.enabled=false"),
    );
    expect(JSON.stringify(only(forbidden, "Deployment"))).not.toContain("BINNACLE_DEPLOYMENT");
    const roles = only(forbidden, "Role").map(({ metadata }) => metadata.name);
    expect(roles.sort()).toEqual(["default:op:lease", "op-own"]);
  });

  test("[OU40] [OC25] in the namespace that all operators share, the operator may hold the Lease of its cluster and make events", async () => {
    const role = only(await rendered(), "Role").find(({ metadata }) => metadata.name.endsWith(":lease"));
    expect(role?.metadata).toMatchObject({ namespace: LEASE_NAMESPACE });
    expect(CLUSTER_EVENTS_NAMESPACE).toBe(LEASE_NAMESPACE);
    const name = leaseNameOf(CLUSTER_ID);
    const rights = ["delete", "get", "patch"].map((verb) => `${verb} leases.coordination.k8s.io ${name}`);
    expect(rightsOfRules(role?.rules)).toEqual(["create events", "create leases.coordination.k8s.io", ...rights]);
  });

  test("[OC24] a second pod is wanted only if the values ask for it, and is then spread and protected from drains", async () => {
    const typed = async (...more: string[]) => objectsIn(await helm("template", "op", CHART, ...withValues(), ...more));
    const one = await typed();
    expect(only(one, "Deployment")[0]?.spec).toMatchObject({ replicas: 1 });
    expect(JSON.stringify(one)).not.toMatch(/PodDisruptionBudget|topologySpread/);
    const two = await typed("--set", "replicas=2");
    expect(only(two, "Deployment")[0]?.spec).toMatchObject({
      replicas: 2,
      strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } },
      template: { spec: { topologySpreadConstraints: [{ topologyKey: "kubernetes.io/hostname", maxSkew: 1 }] } },
    });
    expect(only(two, "PodDisruptionBudget")[0]?.spec).toMatchObject({ maxUnavailable: 1 });
    await expect(typed("--set", "replicas=3")).rejects.toThrow(/replicas/);
    expect(only(await typed("--set", "replicas=null"), "Deployment")[0]?.spec).toMatchObject({ replicas: 1 });
  });

  test("[OC6] values of earlier versions do not stop an upgrade that reuses them", async () => {
    const reused = ["--set", "rbac.addons=namespaced,limits=null", "--set-json", "rbac.extraRules=[]"];
    expect(objectsIn(await helm("template", "op", CHART, ...withValues(), ...reused)).length).toBeGreaterThan(5);
  });

  test("[OC13] the limit of Pod Security reaches the operator, and is `baseline` where the values have none", async () => {
    const limitOf = async (...typed: string[]) => {
      const text = await helm("template", "op", CHART, ...withValues(), ...typed);
      const env = objectsIn(text).find(({ kind }) => kind === "Deployment")?.spec?.template.spec.containers[0]?.env;
      return (env ?? []).find(({ name }) => name === "BINNACLE_POD_SECURITY_LIMIT");
    };
    expect(await limitOf()).toMatchObject({ value: "baseline" });
    expect(await limitOf("--set", "limits=null")).toMatchObject({ value: "baseline" });
    expect(await limitOf("--set", "limits.podSecurity=restricted")).toMatchObject({ value: "restricted" });
    await expect(limitOf("--set", "limits.podSecurity=none")).rejects.toThrow(/podSecurity/);
  });

  test("[OC9] the chart sets only variables that the operator knows", async () => {
    const hosts = { "chartHosts[0]": "charts.internal", "chartHosts[1]": "10.0.0.7:5000" };
    const env = await envOf({ "prometheus.url": "http://prometheus:9090", ...hosts });
    expect(env).toContainEqual({ name: "BINNACLE_CHART_HOSTS", value: "charts.internal,10.0.0.7:5000" });
    const given = env.map(({ name }) => name).filter((name) => name.startsWith("BINNACLE_"));
    const known = VARIABLES.map(({ name }) => name);
    expect(known).toEqual(expect.arrayContaining(given));
    expect(given).toEqual(expect.arrayContaining(["BINNACLE_HUB_URL", "BINNACLE_CLUSTER_ID", "BINNACLE_TOKEN"]));
  });

  test("[OC9] `extraEnv` adds further variables, but none of Binnacle's own", async () => {
    const collector = { name: "OTEL_EXPORTER_OTLP_ENDPOINT", value: "http://collector:4318" };
    expect(await envOf({ "extraEnv[0].name": collector.name, "extraEnv[0].value": collector.value })).toContainEqual(
      collector,
    );
    await expect(envOf({ "extraEnv[0].name": "BINNACLE_TOKEN", "extraEnv[0].value": "x" })).rejects.toThrow(/extraEnv/);
  });

  test("[OC2324] the operator trusts the authority in the ConfigMap that the chart is given, under whatever key it is", async () => {
    const name = "NODE_EXTRA_CA_CERTS";
    expect((await envOf()).map((variable) => variable.name)).not.toContain(name);
    const values = { "certificateAuthority.existingConfigMap": "company", "certificateAuthority.key": "root.pem" };
    const { spec } = await pod(values);
    expect(spec.containers[0]?.env).toContainEqual({ name, value: "/etc/binnacle/ca.crt" });
    expect(spec).toMatchObject({
      containers: [{ volumeMounts: expect.arrayContaining([expect.objectContaining({ mountPath: "/etc/binnacle" })]) }],
      volumes: expect.arrayContaining([
        {
          name: "certificate-authority",
          configMap: { name: "company", items: [{ key: "root.pem", path: "ca.crt" }] },
        },
      ]),
    });
  });

  const volumesOf = async (volumes: readonly object[], mounts: readonly object[]) => {
    const typed = ["--set-json", `extraVolumes=${JSON.stringify(volumes)}`];
    const mounted = ["--set-json", `extraVolumeMounts=${JSON.stringify(mounts)}`];
    const text = await helm("template", "op", CHART, ...withValues(), ...typed, ...mounted);
    return only(objectsIn(text), "Deployment")[0]?.spec?.template.spec;
  };

  test("[OC3105] `extraVolumes` are volumes of the pod beside the chart's own, mounted where `extraVolumeMounts` says", async () => {
    const volume = { name: "bundle", configMap: { name: "company" } };
    const mount = { name: "bundle", mountPath: "/etc/bundle", readOnly: true };
    expect(await volumesOf([volume], [mount])).toMatchObject({
      volumes: expect.arrayContaining([volume, expect.objectContaining({ name: "tmp" })]),
      containers: [{ volumeMounts: expect.arrayContaining([mount, { name: "tmp", mountPath: "/tmp" }]) }],
    });
  });

  test.each<[string, object, object]>([
    ["a folder of the host", { name: "host", hostPath: { path: "/" } }, { name: "host", mountPath: "/host" }],
    ["the name of one of the chart's own", { name: "tmp", emptyDir: {} }, { name: "tmp", mountPath: "/other" }],
    ["the place of one of the chart's own", { name: "more", emptyDir: {} }, { name: "more", mountPath: "/tmp" }],
  ])("[OC3105] an extra volume is refused with %s", async (_, volume, mount) => {
    await expect(volumesOf([volume], [mount])).rejects.toThrow(/extraVolume/);
  });
});

import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AddonBody, AppBody, ProjectBody } from "@binnacle/contract";
import { load } from "js-yaml";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { VARIABLES } from "../config/variables.ts";
import { readDefinitions } from "../desired/definitions.fixture.ts";
import { HARMLESS_NAMES, UNLISTED_NAMES } from "../hosts/route-hosts.fixture.ts";
import { CHART, HELM, type HelmObject, helmIn, objectsIn, TOKEN, withValues } from "./helm.fixture.ts";
import { CHARTS_ROLE, NEEDED, NEEDED_FOR_INFRASTRUCTURE, rightsIn, rightsOfRules } from "./rights.fixture.ts";

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

test("[OC7] the definitions know what the control plane tells, and keep what they do not know", async () => {
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

  test("[OC8] are all in the README, with nothing else beside them", () => {
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

  test("[OC1] it has nothing to complain about", async () => {
    expect(await helm("lint", "--strict", CHART, ...withValues())).toContain("0 chart(s) failed");
  });

  const REFUSED = [
    ["an unknown value", { "rbak.create": "true" }, /rbak/],
    ["an unknown value deeper down", { "rbac.creat": "true" }, /creat/],
    ["no token", { "cluster.token": "" }, /token/],
    ["two tokens", { "cluster.existingSecret": "mine" }, /existingSecret/],
    ["an address with a password", { "hub.url": "wss://ada:s3cret@example.com/hub/v1" }, /hub/],
    ["an address that is none of a hub", { "hub.url": "https://example.com" }, /hub/],
    ["an id that is none", { "cluster.id": "mine" }, /cluster/],
    ["the rights of earlier versions", { "rbac.addons": "cluster" }, /addons/],
    ["every kind for charts", { "rbac.chartRules[0].resources[0]": "*" }, /chartRules/],
    ["an account without a name", { "serviceAccount.create": "false" }, /serviceAccount/],
  ] as const;
  test.each(REFUSED)("[OC1] it refuses %s", async (_, values, named) => {
    const { "serviceAccount.create": create, ...texts } = values as Record<string, string>;
    const typed = create ? ["--set", `serviceAccount.create=${create}`] : [];
    await expect(helm("template", "op", CHART, ...withValues(texts), ...typed)).rejects.toThrow(named);
  });

  test("[OC2] the pod is confined", async () => {
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
    expect(deployment?.spec).toMatchObject({ replicas: 1, strategy: { type: "Recreate" } });
  });

  test("[OC3] the definitions are part of the release and stay", async () => {
    const definitions = only(await rendered(), "CustomResourceDefinition");
    expect(definitions.map(({ metadata }) => metadata.name).sort()).toEqual(
      (await readDefinitions()).map(({ metadata }) => metadata.name).sort(),
    );
    for (const { metadata } of definitions) expect(metadata.annotations).toEqual({ "helm.sh/resource-policy": "keep" });
    const without = await helm("template", "op", CHART, ...withValues(), "--set", "crds.install=false");
    expect(only(objectsIn(without), "CustomResourceDefinition")).toEqual([]);
  });

  test("[OC4] the token is in a Secret and nowhere else", async () => {
    const objects = await rendered();
    const stored = objects.filter((object) => JSON.stringify(object).includes(TOKEN));
    expect(stored.map(({ kind, metadata }) => [kind, metadata.name])).toEqual([["Secret", "op-token"]]);
    const env = await envOf();
    expect(env).toContainEqual({ name: "BINNACLE_TOKEN_SECRET", value: "op-token" });
  });

  test("[OC4] a Secret that is there already is used instead", async () => {
    const values = { "cluster.token": "", "cluster.existingSecret": "mine" };
    expect(only(await rendered(values), "Secret")).toEqual([]);
    const env = await envOf(values);
    expect(env).toContainEqual({ name: "BINNACLE_TOKEN", valueFrom: { secretKeyRef: { name: "mine", key: "token" } } });
    expect(env).toContainEqual({ name: "BINNACLE_TOKEN_SECRET", value: "mine" });
  });

  test("[OC4] another token starts another pod", async () => {
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
    return only(objectsIn(text), "ClusterRole").find(({ metadata }) => metadata.name === name)?.rules;
  };

  test("[OC5] the operator's role is what its code needs, and nothing else", async () => {
    expect(rightsOfRules(await roleNamed("binnacle-system:binnacle-operator"))).toEqual(rightsIn(NEEDED));
  });

  test("[OC11] without `rbac.exec` it may run no commands in containers, and has the rest", async () => {
    const rights = rightsOfRules(await roleNamed("binnacle-system:binnacle-operator", ["--set", "rbac.exec=false"]));
    expect(rights).toEqual(rightsIn(NEEDED).filter((right) => !right.includes("pods/exec")));
  });

  test("[OC12] with `rbac.infrastructure` it may clear nodes and remove volumes, and nothing else beyond", async () => {
    const typed = ["--set", "rbac.infrastructure=true"];
    const rights = rightsOfRules(await roleNamed("binnacle-system:binnacle-operator", typed));
    expect(rights).toEqual(rightsIn([...NEEDED, ...NEEDED_FOR_INFRASTRUCTURE]));
  });

  test("[OC10] the role of charts holds objects of a namespace and no way to more", async () => {
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

  test("[OC10] charts may be allowed further kinds of their namespace", async () => {
    const rule = { apiGroups: ["cert-manager.io"], resources: ["certificates"], verbs: ["get", "create"] };
    const typed = ["--set-json", `rbac.chartRules=${JSON.stringify([rule])}`];
    expect(rightsOfRules(await roleNamed(CHARTS_ROLE, typed))).toContain("create certificates.cert-manager.io");
    const impersonating = JSON.stringify([{ apiGroups: [""], resources: ["users"], verbs: ["impersonate"] }]);
    const refused = helm("template", "op", CHART, ...withValues(), "--set-json", `rbac.chartRules=${impersonating}`);
    await expect(refused).rejects.toThrow(/chartRules/);
  });

  test("[OC6] nothing in it has rights of the whole cluster unless that is chosen", async () => {
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
    const [role] = only(chosen, "Role");
    expect(rightsOfRules(role?.rules)).toEqual(["impersonate serviceaccounts binnacle-cluster-charts"]);
    const env = chosen.find(({ kind }) => kind === "Deployment")?.spec?.template.spec.containers[0]?.env;
    expect(env).toContainEqual({ name: "BINNACLE_CLUSTER_CHARTS_ACCOUNT", value: "binnacle-cluster-charts" });
  });

  test("[OC6] values of earlier versions do not stop an upgrade that reuses them", async () => {
    const reused = ["--set", "rbac.addons=namespaced", "--set-json", "rbac.extraRules=[]"];
    expect(objectsIn(await helm("template", "op", CHART, ...withValues(), ...reused)).length).toBeGreaterThan(5);
  });

  test("[OC9] the pod's variables are those of the operator", async () => {
    const hosts = { "chartHosts[0]": "charts.internal", "chartHosts[1]": "10.0.0.7:5000" };
    const env = await envOf({ "prometheus.url": "http://prometheus:9090", ...hosts });
    expect(env).toContainEqual({ name: "BINNACLE_CHART_HOSTS", value: "charts.internal,10.0.0.7:5000" });
    const given = env.map(({ name }) => name).filter((name) => name.startsWith("BINNACLE_"));
    const known = VARIABLES.map(({ name }) => name);
    expect(known).toEqual(expect.arrayContaining(given));
    expect(given).toEqual(expect.arrayContaining(["BINNACLE_HUB_URL", "BINNACLE_CLUSTER_ID", "BINNACLE_TOKEN"]));
  });

  test("[OC9] further variables are added, but none of Binnacle's own", async () => {
    const collector = { name: "OTEL_EXPORTER_OTLP_ENDPOINT", value: "http://collector:4318" };
    expect(await envOf({ "extraEnv[0].name": collector.name, "extraEnv[0].value": collector.value })).toContainEqual(
      collector,
    );
    await expect(envOf({ "extraEnv[0].name": "BINNACLE_TOKEN", "extraEnv[0].value": "x" })).rejects.toThrow(/extraEnv/);
  });
});

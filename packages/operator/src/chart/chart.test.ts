import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AddonBody, AppBody, ProjectBody } from "@binnacle/contract";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { VARIABLES } from "../config/variables.ts";
import { readDefinitions } from "../desired/definitions.fixture.ts";
import { CHART, HELM, type HelmObject, helmIn, objectsIn, TOKEN, withValues } from "./helm.fixture.ts";

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
    expect(named.sort()).toEqual(leaves(parse(fileOf("values.yaml")), "").sort());
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
    ["a level that there is not", { "rbac.addons": "true" }, /addons/],
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
    const holding = objects.filter((object) => JSON.stringify(object).includes(TOKEN));
    expect(holding.map(({ kind, metadata }) => [kind, metadata.name])).toEqual([["Secret", "op-token"]]);
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

  test("[OC6] the level of addons decides about roles", async () => {
    const bindings = async (addons: string) =>
      only(await rendered({ "rbac.addons": addons }), "ClusterRoleBinding").map(({ roleRef }) => roleRef?.name);
    expect(await bindings("none")).toEqual(["binnacle-system:op"]);
    expect(await bindings("namespaced")).toEqual(["binnacle-system:op"]);
    expect(await bindings("cluster")).toEqual(["binnacle-system:op", "cluster-admin"]);
    for (const addons of ["none", "namespaced", "cluster"]) {
      const [role] = only(await rendered({ "rbac.addons": addons }), "ClusterRole");
      expect(JSON.stringify(role?.rules)).not.toContain("*");
    }
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
});

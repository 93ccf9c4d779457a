import { OPERATOR_FRAMES } from "@binnacle/contract";
import { Check } from "typebox/value";
import { describe, expect, test } from "vitest";
import type { KubeObject } from "../kube/kube-client.ts";
import { namespacesOf, sampleOf } from "./samples.ts";

const capacity = { cpu_cores: 4, memory_bytes: 8e9, pods: 110 };
const atMs = Date.parse("2026-01-31T09:30:00.000Z");
const rest = { otherPods: [], releases: [], capacity, atMs };

const nodeMetrics = (cpu: string, memory: string): KubeObject => ({
  apiVersion: "metrics.k8s.io/v1beta1",
  kind: "NodeMetrics",
  metadata: { name: "n" },
  usage: { cpu, memory },
});
const podMetrics = (labels: Record<string, string>, ...usages: [string, string][]): KubeObject => ({
  apiVersion: "metrics.k8s.io/v1beta1",
  kind: "PodMetrics",
  metadata: { name: "p", namespace: "shop-ns", labels },
  containers: usages.map(([cpu, memory], index) => ({ name: `c${index}`, usage: { cpu, memory } })),
});
const labels = (component: string) => ({ "binnacle.dev/app": "shop", "binnacle.dev/component": component });

test("[TE30] a sample adds up nodes, and the containers of each component", () => {
  const sample = sampleOf({
    nodes: [nodeMetrics("250m", "1Gi"), nodeMetrics("1000351n", "512Mi")],
    pods: [
      podMetrics(labels("web"), ["100m", "64Mi"], ["200m", "1Mi"]),
      podMetrics(labels("web"), ["7n", "1Ki"]),
      podMetrics(labels("db"), ["1", "2Gi"]),
    ],
    ...rest,
  });
  const where = { namespace: "shop-ns", app: "shop" };
  expect(sample).toEqual({
    at: "2026-01-31T09:30:00.000Z",
    used: { cpu_cores: 0.251, memory_bytes: 1.5 * 2 ** 30 },
    capacity: { cpu_cores: 4, memory_bytes: 8e9 },
    components: [
      { ...where, component: "db", cpu_cores: 1, memory_bytes: 2 ** 31 },
      { ...where, component: "web", cpu_cores: 0.3, memory_bytes: 65 * 2 ** 20 + 1024 },
    ],
  });
  expect(Check(OPERATOR_FRAMES.samples, { type: "samples", session: crypto.randomUUID(), ...sample })).toBe(true);
});

test("[TE31] a pod that names no component is not counted, and invalid amounts count as zero", () => {
  const pods = [podMetrics({ "binnacle.dev/app": "shop" }, ["1", "1"]), podMetrics(labels("web"), ["-1", "odd"])];
  const { components } = sampleOf({ nodes: [], pods, ...rest });
  expect(components).toEqual([{ namespace: "shop-ns", app: "shop", component: "web", cpu_cores: 0, memory_bytes: 0 }]);
});

test.each([
  ["without a metrics server", null],
  ["while it has measured no node", []],
])("[TE32] the used amounts of a sample are null %s", (_, nodes) => {
  const sample = sampleOf({ nodes, pods: [], ...rest });
  expect(sample).toMatchObject({ used: null, capacity: { cpu_cores: 4 }, components: [] });
});

test("[TE30] a sample fits a frame, whatever the cluster runs", () => {
  const pods = Array.from({ length: 6_000 }, (_, i) => podMetrics(labels(`c${i}`), ["1m", "1Ki"]));
  expect(sampleOf({ nodes: [], pods, ...rest }).components).toHaveLength(5_000);
});

describe("components that run as releases", () => {
  const release = (app: string, component: string, name: string, namespace = "shop-ns") => ({
    namespace,
    app,
    component,
    pods: { release: name, makers: [{ kind: "Pod", name: `${name}-pg`, selector: null }] },
  });
  const pod = (name: string, namespace = "shop-ns"): KubeObject => {
    const measured = podMetrics({}, ["1", "1Ki"]);
    return { ...measured, metadata: { name, namespace } };
  };

  test("[TE34] components that run as releases count by the pods of their release, for each component that uses it", () => {
    const otherPods = [pod("shop-db-pg"), pod("main-pg"), pod("stranger"), pod("shop-db-pg", "other-ns")];
    const releases = [release("shop", "db", "shop-db"), release("shop", "main", "main"), release("blog", "pg", "main")];
    const { components } = sampleOf({ nodes: [], pods: [], ...rest, otherPods, releases });
    const amounts = { cpu_cores: 1, memory_bytes: 1_024 };
    expect(components).toEqual([
      { namespace: "shop-ns", app: "blog", component: "pg", ...amounts },
      { namespace: "shop-ns", app: "shop", component: "db", ...amounts },
      { namespace: "shop-ns", app: "shop", component: "main", ...amounts },
    ]);
  });

  test("[TE34] pods of releases are read in their namespaces, or in the whole cluster where these are many", () => {
    const inNamespace = (count: number) =>
      namespacesOf(Array.from({ length: count }, (_, at) => release("shop", `c${at}`, "r", `n${at % 30}`)));
    expect(inNamespace(0)).toEqual([]);
    expect(inNamespace(2)).toEqual(["n0", "n1"]);
    expect(inNamespace(20)).toHaveLength(20);
    expect(inNamespace(60)).toEqual([undefined]);
  });
});

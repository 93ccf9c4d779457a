import { LABELS } from "@binnacle/contract";
import { describe, expect, test } from "vitest";
import { containerOf, idsOf, objectAt, objectsOf, podOf, problem, templateIn, workload } from "./rendered.fixture.ts";
import type { Workload } from "./rendering.ts";

const KINDS = ["deployment", "statefulset", "daemonset", "job", "cronjob"] as const;
const of = (spec: Workload) => objectsOf([workload("web", spec)]);
const workloadIn = (spec: Workload) => {
  const found = of(spec).find(templateIn);
  if (!found) throw new Error("Nothing makes pods.");
  return found;
};

describe("labels and annotations", () => {
  const spec: Workload = {
    labels: { team: "payments", [LABELS.app]: "another", "app.kubernetes.io/name": "another" },
    annotations: { note: "by hand", "binnacle.dev/configuration-checksum": "mine" },
    env: [{ name: "A", value: "1" }],
    ports: [{ name: "http", port: 80 }],
  };

  test.each(KINDS)("[RN30] labels and annotations of a workload are on the workload and its pods, for a %s", (kind) => {
    const object = workloadIn({ ...spec, kind, schedule: "@daily" });
    for (const { labels, annotations } of [object.metadata, templateIn(object)?.metadata ?? {}]) {
      expect(labels).toMatchObject({ team: "payments", [LABELS.app]: "shop", "app.kubernetes.io/name": "web" });
      expect(annotations).toMatchObject({ note: "by hand" });
    }
    expect(templateIn(object)?.metadata.annotations?.["binnacle.dev/configuration-checksum"]).toMatch(/^[0-9a-f]{64}$/);
  });

  test("[RN30] labels of a workload are neither on other objects nor in selectors, and an empty map adds none", () => {
    const objects = of(spec);
    for (const id of ["Service", "ConfigMap"]) expect(objectAt(objects, id).metadata.labels).not.toHaveProperty("team");
    expect(JSON.stringify([objectAt(objects, "Deployment")["spec"]])).not.toMatch(/matchLabels[^}]*team/);
    expect(workloadIn({ labels: {}, annotations: {} })).toEqual(workloadIn({}));
  });
});

describe("a security context", () => {
  test("[RN31] a security context is rendered on the container, and never loosens the level of the project", () => {
    const spec: Workload = { security_context: { run_as_user: 7, read_only_root_filesystem: true } };
    expect(containerOf(workload("web", spec))["securityContext"]).toEqual({
      runAsUser: 7,
      readOnlyRootFilesystem: true,
      allowPrivilegeEscalation: false,
    });
    expect(containerOf(workload("web", spec), { podSecurity: "restricted" })["securityContext"]).toMatchObject({
      runAsUser: 7,
      runAsNonRoot: true,
      capabilities: { drop: ["ALL"] },
    });
  });

  test.each([{ run_as_user: 0 }, { run_as_non_root: false }])(
    "[RN31] a security context that asks for root makes the app invalid where the level is restricted: %o",
    (security_context) => {
      const web = workload("web", { security_context });
      expect(problem([web], { podSecurity: "restricted" })).toMatchObject({
        invalid: "InvalidSecurityContext",
        message: expect.stringContaining(Object.keys(security_context)[0] ?? ""),
      });
      for (const podSecurity of ["baseline", "privileged"] as const) expect(problem([web], { podSecurity })).toBeNull();
    },
  );
});

test("[RN32] pods have the given grace period, and a deployment's progress deadline grows when it is long", () => {
  expect(podOf(workload("web", { termination_grace_seconds: 90 })).spec).toMatchObject({
    terminationGracePeriodSeconds: 90,
  });
  const deadline = (spec: Workload) => objectAt(of(spec), "Deployment")["spec"];
  expect(deadline({ termination_grace_seconds: 90 })).toHaveProperty("progressDeadlineSeconds", 660);
  expect(deadline({ termination_grace_seconds: 5 })).toHaveProperty("progressDeadlineSeconds", 600);
});

describe("where pods run", () => {
  test("[RN33] node selector, tolerations, affinity and spread are rendered as fields of the pod", () => {
    const spec: Workload = {
      node_selector: { "kubernetes.io/arch": "arm64" },
      tolerations: [
        { key: "dedicated", value: "batch", effect: "NoSchedule" },
        { key: "spot", operator: "Exists", effect: "NoExecute", toleration_seconds: 0 },
      ],
      affinity: {
        node_affinity: {
          required: [
            { key: "disk", operator: "In", values: ["ssd"] },
            { key: "gpu", operator: "DoesNotExist" },
          ],
          preferred: [{ weight: 5, key: "cores", operator: "Gt", values: ["8"] }],
        },
        pod_affinity: { preferred: [{ weight: 9, component: "cache", topology_key: "topology.kubernetes.io/zone" }] },
        pod_anti_affinity: { required: [{}] },
      },
      topology_spread: [{ topology_key: "topology.kubernetes.io/zone", when_unsatisfiable: "DoNotSchedule" }],
    };
    const own = { [LABELS.app]: "shop", [LABELS.component]: "web" };
    expect(podOf(workload("web", spec)).spec).toMatchObject({
      nodeSelector: { "kubernetes.io/arch": "arm64" },
      tolerations: [
        { key: "dedicated", operator: "Equal", value: "batch", effect: "NoSchedule" },
        { key: "spot", operator: "Exists", effect: "NoExecute", tolerationSeconds: 0 },
      ],
      affinity: {
        nodeAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: {
            nodeSelectorTerms: [
              {
                matchExpressions: [
                  { key: "disk", operator: "In", values: ["ssd"] },
                  { key: "gpu", operator: "DoesNotExist" },
                ],
              },
            ],
          },
          preferredDuringSchedulingIgnoredDuringExecution: [
            { weight: 5, preference: { matchExpressions: [{ key: "cores", operator: "Gt", values: ["8"] }] } },
          ],
        },
        podAffinity: {
          preferredDuringSchedulingIgnoredDuringExecution: [
            {
              weight: 9,
              podAffinityTerm: {
                topologyKey: "topology.kubernetes.io/zone",
                labelSelector: { matchLabels: { [LABELS.app]: "shop", [LABELS.component]: "cache" } },
              },
            },
          ],
        },
        podAntiAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: [
            { topologyKey: "kubernetes.io/hostname", labelSelector: { matchLabels: own } },
          ],
        },
      },
      topologySpreadConstraints: [
        {
          topologyKey: "topology.kubernetes.io/zone",
          maxSkew: 1,
          whenUnsatisfiable: "DoNotSchedule",
          labelSelector: { matchLabels: own },
        },
      ],
    });
  });

  test("[RN33] empty lists of selectors, tolerations, affinity and spread add nothing to the pod", () => {
    const empty: Workload = {
      node_selector: {},
      tolerations: [],
      affinity: { node_affinity: { required: [] }, pod_affinity: {}, pod_anti_affinity: { preferred: [] } },
      topology_spread: [],
    };
    expect(podOf(workload("web", empty))).toEqual(podOf(workload("web")));
  });
});

describe("a daemonset", () => {
  const spec: Workload = { kind: "daemonset", ports: [{ name: "http", port: 80 }], node_selector: { gpu: "yes" } };

  test("[RN34] a daemonset runs on every node that its pods may run on, and is replaced node by node", () => {
    const objects = of(spec);
    expect(idsOf(objects)).toEqual(["Service/shop-web", "DaemonSet/shop-web"]);
    expect(objectAt(objects, "DaemonSet")["spec"]).toMatchObject({
      selector: { matchLabels: { [LABELS.app]: "shop", [LABELS.component]: "web" } },
      updateStrategy: { type: "RollingUpdate", rollingUpdate: { maxUnavailable: 1 } },
      template: { spec: { nodeSelector: { gpu: "yes" } } },
    });
    expect(objectAt(objects, "DaemonSet")["spec"]).not.toHaveProperty("replicas");
  });

  test("[RN34] a daemonset of a paused app selects nodes that do not exist", () => {
    const [, paused] = objectsOf([workload("web", spec)], { paused: true });
    expect(templateIn(paused ?? { apiVersion: "", kind: "", metadata: { name: "" } })?.spec["nodeSelector"]).toEqual({
      gpu: "yes",
      "binnacle.dev/paused": "true",
    });
  });
});

describe("a disruption budget", () => {
  const has = (spec: Workload, around = {}) =>
    idsOf(objectsOf([workload("web", spec)], around)).includes("PodDisruptionBudget/shop-web");
  const autoscale = (min: number) => ({ min, max: 5, cpu_percent: 70 });

  test.each<[string, Workload, boolean]>([
    ["one replica", {}, false],
    ["two replicas", { replicas: 2 }, true],
    ["two replicas of a statefulset", { kind: "statefulset", replicas: 2 }, true],
    ["at least one by itself", { replicas: 3, autoscale: autoscale(1) }, false],
    ["at least two by itself", { replicas: 1, autoscale: autoscale(2) }, true],
    ["a daemonset", { kind: "daemonset", replicas: 1 }, false],
    ["a job", { kind: "job", replicas: 3 }, false],
    ["a cronjob", { kind: "cronjob", schedule: "@daily", replicas: 3 }, false],
  ])("[RN35] a disruption budget is rendered only for more than one replica: %s", (_, spec, expected) => {
    expect(has(spec)).toBe(expected);
    expect(has(spec, { paused: true })).toBe(false);
  });

  test("[RN35] a disruption budget lets one replica go at a time, and replicas that are not ready at any time", () => {
    expect(objectAt(of({ replicas: 2 }), "PodDisruptionBudget")["spec"]).toEqual({
      maxUnavailable: 1,
      unhealthyPodEvictionPolicy: "AlwaysAllow",
      selector: { matchLabels: { [LABELS.app]: "shop", [LABELS.component]: "web" } },
    });
  });
});

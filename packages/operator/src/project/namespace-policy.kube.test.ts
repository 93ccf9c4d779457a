import type { DesiredPolicy } from "@binnacle/contract";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { eventually, reported, startTestOperator, type TestOperator } from "../desired/cluster.fixture.ts";
import { applyProject } from "../desired/frames.fixture.ts";
import type { KubeObject } from "../kube/kube-client.ts";
import { NAMESPACES } from "../kube/resource-types.ts";
import { POLICY_TYPES } from "./namespace-policy.ts";

const SLOW_MS = 90_000;
let operator: TestOperator;
beforeAll(async () => {
  operator = await startTestOperator();
});
afterAll(() => operator?.stop());

let generation = 1;
async function tell(name: string, policy: Partial<DesiredPolicy>): Promise<void> {
  generation += 1;
  expect(await operator.store.apply(applyProject(name, { generation }, policy))).toBeNull();
}

async function fenced(base: string, policy: Partial<DesiredPolicy> = {}): Promise<string> {
  const name = operator.name(base);
  await tell(name, policy);
  await reported(operator, `project/${name}`, "ready");
  return name;
}

const typeOf = (kind: string) => {
  const type = POLICY_TYPES.find((one) => one.kind === kind);
  if (!type) throw new Error(`${kind} is not part of a fence`);
  return type;
};
const NAMES = {
  NetworkPolicy: "binnacle-isolation",
  ResourceQuota: "binnacle-quota",
  LimitRange: "binnacle-limits",
} as const;
type Kind = keyof typeof NAMES;
const get = (kind: Kind, namespace: string) => operator.kube.get(typeOf(kind), NAMES[kind], namespace);
const labelsOf = async (namespace: string) => (await operator.kube.get(NAMESPACES, namespace))?.metadata.labels ?? {};
const enforced = async (namespace: string) => (await labelsOf(namespace))["pod-security.kubernetes.io/enforce"];

describe.concurrent("the fence of a project", { timeout: SLOW_MS }, () => {
  test("[OD35] the namespace of a project holds pods to the level of the policy, whoever changes the labels", async () => {
    const name = await fenced("level");
    expect(await labelsOf(name)).toMatchObject({
      "pod-security.kubernetes.io/enforce": "baseline",
      "pod-security.kubernetes.io/enforce-version": "latest",
      "pod-security.kubernetes.io/warn": "restricted",
      "pod-security.kubernetes.io/audit": "restricted",
    });
    await tell(name, { pod_security: "restricted" });
    await eventually(async () => expect(await enforced(name)).toBe("restricted"));
    const weaker = {
      "pod-security.kubernetes.io/enforce": "privileged",
      "pod-security.kubernetes.io/enforce-version": "v1.20",
    };
    await operator.kube.patch(NAMESPACES, name, null, { metadata: { labels: weaker } }, { kind: "merge" });
    await eventually(async () =>
      expect(await labelsOf(name)).toMatchObject({
        "pod-security.kubernetes.io/enforce": "restricted",
        "pod-security.kubernetes.io/enforce-version": "latest",
      }),
    );
  });

  test("[OD36] [OD38] the namespace admits itself and the ingress controllers, unless the project opts out", async () => {
    const name = await fenced("isolated", { ingress_namespaces: ["edge"] });
    const from = [
      { podSelector: {} },
      {
        namespaceSelector: {
          matchExpressions: [{ key: "kubernetes.io/metadata.name", operator: "In", values: ["edge"] }],
        },
      },
    ];
    expect((await get("NetworkPolicy", name))?.["spec"]).toEqual({
      podSelector: {},
      policyTypes: ["Ingress"],
      ingress: [{ from }],
    });
    await tell(name, { isolation: "none" });
    await eventually(async () => expect(await get("NetworkPolicy", name)).toBeNull());
    await tell(name, { ingress_namespaces: [] });
    await eventually(async () =>
      expect(await get("NetworkPolicy", name)).toMatchObject({ spec: { ingress: [{ from: [{ podSelector: {} }] }] } }),
    );
  });

  test("[OD37] a quota that an older operator has set is removed, and quotas of others stay", async () => {
    const quota = { pods: 5, default_limit_cpu: "1" };
    const name = await fenced("capped", { quota } as Partial<DesiredPolicy>);
    const policy = await get("NetworkPolicy", name);
    const caps = [
      { apiVersion: "v1", kind: "ResourceQuota", spec: { hard: { pods: "5" } } },
      { apiVersion: "v1", kind: "LimitRange", spec: { limits: [{ type: "Container", default: { cpu: "1" } }] } },
    ];
    for (const cap of caps) {
      const labels = policy?.metadata.labels ?? {};
      await operator.kube.create({ ...cap, metadata: { name: "theirs", namespace: name } });
      await operator.kube.create({ ...cap, metadata: { name: NAMES[cap.kind as Kind], namespace: name, labels } });
    }
    await eventually(async () =>
      expect([await get("ResourceQuota", name), await get("LimitRange", name)]).toEqual([null, null]),
    );
    for (const { kind } of caps) expect(await operator.kube.get(typeOf(kind), "theirs", name)).not.toBeNull();
  });

  test("[OD38] the NetworkPolicy of a project is restored when somebody edits, deletes or takes it over", async () => {
    const name = await fenced("healed");
    const open = { spec: { ingress: [{}] } };
    await operator.kube.patch(typeOf("NetworkPolicy"), NAMES.NetworkPolicy, name, open, { kind: "merge" });
    await eventually(async () =>
      expect(await get("NetworkPolicy", name)).toMatchObject({ spec: { ingress: [{ from: expect.anything() }] } }),
    );
    await operator.kube.delete(typeOf("NetworkPolicy"), NAMES.NetworkPolicy, name);
    await eventually(async () => expect(await get("NetworkPolicy", name)).not.toBeNull());
    const theirs: KubeObject = {
      apiVersion: "networking.k8s.io/v1",
      kind: "NetworkPolicy",
      metadata: { name: NAMES.NetworkPolicy, namespace: name },
      spec: { podSelector: {}, policyTypes: ["Egress"] },
    };
    await operator.kube.apply(theirs, { force: true, fieldManager: "somebody" });
    await eventually(async () =>
      expect(await get("NetworkPolicy", name)).toMatchObject({ spec: { policyTypes: ["Ingress"] } }),
    );
    await reported(operator, `project/${name}`, "ready");
  });

  test("[OD39] a NetworkPolicy of somebody else is left alone, and the report names it", async () => {
    const name = await fenced("foreign", { isolation: "none" });
    const theirs: KubeObject = {
      apiVersion: "networking.k8s.io/v1",
      kind: "NetworkPolicy",
      metadata: { name: NAMES.NetworkPolicy, namespace: name },
      spec: { podSelector: {}, policyTypes: ["Egress"] },
    };
    await operator.kube.create(theirs);
    await tell(name, { isolation: "namespace" });
    const { report } = await reported(operator, `project/${name}`, "apply_failed");
    expect(report).toMatchObject({
      message: "NetworkPolicy binnacle-isolation exists and belongs to somebody else.",
    });
    expect(await get("NetworkPolicy", name)).toMatchObject({ spec: { policyTypes: ["Egress"] } });

    await operator.kube.delete(typeOf("NetworkPolicy"), NAMES.NetworkPolicy, name);
    await reported(operator, `project/${name}`, "ready", SLOW_MS);
    expect(await get("NetworkPolicy", name)).toMatchObject({ spec: { policyTypes: ["Ingress"] } });
  });
});

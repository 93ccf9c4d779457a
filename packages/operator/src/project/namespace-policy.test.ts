import { DEFAULT_POLICY, type DesiredPolicy, LABELS } from "@binnacle/contract";
import { describe, expect, test } from "vitest";
import { applyProject, PROJECT_ID } from "../desired/frames.fixture.ts";
import { ownLabels } from "../desired/ownership.ts";
import { beyondLimit, POLICY_LABEL, podSecurityLabels, policyObjects } from "./namespace-policy.ts";
import { namespaceOf, type Project } from "./project.ts";

const CLUSTER = "01932c07-31f1-7a4e-8d8b-00000000000c";

function project(policy?: Partial<DesiredPolicy>): Project {
  const { key, resource_id, generation, hash, body } = applyProject("shop");
  const spec = { ...body.spec, ...(policy ? { policy: { ...DEFAULT_POLICY, ...policy } } : {}) };
  return { kind: "project", key, resource_id, generation, hash, spec, secret: {}, isDeleting: false } as Project;
}
const fence = (policy?: Partial<DesiredPolicy>) => policyObjects(project(policy), CLUSTER);
const specOf = (kind: string, policy: Partial<DesiredPolicy>) =>
  fence(policy).find((object) => object.kind === kind)?.["spec"];

describe("the labels of a namespace", () => {
  test.each(["privileged", "baseline", "restricted"] as const)("[OD35] labels hold pods to %s", (pod_security) => {
    const labels = {
      "pod-security.kubernetes.io/enforce": pod_security,
      "pod-security.kubernetes.io/enforce-version": "latest",
      "pod-security.kubernetes.io/warn": "restricted",
      "pod-security.kubernetes.io/warn-version": "latest",
      "pod-security.kubernetes.io/audit": "restricted",
      "pod-security.kubernetes.io/audit-version": "latest",
    };
    expect(podSecurityLabels(project({ pod_security }), "privileged")).toEqual(labels);
    expect(
      namespaceOf(project({ pod_security }), { clusterId: CLUSTER, podSecurityLimit: "privileged" }).metadata.labels,
    ).toMatchObject(labels);
  });

  test("[OD40] the labels of a namespace are those of the default policy where none is sent", () => {
    const labels = (policy?: Partial<DesiredPolicy>) => podSecurityLabels(project(policy), "privileged");
    expect(labels()).toEqual(labels({ pod_security: "baseline" }));
  });

  test.each([
    ["privileged", "baseline", "baseline"],
    ["privileged", "restricted", "restricted"],
    ["baseline", "restricted", "restricted"],
    ["baseline", "baseline", null],
    ["restricted", "baseline", null],
    ["privileged", "privileged", null],
  ] as const)("[OD45] a project that asks for %s where the cluster permits %s gets %s", (pod_security, limit, cut) => {
    const wanted = project({ pod_security });
    expect(podSecurityLabels(wanted, limit)["pod-security.kubernetes.io/enforce"]).toBe(cut ?? pod_security);
    const words = cut && expect.stringContaining(`at most the Pod Security level ${cut}`);
    expect(beyondLimit(wanted, limit)).toEqual(words);
  });
});

describe("the policy objects", () => {
  const KUBE_NAME = "kubernetes.io/metadata.name";

  test("[OD36] [OD40] the NetworkPolicy admits the namespace itself and the ingress controllers", () => {
    const [policy, ...rest] = fence();
    expect(rest).toEqual([]);
    expect(policy).toEqual({
      apiVersion: "networking.k8s.io/v1",
      kind: "NetworkPolicy",
      metadata: {
        name: "binnacle-isolation",
        namespace: "shop",
        labels: { ...ownLabels(CLUSTER), [LABELS.project]: PROJECT_ID, [POLICY_LABEL]: "true" },
      },
      spec: {
        podSelector: {},
        policyTypes: ["Ingress"],
        ingress: [
          {
            from: [
              { podSelector: {} },
              {
                namespaceSelector: {
                  matchExpressions: [
                    { key: KUBE_NAME, operator: "In", values: ["ingress-nginx", "kube-system", "traefik"] },
                  ],
                },
              },
            ],
          },
        ],
      },
    });
  });

  test("[OD36] without ingress controllers only the namespace is admitted, and without isolation there is no policy", () => {
    // An `In` without values is refused by Kubernetes, and an empty selector would be every namespace.
    expect(specOf("NetworkPolicy", { ingress_namespaces: [] })).toMatchObject({
      ingress: [{ from: [{ podSelector: {} }] }],
    });
    expect(fence({ isolation: "none" })).toEqual([]);
  });

  test("[OD37] a quota is not rendered, also where an older control plane sends one", () => {
    const quota = { pods: 3, default_limit_memory: "1Gi" };
    expect(fence({ quota } as Partial<DesiredPolicy>)).toEqual(fence({}));
  });
});

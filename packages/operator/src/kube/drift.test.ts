import { ANNOTATIONS } from "@binnacle/contract";
import { describe, expect, test } from "vitest";
import { differencesOf } from "./drift.ts";
import type { KubeObject, ManagedFields } from "./kube-client.ts";
import { isSameValue } from "./same-value.ts";

const managed = (manager: string, operation: "Apply" | "Update", fieldsV1: object): ManagedFields => ({
  manager,
  operation,
  apiVersion: "apps/v1",
  fieldsV1: fieldsV1 as Record<string, unknown>,
});

const deployment = (spec: object, managedFields: readonly ManagedFields[], hash = "1"): KubeObject => ({
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name: "web", annotations: { [ANNOTATIONS.hash]: hash }, managedFields },
  spec,
});

const REPLICAS = { "f:spec": { "f:replicas": {} } };
const ours = managed("binnacle", "Apply", REPLICAS);
const wanted = deployment({ replicas: 2 }, [ours]);

describe("a field that is not as desired", () => {
  test("[AO29] a field that differs and that the operator no longer manages was edited by somebody", () => {
    const live = deployment({ replicas: 5 }, [managed("kubectl-edit", "Update", REPLICAS)]);
    const object = { kind: "Deployment", name: "web" };
    const field = { object, pointer: "/spec/replicas", desired: 2, observed: 5, manager: "kubectl-edit" };
    expect(differencesOf(live, wanted)).toEqual([{ cause: "edited", field }]);
  });

  test("[AO34] a field that another manager declares is held, also beside one who edited it", () => {
    const others = [managed("kubectl-edit", "Update", REPLICAS), managed("argocd", "Apply", REPLICAS)];
    const [difference] = differencesOf(deployment({ replicas: 5 }, others, "0"), wanted);
    expect(difference).toMatchObject({ cause: "held", field: { manager: "argocd" } });
  });

  test.each([
    ["it is of an earlier rendering", deployment({ replicas: 5 }, [], "0")],
    ["it is still ours", deployment({ replicas: 5 }, [ours])],
  ])("[AO35] a field that differs is only outdated where %s", (_, live) => {
    expect(differencesOf(live, wanted)).toMatchObject([{ cause: "outdated" }]);
  });

  test("[AO27] a field that the operator does not manage is not a difference", () => {
    const live = deployment({ replicas: 2, paused: true }, [ours]);
    const mutated = deployment({ replicas: 2, minReadySeconds: 7 }, [ours]);
    expect(differencesOf(live, mutated)).toEqual([]);
  });

  test("[AO27] replicas that an autoscaler of somebody else sets are not drift, and those that a person sets are", () => {
    const scaledBy = (manager: string, hash = "1") =>
      deployment({ replicas: 5 }, [{ ...managed(manager, "Update", REPLICAS), subresource: "scale" }], hash);
    expect(differencesOf(scaledBy("kube-controller-manager"), wanted)).toEqual([]);
    expect(differencesOf(scaledBy("kubectl"), wanted)).toMatchObject([{ cause: "edited" }]);
    expect(differencesOf(scaledBy("kube-controller-manager", "0"), wanted)).toMatchObject([{ cause: "outdated" }]);
  });

  test("[AO30] a whole missing list element is one difference", () => {
    const element = { 'k:{"name":"web"}': { ".": {}, "f:name": {}, "f:image": {} } };
    const both = managed("binnacle", "Apply", { "f:spec": { "f:containers": element } });
    const web = { name: "web", image: "nginx" };
    const present = deployment({ containers: [{ name: "sidecar" }, web] }, [both]);
    const absent = deployment({ containers: [{ name: "sidecar" }] }, []);
    expect(differencesOf(absent, present)).toEqual([
      {
        cause: "edited",
        field: { object: { kind: "Deployment", name: "web" }, pointer: "/spec/containers/1", desired: web },
      },
    ]);
  });

  test("[AO36] drift of a Secret shows no value, and drift of anything else none that looks secret or is long", () => {
    const data = managed("binnacle", "Apply", { "f:data": { "f:url": {} } });
    const object = (kind: string, url: string): KubeObject => ({
      ...deployment({}, [data]),
      kind,
      data: { url },
    });
    const [secret] = differencesOf(object("Secret", "b"), object("Secret", "a"));
    expect(secret?.field).toEqual({ object: { kind: "Secret", name: "web" }, pointer: "/data/url" });
    const [plain] = differencesOf(object("ConfigMap", "x".repeat(1_000_000)), object("ConfigMap", "db://u:pw@host"));
    expect(plain?.field.desired).toBe("[masked]host");
    expect(String(plain?.field.observed).length).toBeLessThan(2_100);
  });
});

describe("two values", () => {
  const resources = [{ field: "spec" }, { field: "resources" }];
  test.each<[string, unknown, unknown, boolean]>([
    ["quantities", { limits: { cpu: "1000m" } }, { limits: { cpu: "1" } }, true],
    ["quantities in other words", { limits: { memory: "1Gi" } }, { limits: { memory: "1024Mi" } }, true],
    ["other quantities", { limits: { cpu: "1000m" } }, { limits: { cpu: "2" } }, false],
    ["an empty map and none", { limits: {} }, {}, true],
    ["an empty list and none", { claims: [] }, {}, true],
    ["a port and one of TCP", [{ port: 1 }], [{ port: 1, protocol: "TCP" }], true],
    ["a port and one of UDP", [{ port: 1 }], [{ port: 1, protocol: "UDP" }], false],
    ["a list in another order", ["a", "b"], ["b", "a"], false],
  ])("[AO28] two values are compared as Kubernetes means them: %s", (_, one, other, isSame) => {
    expect(isSameValue(resources, one, other)).toBe(isSame);
  });

  test("[AO28] texts outside resource fields are not compared as quantities", () => {
    expect(isSameValue([{ field: "data" }, { field: "resources" }], "1000m", "1")).toBe(false);
    expect(isSameValue([{ field: "spec" }, { field: "args" }], ["1000m"], ["1"])).toBe(false);
  });
});

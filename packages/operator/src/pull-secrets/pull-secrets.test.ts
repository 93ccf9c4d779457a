import { describe, expect, test } from "vitest";
import { applyRegistries, type GivenRegistry } from "../desired/frames.fixture.ts";
import type { KubeObject } from "../kube/kube-client.ts";
import { planPullSecrets, pullSecretNames, type RegistrySecrets } from "./pull-secrets.ts";

const CLUSTER = "01932c07-31f1-7a4e-8d8b-00000000000c";
const OTHER = "01932c07-31f1-7a4e-8d8b-00000000000d";

const stored = (registries: readonly GivenRegistry[], isDeleting = false): RegistrySecrets => {
  const { key, resource_id, generation, hash, body } = applyRegistries(registries);
  return { kind: "registry_secrets", key, resource_id, generation, hash, ...body, isDeleting } as RegistrySecrets;
};
const plan = (told: RegistrySecrets, found: readonly KubeObject[] = []) => planPullSecrets(told, found, CLUSTER);
const made = (registries: readonly GivenRegistry[], clusterId = CLUSTER) =>
  planPullSecrets(stored(registries), [], clusterId).apply;
const names = (objects: readonly KubeObject[]) => objects.map(({ metadata }) => metadata.name);

function configIn(secret: KubeObject | undefined): unknown {
  const { ".dockerconfigjson": content = "" } = (secret?.["data"] ?? {}) as Record<string, string>;
  return JSON.parse(Buffer.from(content, "base64").toString("utf8"));
}

describe("pull secrets", () => {
  test("[OD30] a pull secret has the form that the kubelet reads", () => {
    const [secret] = made([{ name: "quay", server: "https://Quay.io/team/", password: "p:ss" }]);
    expect(secret).toMatchObject({
      kind: "Secret",
      type: "kubernetes.io/dockerconfigjson",
      metadata: { namespace: "shop" },
    });
    const auth = Buffer.from("ada:p:ss").toString("base64");
    expect(configIn(secret)).toEqual({ auths: { "quay.io/team": { username: "ada", password: "p:ss", auth } } });
  });

  const HUB = "https://index.docker.io/v1/";
  test.each(["docker.io", "https://index.docker.io/v1/", "registry-1.docker.io", "https://docker.io/"])(
    "[OD30] a pull secret for Docker Hub is known as %s too",
    (server) => expect(configIn(made([{ name: "hub", server }])[0])).toEqual({ auths: { [HUB]: expect.anything() } }),
  );

  test("[OD31] pull secrets that are right are not written again, others are, and the rest is deleted", () => {
    const before = made([{ name: "a" }, { name: "b" }, { name: "c" }]);
    const { apply, prune, taken } = plan(stored([{ name: "a" }, { name: "b", password: "new" }]), before);
    expect([names(apply), names(prune), taken]).toEqual([["b"], ["c"], []]);
  });

  test("[OD31] a pull secret whose labels or content somebody has changed is written again", () => {
    const [secret] = made([{ name: "a" }]) as [KubeObject];
    const { "binnacle.dev/project": _, ...labels } = secret.metadata.labels ?? {};
    expect(
      names(plan(stored([{ name: "a" }]), [{ ...secret, metadata: { ...secret.metadata, labels } }]).apply),
    ).toEqual(["a"]);
    expect(names(plan(stored([{ name: "a" }]), [{ ...secret, data: {} }]).apply)).toEqual(["a"]);
  });

  test("[OD32] a pull secret never replaces a Secret of somebody else or of another cluster", () => {
    const foreign: KubeObject = { apiVersion: "v1", kind: "Secret", metadata: { name: "a", namespace: "shop" } };
    const { apply, prune, taken } = plan(stored([{ name: "a" }, { name: "b" }]), [
      foreign,
      ...made([{ name: "b" }], OTHER),
    ]);
    expect([names(apply), names(prune), taken]).toEqual([[], [], ["a", "b"]]);
  });

  test("[OD33] all pull secrets of a namespace are deleted with their set", () => {
    const { apply, prune } = plan(stored([{ name: "a" }], true), made([{ name: "a" }, { name: "b" }]));
    expect([names(apply), names(prune)]).toEqual([[], ["a", "b"]]);
  });

  test("[OD34] pull secrets are named to workloads while their set is not being deleted", () => {
    expect(pullSecretNames(stored([{ name: "a" }, { name: "b" }]))).toEqual(["a", "b"]);
    expect(pullSecretNames(stored([{ name: "a" }], true))).toEqual([]);
    expect(pullSecretNames(null)).toEqual([]);
  });
});

import { describe, expect, test } from "vitest";
import { KubeError } from "./kube-error.ts";
import { refusalFor, refusalOf } from "./refusal.ts";

const error = (status: number, message: string) => new KubeError({ status, reason: "X", message });

describe("an object that the cluster does not take", () => {
  test.each<[string, KubeError, string, string]>([
    [
      "a Job that would change",
      error(422, 'Job.batch "x" is invalid: spec.template: Invalid value: field is immutable'),
      "immutable",
      "ImmutableField",
    ],
    [
      "a StatefulSet that would change",
      error(422, "spec: Forbidden: updates to statefulset spec for fields other than 'replicas' are forbidden"),
      "immutable",
      "ImmutableField",
    ],
    [
      "a claim that would shrink",
      error(422, "spec.resources.requests.storage: Forbidden: field can not be less than previous value"),
      "immutable",
      "ImmutableField",
    ],
    [
      "a Service with another address",
      error(422, "spec.clusterIPs[0]: may not change once set"),
      "immutable",
      "ImmutableField",
    ],
  ])("[AO10] a refusal because of an immutable field is known: %s", (_, failure, refused, reason) => {
    const refusal = refusalOf(failure, "Job x");
    expect(refusal).toMatchObject({ refused, reason });
    expect(refusal?.message).toMatch(
      /^It cannot be changed while it is there; remove the component and add it again\./,
    );
  });

  const fixed = error(422, "spec.selector: Invalid value: field is immutable");
  test.each<[string, string]>([
    ["Deployment", "kubectl delete deployment web --namespace shop. Its pods are replaced, with a pause."],
    ["DaemonSet", "kubectl delete daemonset web --namespace shop. Its pods are replaced, with a pause."],
    ["Service", "kubectl delete service web --namespace shop."],
    ["CronJob", "kubectl delete cronjob web --namespace shop."],
    ["ConfigMap", "kubectl delete configmap web --namespace shop."],
    ["PodDisruptionBudget", "kubectl delete poddisruptionbudget web --namespace shop."],
  ])("[AO604] what cannot be changed and holds no data may be deleted: a %s", (kind, command) => {
    const object = { apiVersion: "v1", kind, metadata: { name: "web", namespace: "shop" } };
    expect(refusalFor(fixed, object)).toMatchObject({
      refused: "immutable",
      reason: "ImmutableField",
      message: `It cannot be changed while it is there, and holds no data. Delete it, and it is made again as it is to be: ${command} ${kind} web: spec.selector: Invalid value: field is immutable`,
    });
  });

  test.each(["StatefulSet", "PersistentVolumeClaim", "Secret", "Unheard"])(
    "[AO604] nobody is told to delete what may hold data: a %s",
    (kind) => {
      const object = { apiVersion: "v1", kind, metadata: { name: "web", namespace: "shop" } };
      expect(refusalFor(fixed, object)?.message).toMatch(
        /^It cannot be changed while it is there; remove the component/,
      );
    },
  );

  test.each<[string, KubeError, string, string]>([
    ["wrong", error(422, "spec.ports[0].name: Required value"), "invalid", "ObjectRefused"],
    [
      "misshapen",
      error(500, "failed to create typed patch object (a/b): duplicate entries for key"),
      "invalid",
      "ObjectRefused",
    ],
    ["forbidden", error(403, "exceeded quota"), "forbidden", "Forbidden"],
    ["without a namespace", error(404, 'namespaces "shop" not found'), "no_namespace", "NamespaceMissing"],
    [
      "not to be tried out",
      error(400, "admission webhook does not support dry run"),
      "untestable",
      "DryRunUnsupported",
    ],
  ])("[AO11] an object that the cluster refuses is %s", (_, failure, refused, reason) => {
    expect(refusalOf(failure, "Service x")).toMatchObject({ refused, reason });
  });

  test.each([
    ["no answer", error(0, "got no answer")],
    ["too many requests", error(429, "later")],
    ["a change meanwhile", error(409, "the object has been modified")],
    ["a server in trouble", error(503, "etcd is away")],
    ["a fault of our own", new TypeError("x is undefined")],
  ])("[AO11] an object is tried again after %s", (_, failure) => {
    expect(refusalOf(failure, "Service x")).toBeNull();
  });
});

test("[AO59] a volume whose class does not let it grow says so, and how to go on", () => {
  const message =
    'persistentvolumeclaims "data" is forbidden: only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize';
  expect(refusalOf(error(403, message), "PersistentVolumeClaim data")).toMatchObject({
    refused: "forbidden",
    reason: "VolumeNotExpandable",
    message: expect.stringMatching(/^The volume keeps its size, .* set size_gb back\. PersistentVolumeClaim data: /),
  });
});

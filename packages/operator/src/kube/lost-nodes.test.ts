import { expect, test } from "vitest";
import type { KubeObject } from "./kube-client.ts";
import { lostNodes } from "./lost-nodes.ts";

interface Facts {
  readonly node?: string;
  readonly owner?: string;
  readonly ready?: string;
  readonly reason?: string;
  readonly containers?: readonly boolean[];
}
const pod = ({
  node = "n1",
  owner = "DaemonSet",
  ready = "False",
  reason = "",
  containers = [true],
}: Facts): KubeObject => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "web", ownerReferences: [{ apiVersion: "apps/v1", kind: owner, name: "web", uid: "u1" }] },
  spec: { nodeName: node },
  status: {
    conditions: [{ type: "Ready", status: ready, reason }],
    containerStatuses: containers.map((isReady) => ({ name: "web", ready: isReady })),
  },
});

test.each<[string, Facts, readonly string[]]>([
  ["whose containers were last up", {}, ["n1"]],
  ["whose containers were last up, with a reason of Kubernetes", { reason: "NodeNotReady" }, ["n1"]],
  ["that is ready", { ready: "True" }, []],
  ["with a container that is not ready", { containers: [true, false], reason: "ContainersNotReady" }, []],
  ["that waits for a readiness gate", { reason: "ReadinessGatesNotReady" }, []],
  ["that has not started", { containers: [] }, []],
  ["of a Deployment, which is made elsewhere", { owner: "ReplicaSet" }, []],
  ["without a node", { node: "" }, []],
])("[AO603] a node is known not to answer by a pod of a DaemonSet: one %s", (_, facts, expected) => {
  expect([...lostNodes([pod(facts)])]).toEqual(expected);
});

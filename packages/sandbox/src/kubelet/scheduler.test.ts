import { expect, test } from "vitest";
import type { View, Write } from "../controllers/control.ts";
import type { KubeObject } from "../store/kube-object.ts";
import { type Node, scheduler } from "./scheduler.ts";

const node = (name: string, given: Partial<Node> = {}): Node => ({
  apiVersion: "v1",
  kind: "Node",
  metadata: { name, uid: name, labels: {} },
  status: { allocatable: { cpu: "2", memory: "4Gi", pods: "10" } },
  ...given,
});

const pod = (name: string, spec: object = {}, requests: object = {}): KubeObject => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name, namespace: "default", uid: name },
  spec: { containers: [{ name: "main", image: "web:1", resources: { requests } }], ...spec },
});

function scheduled(pods: readonly KubeObject[], nodes: readonly Node[]): readonly Write[] {
  const view = {
    get: () => null,
    list: (resource: string) => (resource === "pods" ? pods : nodes),
    owned: () => [],
    byUid: () => null,
    namespacedResources: () => [],
  } as View;
  return scheduler.step({ resource: "pods", name: "*" }, view, 0).writes;
}

/** The nodes that pods were bound to, and the reasons of those that were not. */
const placesOf = (writes: readonly Write[]) =>
  JSON.stringify(writes).match(/"nodeName":"[^"]+"|nodes are available: [^"]+/g);

const TAINTED = node("tainted", { spec: { taints: [{ key: "gpu", effect: "NoSchedule" }] } });
const PREFERRED = node("preferred", { spec: { taints: [{ key: "gpu", effect: "PreferNoSchedule" }] } });
const CORDONED = node("cordoned", { spec: { unschedulable: true } });
const SSD = node("ssd", { metadata: { name: "ssd", uid: "ssd", labels: { disk: "ssd" } } });

test.each([
  ["a plain node", pod("a"), [node("one")], '"nodeName":"one"'],
  ["no node", pod("a"), [], "nodes are available: no nodes."],
  ["a taint", pod("a"), [TAINTED], "nodes are available: 1 node(s) had untolerated taint(s)."],
  ["a tolerated taint", pod("a", { tolerations: [{ key: "gpu" }] }), [TAINTED], '"nodeName":"tainted"'],
  ["a taint that only prefers", pod("a"), [PREFERRED], '"nodeName":"preferred"'],
  ["a cordon", pod("a"), [CORDONED], "nodes are available: 1 node(s) were unschedulable."],
  ["a selector", pod("a", { nodeSelector: { disk: "ssd" } }), [node("one"), SSD], '"nodeName":"ssd"'],
  [
    "a selector that no node meets",
    pod("a", { nodeSelector: { disk: "tape" } }),
    [SSD],
    "nodes are available: 1 node(s) didn't match Pod's node affinity/selector.",
  ],
  ["too little memory", pod("a", {}, { memory: "5Gi" }), [node("one")], "nodes are available: 1 Insufficient memory."],
  ["too few processors", pod("a", {}, { cpu: "3" }), [node("one")], "nodes are available: 1 Insufficient cpu."],
] as const)("[SC56] the scheduler places a pod or says why not: %s", (_, waiting, nodes, expected) => {
  expect(placesOf(scheduled([waiting], nodes))?.[0]).toBe(expected);
});

test("[SC56] the pods of one step are spread over nodes, and each counts for the next", () => {
  const waiting = ["a", "b", "c"].map((name) => pod(name, {}, { cpu: "1500m" }));
  const places = placesOf(scheduled(waiting, [node("one"), node("two")])) ?? [];
  expect(places.slice(0, 2).toSorted()).toEqual(['"nodeName":"one"', '"nodeName":"two"']);
  expect(places[2]).toBe("nodes are available: 2 Insufficient cpu.");
});

test("[SC56] a pod that has a node, has ended or is being deleted is left alone", () => {
  const ended = { ...pod("ended"), status: { phase: "Succeeded" } };
  const deleted = {
    ...pod("deleted"),
    metadata: { ...pod("deleted").metadata, deletionTimestamp: "2026-01-31T09:30:00Z" },
  };
  expect(scheduled([pod("bound", { nodeName: "one" }), ended, deleted], [node("one")])).toEqual([]);
});

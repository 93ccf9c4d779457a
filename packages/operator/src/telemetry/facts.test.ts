import { expect, test } from "vitest";
import { factsOf, type NodeCapacity, trimNode } from "./facts.adapter.ts";

const node = (capacity: Record<string, string>): NodeCapacity => ({
  apiVersion: "v1",
  kind: "Node",
  metadata: { name: "n", resourceVersion: "7" },
  status: { capacity },
});

test("[OL8] the capacities of nodes are added up as Kubernetes counts", () => {
  const nodes = [
    node({ cpu: "4", memory: "16Gi", pods: "110" }),
    node({ cpu: "100m", memory: "512Mi", pods: "20" }),
    node({ cpu: "200m", memory: "1e9" }),
  ];
  expect(factsOf("v1.37.1", nodes)).toEqual({
    kubernetes_version: "v1.37.1",
    node_count: 3,
    capacity: { cpu_cores: 4.3, memory_bytes: 16.5 * 2 ** 30 + 1e9, pods: 130 },
  });
});

test("[OL8] a node without a capacity counts as a node", () => {
  const bare: NodeCapacity = { apiVersion: "v1", kind: "Node", metadata: { name: "n" } };
  expect(factsOf("v1", [bare, node({ cpu: "odd" })])).toMatchObject({ node_count: 2, capacity: { cpu_cores: 0 } });
});

test("[OL8] of a node only its capacity is kept", () => {
  const full = { ...node({ cpu: "4", memory: "1Gi", pods: "1", "example.com/gpu": "1" }), spec: { podCIDR: "x" } };
  expect(trimNode(full)).toEqual(node({ cpu: "4", memory: "1Gi", pods: "1" }));
});

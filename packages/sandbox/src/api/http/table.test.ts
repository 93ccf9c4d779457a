import { expect, test } from "vitest";
import type { KubeObject } from "../../store/kube-object.ts";
import type { Core } from "../ports.ts";
import { BUILT_IN } from "../resource.ts";
import { asTable, isTableAsked } from "./table.ts";

const NOW_MS = Date.parse("2026-01-31T10:00:00Z");

/** The cells of one object, by the names of their columns. */
function cellsOf(kind: string, object: Partial<KubeObject>): Readonly<Record<string, unknown>> {
  const resource = BUILT_IN.find(({ id }) => id === kind);
  if (!resource) throw new Error(`There is no kind ${kind}.`);
  const metadata = { name: "web", creationTimestamp: "2026-01-31T09:00:00Z", ...object.metadata };
  const core = { clock: { nowMs: () => NOW_MS } } as Core;
  const { columnDefinitions, rows } = asTable(
    core,
    resource,
    [{ apiVersion: "v1", kind: "X", ...object, metadata }],
    {},
  );
  return Object.fromEntries(columnDefinitions.map(({ name }, at) => [name, rows[0]?.cells[at]]));
}

const container = (status: object) => ({ name: "main", ready: false, restartCount: 3, ...status });
const podWith = (status: object, metadata: object = {}): Partial<KubeObject> => ({
  metadata: metadata as KubeObject["metadata"],
  spec: { containers: [{ name: "main" }, { name: "side" }] },
  status,
});

test.each([
  ["runs", podWith({ phase: "Running", containerStatuses: [container({ ready: true })] }), "Running", "1/2"],
  [
    "crashes",
    podWith({
      phase: "Running",
      containerStatuses: [container({ state: { waiting: { reason: "CrashLoopBackOff" } } })],
    }),
    "CrashLoopBackOff",
    "0/2",
  ],
  [
    "is done",
    podWith({ phase: "Succeeded", containerStatuses: [container({ state: { terminated: { reason: "Completed" } } })] }),
    "Completed",
    "0/2",
  ],
  ["was evicted", podWith({ phase: "Failed", reason: "Evicted" }), "Evicted", "0/2"],
  [
    "is deleted",
    podWith({ phase: "Running" }, { name: "web", deletionTimestamp: "2026-01-31T09:59:00Z" }),
    "Terminating",
    "0/2",
  ],
  ["is new", podWith({}), "Unknown", "0/2"],
] as const)("[SA53] the table shows a pod that %s", (_, pod, status, ready) => {
  expect(cellsOf("pods", pod)).toMatchObject({ Name: "web", Status: status, Ready: ready });
});

test.each([
  ["2026-01-31T09:59:01Z", "59s"],
  ["2026-01-31T09:58:01Z", "119s"],
  ["2026-01-31T09:58:00Z", "2m"],
  ["2026-01-31T08:00:01Z", "119m"],
  ["2026-01-31T08:00:00Z", "2h"],
  ["2026-01-28T10:00:00Z", "3d"],
  ["2026-01-31T10:05:00Z", "0s"],
])("[SA53] the table shows an object of %s as %s old", (creationTimestamp, age) => {
  expect(cellsOf("configmaps", { metadata: { name: "web", creationTimestamp } })["Age"]).toBe(age);
});

test("[SA53] the table shows the counts of workloads, services and jobs", () => {
  const status = { readyReplicas: 1, updatedReplicas: 2, availableReplicas: 1 };
  expect(cellsOf("deployments.apps", { spec: { replicas: 3 }, status })).toMatchObject({
    Ready: "1/3",
    "Up-to-date": 2,
    Available: 1,
  });
  const ports = [
    { port: 80, protocol: "TCP" },
    { port: 53, protocol: "UDP" },
  ];
  expect(cellsOf("services", { spec: { type: "ClusterIP", ports } })["Port(s)"]).toBe("80/TCP,53/UDP");
  const conditions = [{ type: "Failed", status: "True" }];
  expect(cellsOf("jobs.batch", { spec: { completions: 2 }, status: { succeeded: 1, conditions } })).toMatchObject({
    Status: "Failed",
    Completions: "1/2",
  });
});

test("[SA53] a table is sent only to a client that asks for one", () => {
  expect(isTableAsked("application/json;as=Table;v=v1;g=meta.k8s.io,application/json")).toBe(true);
  expect(isTableAsked("application/json")).toBe(false);
  expect(isTableAsked()).toBe(false);
});

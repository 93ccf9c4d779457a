import type { ObservedObject } from "@binnacle/contract";
import { expect, test } from "vitest";
import { someApp, workload } from "./app.fixture.ts";
import { resourceTree } from "./app-resources.ts";

const someObject = (fields: Partial<ObservedObject> = {}): ObservedObject => ({
  id: "uid-web",
  parent_id: null,
  component: "web",
  api_version: "apps/v1",
  kind: "Deployment",
  name: "storefront-web",
  namespace: "shop",
  status: "ready",
  reason: null,
  message: null,
  desired: 2,
  ready: 2,
  restarts: null,
  node: null,
  created_at: null,
  ...fields,
});
const observed = (...objects: ObservedObject[]) => ({
  objects,
  truncated: false,
  observed_at: "2026-01-31T09:30:00.000Z",
});

test("[AP91] the resource tree has the app and its components at the top, with the state that was last reported", () => {
  const statuses = [
    {
      name: "web",
      phase: "degraded" as const,
      reason: "CrashLoopBackOff",
      message: "It crashes.",
      desired: 2,
      ready: 1,
      updated: 2,
      restarts: 3,
      image: null,
      ready_replicas: 1,
      pods: [],
    },
  ];
  const app = someApp({
    phase: "degraded",
    phase_reason: "CrashLoopBackOff",
    components: [workload("web"), workload("worker")],
    component_statuses: statuses,
  });
  const pod = someObject({ id: "uid-pod", parent_id: "uid-web", kind: "Pod" });
  const { nodes, truncated } = resourceTree(app, observed(someObject(), pod));
  expect(truncated).toBe(false);
  expect(nodes.map(({ kind, id, parent_id, status }) => [kind, id, parent_id, status])).toEqual([
    ["App", app.id, null, "failed"],
    ["Component", "component/web", app.id, "failed"],
    ["Component", "component/worker", app.id, "unknown"],
    ["Deployment", "uid-web", "component/web", "ready"],
    ["Pod", "uid-pod", "uid-web", "ready"],
  ]);
  expect(nodes[1]).toMatchObject({ reason: "CrashLoopBackOff", message: "It crashes.", desired: 2, ready: 1 });
});

test("[AP91] volumes of a removed component are below a node with the reason Removed", () => {
  const claim = someObject({ id: "uid-claim", component: "db", kind: "PersistentVolumeClaim" });
  const { nodes } = resourceTree(someApp(), observed(claim));
  expect(nodes.at(-2)).toMatchObject({ id: "component/db", kind: "Component", status: "unknown", reason: "Removed" });
  expect(nodes.at(-1)).toMatchObject({ parent_id: "component/db" });
});

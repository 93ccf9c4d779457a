import type { AppComponent } from "@binnacle/client";
import { expect, test } from "vitest";
import { edgeText, graphOf } from "./graph.ts";

const component = (name: string, rest: Partial<AppComponent> = {}): AppComponent => ({
  name,
  secrets: [],
  ready_replicas: null,
  ...rest,
});

const APP = [
  component("db"),
  component("api", {
    depends_on: ["db"],
    workload_spec: {
      env: [
        { name: "DSN", export_ref: { component: "db", key: "dsn" } },
        { name: "HOST", export_ref: { component: "db", key: "host" } },
        { name: "LEVEL", value: "info" },
      ],
      sidecars: [{ name: "proxy", image: "x", env: [{ name: "DSN", export_ref: { component: "db", key: "dsn" } }] }],
    },
  }),
  component("web", { depends_on: ["api"], export_refs: [{ component: "cache" }] }),
];

test("[WC53] the graph of an app has an edge from each component to those that need it, by order or by export", () => {
  expect(graphOf(APP).edges).toEqual([
    { from: "db", to: "api", kind: "export", keys: ["dsn", "host"] },
    { from: "api", to: "web", kind: "dependency", keys: [] },
    { from: "cache", to: "web", kind: "export", keys: [] },
  ]);
});

test("[WC53] what an app uses from outside is a node of its own in the graph", () => {
  expect(graphOf(APP).nodes).toEqual([
    { id: "db", kind: "component" },
    { id: "api", kind: "component" },
    { id: "web", kind: "component" },
    { id: "cache", kind: "outside" },
  ]);
});

test("[WC53] each edge of the graph is described in words", () => {
  expect(graphOf(APP).edges.map(edgeText)).toEqual([
    "api uses dsn, host of db",
    "web starts after api",
    "web uses all exports of cache",
  ]);
});

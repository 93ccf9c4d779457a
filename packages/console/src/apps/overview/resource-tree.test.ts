import type { AppComponent, ResourceNode } from "@binnacle/client";
import { expect, test } from "vitest";
import { nodeText, podsBelow, treeRows } from "./resource-tree.ts";
import { variableRows } from "./variables.ts";

const node = (id: string, parent_id: string | null, rest: Partial<ResourceNode> = {}): ResourceNode => ({
  id,
  parent_id,
  component: null,
  api_version: null,
  kind: "Pod",
  name: id,
  namespace: null,
  status: "ready",
  reason: null,
  message: null,
  desired: null,
  ready: null,
  restarts: null,
  node: null,
  created_at: null,
  ...rest,
});
const shown = (nodes: readonly ResourceNode[], folded: readonly string[] = []) =>
  treeRows(nodes, new Set(folded)).map(({ node: { id }, depth }) => `${"-".repeat(depth)}${id}`);

const NODES = [node("app", null), node("web", "app"), node("api", "app"), node("pod", "web")];

test("[WC2921] the log of an object has the lines of the pods below it, and that of a pod its own", () => {
  const kinds = { kind: "Deployment" } as const;
  const nodes = [
    node("app", null, { kind: "App" }),
    node("web", "app", kinds),
    node("web-1", "web", { kind: "ReplicaSet" }),
    node("web-1-a", "web-1"),
    node("web-1-b", "web-1"),
    node("api", "app", kinds),
    node("api-1-a", "api"),
  ];
  const podsOf = (id: string) => podsBelow(nodes, nodes.find((each) => each.id === id) ?? node("none", null));
  expect(podsOf("web")).toEqual(["web-1-a", "web-1-b"]);
  expect(podsOf("web-1-b")).toEqual(["web-1-b"]);
  expect(podsOf("api")).toEqual(["api-1-a"]);
});

test("[WC40] the resources of an app are a tree, each below its parent", () => {
  expect(shown(NODES)).toEqual(["app", "-web", "--pod", "-api"]);
  expect(shown(NODES, ["web"])).toEqual(["app", "-web", "-api"]);
  expect(shown(NODES, ["app"])).toEqual(["app"]);
});

test("[WC40] a tree whose nodes name each other, themselves or an unknown parent is shown as far as possible", () => {
  expect(shown([node("a", "b"), node("b", "a"), node("c", "c"), node("d", "gone")])).toEqual(["c", "d"]);
});

test.each([
  [{ desired: 3, ready: 2, status: "progressing", message: "waits" } as const, "2/3 ready, waits"],
  [{ restarts: 1, status: "failed", reason: "CrashLoopBackOff" } as const, "1 restart, CrashLoopBackOff"],
  [{ restarts: 0, reason: "Done" } as const, ""],
])("[WC40] a node of the resource tree shows its counts and its problem: %o", (rest, words) => {
  expect(nodeText(node("x", null, rest))).toBe(words);
});

test("[WC41] a component's variables say where they come from, and secrets show their key only", () => {
  const component: AppComponent = {
    name: "web",
    secrets: ["TOKEN"],
    ready_replicas: null,
    workload_spec: {
      env: [
        { name: "LEVEL", value: "info" },
        { name: "EMPTY", value: "" },
        { name: "DB", export_ref: { component: "db", key: "dsn" } },
      ],
    },
    export_refs: [{ component: "cache" }, { component: "queue", key: "host", env: "Q" }],
  };
  expect(variableRows(component)).toEqual([
    { name: "LEVEL", value: "info", source: "value" },
    { name: "EMPTY", value: "", source: "value" },
    { name: "DB", value: null, source: "from db: dsn" },
    { name: "*", value: null, source: "all exports of cache" },
    { name: "Q", value: null, source: "from queue: host" },
    { name: "TOKEN", value: null, source: "secret" },
  ]);
});

import type { Answer, ResourceNode } from "@binnacle/client";
import pc from "picocolors";
import { describe, expect, test } from "vitest";
import { losses } from "../command.ts";
import { tree } from "./app-views.ts";

type DeletionPreview = Answer<"previewAppDeletion">;

const PLAIN = pc.createColors(false);
const node = (
  id: string,
  parent_id: string | null,
  kind: string,
  name: string,
  more: Partial<ResourceNode> = {},
): ResourceNode => ({
  ...{ id, parent_id, kind, name, status: "ready", reason: null, message: null, desired: null, ready: null },
  ...{ component: null, api_version: null, namespace: null, node: null, created_at: null, restarts: null, ...more },
});

test("[BC33] the tree of an app has each object below its parent, with its counts and why it is not ready", () => {
  const lines = tree(
    [
      node("app", null, "App", "shop"),
      node("web", "app", "Component", "web", { desired: 2, ready: 1, status: "progressing", message: "1 of 2" }),
      node("d", "web", "Deployment", "shop-web", { desired: 2, ready: 1 }),
      node("p", "d", "Pod", "shop-web-1", { restarts: 3, status: "failed", reason: "CrashLoopBackOff" }),
      node("s", "web", "Service", "shop-web"),
      node("db", "app", "Component", "d\u001b[2Jb"),
    ],
    PLAIN,
  );
  expect(lines.split("\n")).toEqual([
    "App shop  ready",
    "├─ Component web  progressing 1/2  1 of 2",
    "│  ├─ Deployment shop-web  ready 1/2",
    "│  │  └─ Pod shop-web-1  failed, 3 restarts  CrashLoopBackOff",
    "│  └─ Service shop-web  ready",
    expect.not.stringContaining("\u001b"),
    "",
  ]);
});

describe("[BC35] before a deletion", () => {
  const nothing: DeletionPreview = {
    target: { type: "app", id: null, name: "shop" },
    apps: [],
    addon_instances: [],
    components: [],
    objects: [],
    volumes: [],
    volumes_known: true,
    message: null,
    truncated: false,
    observed_at: null,
  };
  const named = (name: string) => ({ id: "01932c07-31f1-7a4e-8d8b-6f1a2f0c5d11", name });
  const volume: DeletionPreview["volumes"][number] = {
    claim: "shop-db-data",
    component: "db",
    size: "10Gi",
    storage_class: null,
    volume: null,
    reclaim_policy: null,
    fate: "kept",
    recovery: "Add the component again.",
  };

  test.each<[string, Partial<DeletionPreview>, string[]]>([
    ["nothing is said where nothing goes", {}, []],
    [
      "what goes is named",
      { apps: [named("a"), named("b")], addon_instances: [named("db")], components: ["web"] },
      ["Apps that go: a, b", "Addons that go: db", "Components that go: web"],
    ],
    [
      "a volume has its fate and the way back",
      { volumes: [volume] },
      ["Volume shop-db-data (10Gi) is kept. Add the component again."],
    ],
    [
      "a cluster that has not answered is not a promise",
      { volumes_known: false, message: "No operator of the cluster is connected." },
      ["No operator of the cluster is connected."],
    ],
  ])("%s", (_, changes, expected) => {
    expect(losses({ ...nothing, ...changes })).toEqual(expected);
  });
});

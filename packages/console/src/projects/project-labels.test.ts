import type { DeletionPreview, Project } from "@binnacle/client";
import { expect, test } from "vitest";
import { deletionLines, lifecycleText } from "./project-labels.ts";

const project = { lifecycle: "ready", lifecycle_reason: null, lifecycle_message: null, stale: false } as const;
type Row = [
  lifecycle: Project["lifecycle"],
  reason: Project["lifecycle_reason"],
  stale: boolean,
  at: string | null,
  what: RegExp,
];

test.each<Row>([
  ["pending", null, false, null, /has been asked to create/],
  ["pending", null, true, "cluster", /has been asked to create/],
  ["ready", null, false, null, /is as it should be/],
  ["ready", null, true, "cluster", /was ready when/],
  ["degraded", "operator_unreachable", true, "cluster", /has not confirmed/],
  ["degraded", "apply_failed", false, "policy", /refuses/],
  ["degraded", "namespace_conflict", false, "delete", /belongs to somebody else/],
  ["degraded", null, false, null, /not as it should be/],
  ["cleanup_pending", null, false, null, /being deleted\. Its record goes/],
  ["cleanup_pending", null, true, "cluster", /being deleted\. Its record goes/],
  ["cleanup_pending", "cleanup_degraded", true, "cluster", /does not confirm/],
  ["cleanup_degraded", "cluster_abandoned", true, "cluster", /given up with its cluster/],
])(
  "[WC69] a project that is %s (%s, stale: %s) leads to %s and says %s",
  (lifecycle, lifecycle_reason, stale, at, what) => {
    const words = lifecycleText({ ...project, lifecycle, lifecycle_reason, stale });
    expect(words.what).toMatch(what);
    expect(words.at).toBe(at);
    // Whatever sends people somewhere says what to do there.
    expect(words.todo === null).toBe(at === null);
  },
);

test("[WC69] a degraded project shows the cluster's own words as the reason", () => {
  const words = lifecycleText({
    ...project,
    lifecycle: "degraded",
    lifecycle_reason: "apply_failed",
    lifecycle_message: "forbidden",
  });
  expect(words.why).toBe("forbidden");
});

const preview: DeletionPreview = {
  target: { type: "project", id: "1", name: "shop" },
  apps: [{ id: "1", name: "web" }],
  addon_instances: [{ id: "2", name: "db" }],
  components: [],
  objects: [{ component: null, kind: "Namespace", name: "shop", namespace: null }],
  volumes: [],
  volumes_known: true,
  message: null,
  truncated: false,
  observed_at: null,
};
const volume = (claim: string, fate: "deleted" | "released" | "kept" | "unknown") => ({
  claim,
  component: null,
  size: "10Gi",
  storage_class: null,
  volume: null,
  reclaim_policy: null,
  fate,
  recovery: "",
});

test("[WC70] the preview of a project's deletion names what goes, with data that is lost first", () => {
  expect(
    deletionLines({
      ...preview,
      volumes: [volume("cache", "released"), volume("data-0", "deleted"), volume("data-1", "deleted")],
    }),
  ).toEqual([
    "Lost for ever: 2 volumes: data-0 (10Gi), data-1 (10Gi).",
    "Claim removed, data kept by the storage class: 1 volume: cache (10Gi).",
    "1 app: web.",
    "1 addon instance: db.",
    "The namespace shop with everything in it, whoever has created it.",
  ]);
});

test("[WC70] the preview of a project's deletion says that a cluster does not answer, or that a list is cut", () => {
  const lines = deletionLines({
    ...preview,
    apps: [],
    addon_instances: [],
    objects: [],
    volumes_known: false,
    message: "The operator is not connected.",
    truncated: true,
  });
  expect(lines).toEqual(["No app is in it.", "The operator is not connected.", "There is more than is listed here."]);
});

test("[WC70] long lists in the preview of a project's deletion are cut and counted", () => {
  const apps = Array.from({ length: 14 }, (_, index) => ({ id: String(index), name: `app-${index}` }));
  expect(deletionLines({ ...preview, apps })[0]).toMatch(/^14 apps: app-0, .*app-11 and 2 more\.$/);
});

import type { AppComponent, DeletionPreview } from "@binnacle/client";
import { expect, test } from "vitest";
import { attachedInstances, publicAddresses, scalableComponents, sourceOf } from "./components.ts";
import { consequencesOf } from "./deletion.ts";

const component = (name: string, rest: Partial<AppComponent> = {}): AppComponent => ({
  name,
  secrets: [],
  ready_replicas: null,
  ...rest,
});
const kind = (name: NonNullable<AppComponent["workload_spec"]>["kind"]) =>
  component(name ?? "plain", { workload_spec: name ? { kind: name } : {} });

test("[WC35] only deployments and statefulsets are offered for scaling", () => {
  const all = [
    kind(undefined),
    kind("deployment"),
    kind("statefulset"),
    kind("daemonset"),
    kind("job"),
    kind("cronjob"),
    component("postgres", { type: "addon", addon_spec: { instance: "db" } }),
  ];
  expect(scalableComponents(all)).toEqual(["plain", "deployment", "statefulset"]);
});

test.each([
  [{ host: "shop.example.com", tls: true }, ["https://shop.example.com/"]],
  [{ host: "shop.example.com", path: "/api" }, ["http://shop.example.com/api"]],
  [{ host: "*.example.com" }, []],
  [{ host: "a b" }, []],
])("[WC36] the ingress %o is reached at %o", (ingress, addresses) => {
  expect(publicAddresses([component("web", { workload_spec: { ingress } })])).toEqual(addresses);
});

test("[WC37] an addon counts as attached where it was attached as a whole", () => {
  const all = [
    component("web", { export_refs: [{ component: "db" }, { component: "api", key: "url" }] }),
    component("api", { export_refs: [{ component: "db" }, { component: "queue", key: "host", env: "Q" }] }),
  ];
  expect([...attachedInstances(all)]).toEqual([["db", ["web", "api"]]]);
});

test.each([
  [{ workload_spec: { image: "nginx:1" } }, "nginx:1"],
  [{ workload_spec: {} }, "no image"],
  [{ chart_spec: { repo: "https://charts.example.com", name: "redis", version: "1.2.3" } }, "redis 1.2.3"],
  [{ addon_spec: { instance: "db" } }, "db"],
])("[WC35] a component shows what it runs: %o", (rest, words) => {
  expect(sourceOf(component("x", rest))).toBe(words);
});

const PREVIEW: DeletionPreview = {
  target: { type: "app", id: null, name: "shop" },
  apps: [],
  addon_instances: [],
  components: ["web"],
  objects: [
    { component: "web", kind: "Service", name: "shop-web", namespace: "shop" },
    { component: "web", kind: "Deployment", name: "shop-web", namespace: "shop" },
    { component: "web", kind: "Service", name: "shop-web-2", namespace: "shop" },
  ],
  volumes: [],
  volumes_known: true,
  message: null,
  truncated: false,
  observed_at: null,
};
const VOLUME = {
  claim: "data-0",
  component: "db",
  size: "5Gi",
  storage_class: null,
  volume: null,
  reclaim_policy: null,
  fate: "deleted",
  recovery: "",
} as const;

test("[WC38] the preview of an app's deletion names what goes, the data first", () => {
  expect(consequencesOf({ ...PREVIEW, volumes: [VOLUME, { ...VOLUME, size: null, fate: "kept" }] })).toEqual([
    "The volume data-0 (5Gi) is deleted with its data.",
    "The volume data-0 stays.",
    "1 component: web. What they serve stops at once.",
    "3 objects in the cluster: 1 Deployment, 2 Service.",
  ]);
});

test("[WC38] the preview of an app's deletion counts a long list, and says that there is more", () => {
  const components = Array.from({ length: 10 }, (_, index) => `c${index}`);
  expect(consequencesOf({ ...PREVIEW, components, truncated: true })).toEqual([
    "10 components: c0, c1, c2, c3, c4, c5, c6, c7 and 2 more. What they serve stops at once.",
    "3 objects in the cluster and more: 1 Deployment, 2 Service.",
  ]);
});

import { expect, test } from "vitest";
import { attachmentChange, standsFor } from "./attachment.ts";
import type { AppComponent } from "./generated/types.ts";

const component = (name: string, rest: Partial<AppComponent> = {}): AppComponent => ({
  name,
  workload_spec: {},
  secrets: [],
  ready_replicas: null,
  ...rest,
});
const { workload_spec: _, ...chart } = component("chart");
const ADDED = { op: "add", name: "db", type: "addon", addon_spec: { instance: "db" } };

test("[CN92] the change that attaches an addon adds its component and keeps the existing export_refs", () => {
  const api = component("api", { export_refs: [{ component: "web", key: "url" }] });
  const attached = component("attached", { export_refs: [{ component: "db" }] });
  const app = { components: [component("web"), api, attached, chart] };
  expect(attachmentChange(app, "db")).toEqual([
    ADDED,
    { op: "patch", name: "web", export_refs: [{ component: "db" }] },
    { op: "patch", name: "api", export_refs: [{ component: "web", key: "url" }, { component: "db" }] },
  ]);
  expect(attachmentChange(app, "db", "web")).toEqual([
    ADDED,
    { op: "patch", name: "web", export_refs: [{ component: "db" }] },
  ]);
});

test("[CN92] an app that has a component with the instance's name needs no other component", () => {
  expect(standsFor({ components: [component("db")] }, "db")).toBe(true);
  expect(standsFor({ components: [component("web")] }, "db")).toBe(false);
});

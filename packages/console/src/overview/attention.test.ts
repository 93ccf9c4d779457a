import type { AttentionItem } from "@binnacle/client";
import { expect, test } from "vitest";
import openapi from "../../../../openapi.json" with { type: "json" };
import { activityText, attentionView } from "./attention.ts";

const item: AttentionItem = {
  kind: "app",
  id: "1",
  name: "shop",
  namespace: "web",
  project_id: "p",
  cluster_id: "c",
  severity: "failed",
  reason: "failed",
  cause: null,
  action: null,
  others: 0,
  others_named: [],
  message: null,
  since: null,
};

test.each<[AttentionItem["kind"], AttentionItem["reason"], string, string, object]>([
  ["app", "failed", "App web/shop", "/o/demo/apps/web/shop", { project: "p" }],
  ["app", "held_up", "App web/shop", "/o/demo/apps/web/shop", { project: "p" }],
  ["app", "rollout_failed", "App web/shop", "/o/demo/apps/web/shop", { project: "p" }],
  ["app", "invalid", "App web/shop", "/o/demo/apps/web/shop", { tab: "configuration", project: "p" }],
  ["app", "degraded", "App web/shop", "/o/demo/apps/web/shop", { project: "p" }],
  ["app", "blocked_sync", "App web/shop", "/o/demo/apps/web/shop", { project: "p" }],
  ["app", "drifted", "App web/shop", "/o/demo/apps/web/shop", { project: "p" }],
  ["cluster", "disconnected", "Cluster shop", "/o/demo/clusters/1", {}],
  ["cluster", "install_failed", "Cluster shop", "/o/demo/clusters/1", { tab: "install" }],
  ["cluster", "error", "Cluster shop", "/o/demo/clusters/1", {}],
  ["project", "degraded", "Project shop", "/o/demo/projects/1", {}],
  ["project", "namespace_conflict", "Project shop", "/o/demo/projects/1", {}],
  ["project", "cleanup_degraded", "Project shop", "/o/demo/projects/1", {}],
  ["addon_instance", "failed", "Addon shop", "/o/demo/addons/1", {}],
  ["addon_instance", "degraded", "Addon shop", "/o/demo/addons/1", {}],
  ["provisioning_job", "provisioning_failed", "Provisioning of shop", "/o/demo/clusters/c/jobs/1", {}],
  ["cli_token", "expires_soon", "CLI token shop", "/account", { tab: "tokens" }],
])(
  "[WC71] an attention item for %s that is %s says its cause and leads to where it is resolved",
  (kind, reason, title, to, search) => {
    const view = attentionView({ ...item, kind, reason }, "demo");
    expect(view).toMatchObject({ title, action: { to, search } });
    expect(view.cause).not.toBe("");
    expect(view.action.label).not.toBe("Open it");
  },
);

test("[WC71] an attention item shows the cause in the words of the cluster, and its tone is that of the severity", () => {
  expect(attentionView({ ...item, message: "ImagePullBackOff" }, "demo")).toMatchObject({
    cause: "ImagePullBackOff",
    status: { tone: "bad" },
  });
  expect(attentionView({ ...item, severity: "warning" }, "demo").status.tone).toBe("warning");
});

test.each([
  ["roll_back", "Roll back", { tab: "deployments", project: "p" }],
  ["edit", "Edit", { tab: "configuration", project: "p" }],
  ["retry", "Retry", { tab: "deployments", project: "p" }],
  ["see_pods", "See its pods", { project: "p" }],
] as const)("[WC71] the action %s of an attention item is offered as %s", (action, label, search) => {
  expect(attentionView({ ...item, reason: "held_up", action }, "demo").action).toMatchObject({ label, search });
});

test.each([
  ["edit", { tab: "values" }],
  ["roll_back", { tab: "revisions" }],
] as const)("[OV332] the action %s of an addon leads to the page where it is taken", (action, search) => {
  const failed = { ...item, kind: "addon_instance", project_id: null, action } as const;
  expect(attentionView(failed, "demo").action).toMatchObject({ to: "/o/demo/addons/1", search });
});

test("[WC71] an attention item names the other apps with the same cause, and they can be opened", () => {
  const others_named = [{ id: "2", name: "api", namespace: "web", project_id: "q" }];
  expect(attentionView({ ...item, others: 4, others_named }, "demo")).toMatchObject({
    title: "App web/shop and 4 more",
    others: [{ name: "web/api", to: "/o/demo/apps/web/api", search: { project: "q" } }],
  });
});

test("[WC71] a hostile name in an attention item cannot lead to another page", () => {
  expect(attentionView({ ...item, name: "../../admin" }, "demo").action.to).toBe("/o/demo/apps/web/..%2F..%2Fadmin");
});

test("[WC71] every reason of the API is shown and can be opened, also for a kind that it is not meant for", () => {
  const { reason } = openapi.components.schemas.AttentionItem.properties;
  for (const each of reason.enum) {
    const view = attentionView({ ...item, kind: "project", reason: each as AttentionItem["reason"] }, "demo");
    expect(view.status.word).toMatch(/^[A-Z]/);
    expect(view.action.to).toBe("/o/demo/projects/1");
  }
});

test.each([
  ["cluster.create", "created"],
  ["cluster.rotate_token", "rotated the token of"],
  ["cluster.report_stage", "reported the stage of"],
  ["cluster.mint_agent_credentials", "made the agent credentials of"],
  ["app.update_secrets", "changed the secrets of"],
  ["app.exec", "opened a terminal in"],
  ["app.rollback", "rolled back"],
  ["app.attach_addon", "attached an addon to"],
  ["stack_template.deploy", "deployed"],
  ["registry_secret.attach", "attached"],
  ["provisioning_job.retry", "retried"],
])("[WC71] the action %s reads as %s in the list of activities", (action, words) => {
  expect(activityText(action)).toBe(words);
});

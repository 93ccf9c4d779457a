import type { AppEvent, AuditEntry, DeploymentListItem } from "@binnacle/client";
import { expect, test } from "vitest";
import { timelineOf } from "./activity.ts";

const event = (last_seen_at: string | null, rest: Partial<AppEvent> = {}): AppEvent => ({
  type: "Normal",
  reason: "Started",
  message: "Started container web",
  count: 1,
  first_seen_at: null,
  last_seen_at,
  object: { kind: "Pod", name: "web-1", component: "web" },
  ...rest,
});
const entry = (at: string, rest: Partial<AuditEntry> = {}): AuditEntry => ({
  id: at,
  at,
  actor: { id: "u", email: "ada@example.com" },
  via: "user",
  source_address: null,
  action: "app.scale",
  resource: { type: "app", id: "a", name: "shop/web" },
  changes: { replicas: 3 },
  summary: null,
  request_id: null,
  ...rest,
});
const deployment = {
  deployment_id: "d1",
  revision: 4,
  operation: "scale",
  status: "failed",
  message: "too slow",
  summary: "web: 2 → 3 replicas",
  created_by: null,
  created_at: "2026-01-31T09:01:00.000Z",
} as unknown as DeploymentListItem;

test("[WC54] [WC237] events of Kubernetes and actions of people are on one time line, the latest first", () => {
  const items = timelineOf({
    events: [
      event("2026-01-31T09:00:00.000Z"),
      event("2026-01-31T09:02:00Z", { type: "Warning", count: 3 }),
      event(null),
    ],
    audit: [entry("2026-01-31T09:01:30.000Z", { action: "app.exec" }), entry(deployment.created_at)],
    deployments: [deployment],
  });
  expect(items.map(({ title, tone, by, detail }) => [title, tone, by, detail])).toEqual([
    ["Started", "warning", "Pod web-1", "Started container web (3 times)"],
    ["Terminal opened", "progress", "ada@example.com", "replicas"],
    // The audit entry of the same change is left out.
    ["#4 Scaled", "bad", "the system", "web: 2 → 3 replicas — too slow"],
    ["Started", "unknown", "Pod web-1", "Started container web"],
  ]);
});

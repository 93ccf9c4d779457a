import type { Event } from "@binnacle/client";
import { expect, test } from "vitest";
import openapi from "../../../../openapi.json" with { type: "json" };
import { isOutdated, OUTDATED_BY, type ReadKey } from "./live.ts";

const event = (
  resource: Partial<Event["resource"]>,
  type: Event["type"] = "app",
): Pick<Event, "type" | "resource"> => ({
  type,
  resource: { type: "app", id: "1", name: "shop", ...resource },
});
const shop: ReadKey = ["getApp", { namespace: "web", name: "shop" }];

test.each<[string, ReadKey, Pick<Event, "type" | "resource">, boolean]>([
  ["anything, when the user's roles have changed", shop, event({ type: "user" }, "access"), true],
  ["the app itself", shop, event({ namespace: "web" }), true],
  ["an app of the same name in another namespace", shop, event({ namespace: "other" }), false],
  ["another app", shop, event({ namespace: "web", name: "other" }), false],
  ["an audit entry, which names no namespace", shop, event({ name: "web/shop" }, "activity"), true],
  ["an audit entry of another app", shop, event({ name: "web/other" }, "activity"), false],
  ["the list of all apps", ["listAppSummaries", { page: 1 }], event({ namespace: "web" }), true],
  ["the overview", ["getOrgOverview", { id: "o" }], event({ namespace: "web" }), true],
  ["its deployments", ["listDeployments", { namespace: "web", name: "shop" }], event({ namespace: "web" }), true],
  ["a cluster, when an app changes", ["getCluster", { id: "c" }], event({ namespace: "web" }), false],
  ["the cluster itself", ["getCluster", { id: "c" }], event({ type: "cluster", id: "c" }, "cluster-status"), true],
  ["another cluster", ["getCluster", { id: "c" }], event({ type: "cluster", id: "d" }, "cluster-status"), false],
  [
    "the overview of the organization, when a cluster changes",
    ["getOrgOverview", { id: "o" }],
    event({ type: "cluster", id: "c" }),
    true,
  ],
  ["the map of the fleet, when an app changes", ["getFleet", { org_id: "o" }], event({ namespace: "web" }), true],
  ["an app, when the operator of a cluster is lost", shop, event({ type: "cluster", id: "c" }, "cluster-status"), true],
  [
    "an addon, likewise",
    ["getAddonInstance", { id: "a" }],
    event({ type: "cluster", id: "c" }, "cluster-status"),
    true,
  ],
  ["a project, likewise", ["getProject", { id: "p" }], event({ type: "cluster", id: "c" }, "cluster-status"), true],
  ["a job, when its cluster changes", ["getProvisioningJob", { id: "j" }], event({ type: "cluster", id: "c" }), true],
  ["the audit log, by any activity", ["listAuditLog", { id: "o" }], event({ type: "task" }, "activity"), true],
  ["the audit log, by a report of a cluster", ["listAuditLog", { id: "o" }], event({ namespace: "web" }), false],
  ["a read that never changes", ["getVersion", {}], event({}), false],
])("[WC3] an event outdates what it is about and nothing else: %s", (_, key, given, expected) => {
  expect(isOutdated(key, given)).toBe(expected);
});

/** Reads that are not kept live, each for a reason: they never change, are asked for once, or are followed by a stream of their own. */
const NOT_LIVE: readonly string[] = [
  "browseTemplateRegistry",
  "diffBundles",
  "execComponent",
  "getAddonDefinition",
  "getAppMetrics",
  "getBundle",
  "getChartRepository",
  "getClusterMetrics",
  "exportAuditLog",
  "getClusterGitops",
  "getComponentRun",
  "getDeviceLogin",
  "getInstallCommand",
  "getOperatorUpgrade",
  "getProvisioningLogs",
  "getRateLimit",
  "getSshKey",
  "getSystemStatus",
  "getTask",
  "getVersion",
  "inspectChart",
  "listAddonDefinitions",
  "listBundles",
  "listCloudProviders",
  "listOperatorUpgrades",
  "listRateLimits",
  "listTiers",
  "previewAddonInstanceDeletion",
  "previewAppDeletion",
  "previewProjectDeletion",
  "search",
];

const isStreamAlone = (answer: string | undefined) =>
  answer?.includes("text/event-stream") && !answer.includes('"application/json":');

test("[WC3] every read of the API is kept live, or is listed as one that need not be", () => {
  const reads = Object.values(openapi.paths)
    .flatMap((path) => ("get" in path && path.get ? [path.get] : []))
    .filter((operation) => !isStreamAlone(JSON.stringify(operation.responses[200 as never])))
    .map(({ operationId }) => operationId);
  const known = [...Object.keys(OUTDATED_BY), ...NOT_LIVE, "listAuditLog"];
  expect(reads.filter((name) => !known.includes(name))).toEqual([]);
  expect(known.filter((name) => !reads.includes(name))).toEqual([]);
});

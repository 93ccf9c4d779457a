import { LABELS } from "@binnacle/contract";
import { expect, test, vi } from "vitest";
import { ownLabels } from "../desired/ownership.ts";
import type { KubeClient, KubeObject } from "../kube/kube-client.ts";
import { createExec } from "./exec.adapter.ts";

const CLUSTER_ID = "01932c07-31f1-7a4e-8d8b-6f1a2f0c5d11";

/** An API server that selects by labels, as the real one does. */
function setUp(pods: Readonly<Record<string, Record<string, string>>>) {
  const objects = Object.entries(pods).map(
    ([name, labels]): KubeObject => ({
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name, namespace: "shop", uid: name, labels },
      spec: { containers: [{ name: "main" }] },
      status: { phase: "Running", containerStatuses: [{ name: "main", state: { running: {} } }] },
    }),
  );
  const list = vi.fn(async (_type: unknown, { labelSelector = "" }: { labelSelector?: string } = {}) => {
    const wanted = labelSelector.split(",").map((part) => part.split("="));
    const isMeant = ({ metadata: { labels = {} } }: KubeObject) =>
      wanted.every(([key = "", value]) => (key.startsWith("!") ? !(key.slice(1) in labels) : labels[key] === value));
    return { resourceVersion: "1", items: objects.filter(isMeant) };
  });
  const run = vi.fn();
  const exec = createExec({
    kube: { list, exec: run } as unknown as KubeClient,
    clusterId: CLUSTER_ID,
    componentsOf: (namespace, app) =>
      namespace === "shop" && app === "store"
        ? [
            { name: "web", release: null },
            { name: "db", release: { namespace: "shop", name: "store-db" } as never },
          ]
        : null,
    releasePods: {
      read: async () => ({ release: "store-db", makers: [{ kind: "Pod", name: "db-0", selector: null }] }),
    },
  });
  const ask = (component: string, pod: string | null = null, app = "store") =>
    exec({
      name: "exec",
      namespace: "shop",
      app,
      component,
      pod,
      container: null,
      command: ["ls"],
      tty: false,
      size: { cols: 80, rows: 24 },
    });
  return { ask, run };
}

const own = (component: string, clusterId = CLUSTER_ID) => ({
  ...ownLabels(clusterId),
  [LABELS.app]: "store",
  [LABELS.component]: component,
});
const PODS = {
  "web-0": own("web"),
  "worker-0": own("worker"),
  "foreign-0": own("web", "01932c07-31f1-7a4e-8d8b-6f1a2f0c5d99"),
  "kube-proxy": {},
  "db-0": {},
};

test("[EX13] a command runs in the component's own pods alone, whatever pod name is given", async () => {
  const { ask, run } = setUp(PODS);
  const target = await ask("web");
  expect(target).toMatchObject({ pod: "web-0", container: "main" });
  for (const other of ["worker-0", "foreign-0", "kube-proxy", "db-0", "../web-0"]) {
    await expect(ask("web", other)).rejects.toMatchObject({ code: "not_found" });
  }
  expect(run).not.toHaveBeenCalled();
  target.start({ output: vi.fn(), ended: vi.fn() });
  expect(run.mock.calls[0]?.slice(0, 2)).toEqual(["shop", "web-0"]);
});

test("[EX13] a command for a release runs in the pods of the release, and not in others", async () => {
  const { ask } = setUp(PODS);
  expect(await ask("db")).toMatchObject({ pod: "db-0" });
  await expect(ask("db", "kube-proxy")).rejects.toMatchObject({ code: "not_found" });
  await expect(ask("db", "web-0")).rejects.toMatchObject({ code: "not_found" });
});

test("[EX13] a command for a component or an app that the cluster does not hold is not found", async () => {
  const { ask } = setUp(PODS);
  await expect(ask("worker")).rejects.toMatchObject({ code: "not_found" });
  await expect(ask("web", null, "other")).rejects.toMatchObject({ code: "not_found" });
});

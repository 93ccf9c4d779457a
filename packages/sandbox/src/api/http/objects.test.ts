import { describe, expect, test } from "vitest";
import type { KubeObject } from "../../store/kube-object.ts";
import { ask, pathIn } from "./ask.fixture.ts";
import { bareCluster } from "./bare-cluster.fixture.ts";

const config = (name: string, data: object = {}) => ({ metadata: { name }, data });
const pod = (name: string, spec: object = {}) => ({
  metadata: { name },
  spec: { nodeName: "n", containers: [{ name: "c", image: "x:1" }], ...spec },
});

function world() {
  const cluster = bareCluster();
  const send = (method: string, path: string, body?: unknown, type?: string) =>
    ask(cluster.handler, { method, path: pathIn("shop", path), body, type });
  return { ...cluster, send };
}

describe("a list", () => {
  test("[SA15] comes in pages that make a whole, as of its first page", () => {
    const { send, store } = world();
    for (const name of ["c", "a", "e", "b", "d"]) store.create("configmaps", { metadata: { name, namespace: "shop" } });
    const names: string[] = [];
    const versions = new Set<string>();
    let token = "";
    do {
      const { answer } = send("GET", `configmaps?limit=2&continue=${token}`);
      const { metadata, items } = answer as {
        metadata: { resourceVersion: string; continue?: string };
        items: KubeObject[];
      };
      names.push(...items.map((item) => item.metadata.name));
      versions.add(metadata.resourceVersion);
      token = metadata.continue ?? "";
      store.create("secrets", { metadata: { generateName: "x-", namespace: "shop" } });
    } while (token !== "");
    expect(names).toEqual(["a", "b", "c", "d", "e"]);
    expect(versions.size).toBe(1);
  });

  test("[SA15] that is too old to go on is refused as gone, and a token that is none as bad", () => {
    const { handler, store } = bareCluster({ historyLength: 2 });
    for (const name of ["a", "b"]) store.create("configmaps", { metadata: { name, namespace: "shop" } });
    const path = pathIn("shop", "configmaps");
    const { answer } = ask(handler, { path: `${path}?limit=1` });
    const token = (answer as { metadata: { continue: string } }).metadata.continue;
    for (let number = 0; number < 9; number++)
      store.create("secrets", { metadata: { generateName: "x-", namespace: "shop" } });
    expect(ask(handler, { path: `${path}?limit=1&continue=${token}` })).toMatchObject({
      status: 410,
      answer: { reason: "Expired" },
    });
    expect(ask(handler, { path: `${path}?limit=1&continue=x` })).toMatchObject({ status: 400 });
  });
});

describe("a write", () => {
  test("[SA41] for trial answers as it would, and changes nothing", () => {
    const { send, core } = world();
    const { version } = core.table;
    expect(send("POST", "configmaps?dryRun=All", config("a", { x: "1" }))).toMatchObject({
      status: 201,
      answer: { data: { x: "1" } },
    });
    expect(send("GET", "configmaps/a").status).toBe(404);
    expect(core.table.version).toBe(version);
  });

  test("[SA23] counts up the generation with the spec only, and makes no version when it changes nothing", () => {
    const { send, core } = world();
    const template = { metadata: { labels: { a: "b" } }, spec: { containers: [{ name: "c", image: "x:1" }] } };
    send("POST", "deployments.apps", {
      metadata: { name: "d" },
      spec: { selector: { matchLabels: { a: "b" } }, template },
    });
    const patched = (path: string, body: object) =>
      send("PATCH", path, body, "application/merge-patch+json").answer as KubeObject;
    expect(patched("deployments.apps/d", { metadata: { labels: { x: "y" } } }).metadata.generation).toBe(1);
    expect(patched("deployments.apps/d/status", { status: { replicas: 3 }, spec: { replicas: 9 } })).toMatchObject({
      metadata: { generation: 1 },
      spec: { replicas: 1 },
      status: { replicas: 3 },
    });
    const changed = patched("deployments.apps/d", { spec: { replicas: 2 }, status: { replicas: 9 } });
    expect(changed).toMatchObject({ metadata: { generation: 2 }, status: { replicas: 3 } });
    const { version } = core.table;
    expect(patched("deployments.apps/d", { spec: { replicas: 2 } }).metadata.resourceVersion).toBe(
      changed.metadata.resourceVersion,
    );
    expect(core.table.version).toBe(version);
  });

  test("[SA31] of the scale is managed as such", () => {
    const { send, store } = world();
    const template = { metadata: { labels: { a: "b" } }, spec: { containers: [{ name: "c", image: "x:1" }] } };
    send("POST", "deployments.apps", {
      metadata: { name: "d" },
      spec: { selector: { matchLabels: { a: "b" } }, template },
    });
    store.scale("deployments.apps", "d", "shop", 4);
    const { metadata } = store.get("deployments.apps", "d", "shop") ?? { metadata: { managedFields: [] } };
    expect(
      metadata.managedFields?.map(({ manager, subresource, fieldsV1 }) => [
        manager,
        subresource,
        JSON.stringify(fieldsV1).includes("f:replicas"),
      ]),
    ).toEqual([
      ["kube-controller-manager", "scale", true],
      ["tester", undefined, false],
    ]);
  });
});

describe("a deletion", () => {
  test("[SA42] gives a pod that runs its grace, and none to one that does not", () => {
    const { send, store } = world();
    send("POST", "pods", pod("runs"));
    send("POST", "pods", pod("waits", { nodeName: "" }));
    expect(send("DELETE", "pods/runs").answer).toMatchObject({
      metadata: { deletionGracePeriodSeconds: 30, deletionTimestamp: expect.any(String) },
    });
    expect(store.get("pods", "runs", "shop")).not.toBeNull();
    send("DELETE", "pods/runs", { gracePeriodSeconds: 0 });
    send("DELETE", "pods/waits");
    expect(store.list("pods")).toEqual([]);
  });

  test("[SA42] in the foreground, or with orphans, is left to whoever collects garbage", () => {
    const { send } = world();
    send("POST", "configmaps", config("a"));
    send("POST", "configmaps", config("b"));
    expect(send("DELETE", "configmaps/a", { propagationPolicy: "Foreground" }).answer).toMatchObject({
      metadata: { finalizers: ["foregroundDeletion"] },
    });
    expect(send("DELETE", "configmaps/b?propagationPolicy=Orphan").answer).toMatchObject({
      metadata: { finalizers: ["orphan"] },
    });
    expect(send("DELETE", "configmaps/b?propagationPolicy=Background").answer).toMatchObject({ status: "Success" });
  });

  test("[SA42] of a selection takes what is of it", () => {
    const { send, store } = world();
    for (const name of ["a", "b", "c"])
      send("POST", "configmaps", { metadata: { name, labels: { of: name === "c" ? "x" : "y" } } });
    send("DELETE", "configmaps?labelSelector=of=y");
    expect(store.list("configmaps").map(({ metadata }) => metadata.name)).toEqual(["c"]);
  });

  test("[SA43] of a namespace closes it, and ends when it is finalized", () => {
    const { send, store } = world();
    expect(send("DELETE", "/api/v1/namespaces/shop").answer).toMatchObject({ status: { phase: "Terminating" } });
    expect(send("POST", "configmaps", config("a"))).toMatchObject({
      status: 403,
      answer: {
        reason: "Forbidden",
        details: { causes: [{ reason: "NamespaceTerminating", field: "metadata.namespace" }] },
      },
    });
    store.finalizeNamespace("shop");
    expect(send("GET", "/api/v1/namespaces/shop").status).toBe(404);
  });
});

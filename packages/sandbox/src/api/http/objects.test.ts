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
  test("[SA15] a list comes in pages that together are the list at the time of its first page", () => {
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

  test("[SA15] a page of a list that is too old is refused as gone, and an invalid token as a bad request", () => {
    const { handler, store } = bareCluster({ historyLength: 2 });
    for (const name of ["a", "b"]) store.create("configmaps", { metadata: { name, namespace: "shop" } });
    const path = pathIn("shop", "configmaps");
    const { answer } = ask(handler, { path: `${path}?limit=1` });
    const token = (answer as { metadata: { continue: string } }).metadata.continue;
    for (let number = 0; number < 9; number++)
      store.create("secrets", { metadata: { generateName: "x-", namespace: "shop" } });
    const refused = ask(handler, { path: `${path}?limit=1&continue=${token}` });
    expect(refused).toMatchObject({ status: 410, answer: { reason: "Expired" } });
    const { continue: rest } = (refused.answer as { metadata: { continue: string } }).metadata;
    expect(ask(handler, { path: `${path}?limit=1&continue=${rest}` })).toMatchObject({
      status: 200,
      answer: { items: [{ metadata: { name: "b" } }] },
    });
    expect(ask(handler, { path: `${path}?limit=1&continue=x` })).toMatchObject({ status: 400 });
  });
});

describe("the metadata of objects", () => {
  const asking = (as: string) => `application/json;as=${as};g=meta.k8s.io;v=v1`;
  const partial = (name: string) => ({
    kind: "PartialObjectMetadata",
    apiVersion: "meta.k8s.io/v1",
    metadata: { name },
  });

  test("[SA54] of an object and of a list the metadata alone is answered where that is asked for", () => {
    const { handler, store } = bareCluster();
    store.create("configmaps", { metadata: { name: "a", namespace: "shop" }, data: { x: "1" } });
    const read = (as: string, path: string) => ask(handler, { path: pathIn("shop", path), accept: asking(as) });
    const one = read("PartialObjectMetadata", "configmaps/a").answer;
    expect(one).toMatchObject(partial("a"));
    expect(one).not.toHaveProperty("data");
    const { answer } = read("PartialObjectMetadataList", "configmaps");
    expect(answer).toMatchObject({ kind: "PartialObjectMetadataList", items: [partial("a")] });
    expect(JSON.stringify(answer)).not.toContain('"data"');
    expect(read("PartialObjectMetadataList", "configmaps/a").status).toBe(406);
    expect(read("PartialObjectMetadata", "configmaps").status).toBe(406);
  });
});

describe("a write", () => {
  test("[SA41] a dry run answers as the write would, and changes nothing", () => {
    const { send, core } = world();
    const { version } = core.table;
    expect(send("POST", "configmaps?dryRun=All", config("a", { x: "1" }))).toMatchObject({
      status: 201,
      answer: { data: { x: "1" } },
    });
    expect(send("GET", "configmaps/a").status).toBe(404);
    expect(core.table.version).toBe(version);
  });

  test("[SA23] the generation grows with the spec only, and a write that changes nothing makes no version", () => {
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

  test("[SA31] a write to the scale subresource is recorded as such in managedFields", () => {
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
  test("[SA42] a deleted pod that runs has a grace period, and one that does not run has none", () => {
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

  test("[SA42] a deletion in the foreground, or with orphans, leaves a finalizer for the garbage collector", () => {
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

  test("[SA42] deleting a collection deletes the objects that the selector selects", () => {
    const { send, store } = world();
    for (const name of ["a", "b", "c"])
      send("POST", "configmaps", { metadata: { name, labels: { of: name === "c" ? "x" : "y" } } });
    send("DELETE", "configmaps?labelSelector=of=y");
    expect(store.list("configmaps").map(({ metadata }) => metadata.name)).toEqual(["c"]);
  });

  test("[SA43] a deleted namespace accepts no new objects, and is gone when it is finalized", () => {
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

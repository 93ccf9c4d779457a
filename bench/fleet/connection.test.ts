import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { createKubeClient } from "../../packages/operator/src/kube/client.adapter.ts";
import type { KubeClient, ResourceType } from "../../packages/operator/src/kube/kube-client.ts";
import { type Sandbox, startSandbox } from "../../packages/sandbox/src/sandbox.adapter.ts";
import { connectionTo } from "./connection.adapter.ts";

const CONFIGS: ResourceType = { group: "", version: "v1", plural: "configmaps", kind: "ConfigMap", namespaced: true };
const config = (name: string) => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name, namespace: "default" },
  data: { text: "größer ✓" },
});

let sandbox: Sandbox;
let client: KubeClient;
beforeEach(async () => {
  sandbox = await startSandbox({ name: "near", port: null, historyLength: 3 });
  client = createKubeClient({
    server: "http://127.0.0.1:1",
    ca: null,
    isInsecure: false,
    serverName: null,
    namespace: null,
    identity: async () => ({ token: null, certificate: null, key: null }),
    connection: connectionTo(sandbox.handle),
  });
});
afterEach(async () => {
  await client.close();
  await sandbox.stop();
});

describe("the operator's client on a sandbox of its process", () => {
  test("[FL4] the operator's client writes, reads, lists and deletes on a sandbox of its own process", async () => {
    await client.apply(config("a"));
    expect(await client.get(CONFIGS, "a", "default")).toMatchObject({ data: { text: "größer ✓" } });
    const { items } = await client.list(CONFIGS, { namespace: "default", fieldSelector: "metadata.name=a" });
    expect(items.map(({ metadata }) => metadata.name)).toEqual(["a"]);
    await client.delete(CONFIGS, "a", "default");
    expect(await client.get(CONFIGS, "a", "default")).toBeNull();
  });

  test("[FL4] the operator's client is refused by a sandbox of its process as by the API", async () => {
    await client.create(config("a"));
    await expect(client.create(config("a"))).rejects.toMatchObject({ status: 409, reason: "AlreadyExists" });
    await expect(client.resourceTypeOf("nowhere.dev/v1", "Thing")).rejects.toMatchObject({ reason: "UnknownKind" });
  });

  test("[FL4] a watch on a sandbox of the same process follows changes until the reader ends it, and leaves no listener", async () => {
    const { resourceVersion } = await client.list(CONFIGS, { namespace: "default" });
    const stop = new AbortController();
    const seen: string[] = [];
    const watching = (async () => {
      for await (const event of client.watch(CONFIGS, { namespace: "default", resourceVersion, signal: stop.signal }))
        if ("object" in event) seen.push(`${event.type} ${event.object.metadata.name}`);
    })();
    await client.create(config("a"));
    await client.delete(CONFIGS, "a", "default");
    await vi.waitFor(() => expect(seen).toEqual(["ADDED a", "DELETED a"]));
    stop.abort();
    await watching;
    await client.create(config("b"));
    expect(seen).toHaveLength(2);
  });

  test("[FL4] a watch from a version that the sandbox no longer keeps ends with 410", async () => {
    for (const name of ["a", "b", "c", "d"]) await client.create(config(name));
    const { signal } = new AbortController();
    const watching = client
      .watch(CONFIGS, { namespace: "default", resourceVersion: "1", signal })
      [Symbol.asyncIterator]();
    const { value: first } = await watching.next();
    expect(first).toMatchObject({ type: "ERROR", error: { status: 410 } });
    await watching.return?.();
  });
});

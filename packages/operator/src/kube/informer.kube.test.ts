import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { binaryFolder } from "../../../../test/kube/binaries.ts";
import { type Kube, startKube } from "../../../../test/kube/cluster.ts";
import { createKubeClient } from "./client.adapter.ts";
import { startInformer } from "./informer.adapter.ts";
import type { KubeClient, KubeObject, ResourceType } from "./kube-client.ts";
import { kubeAccessFrom } from "./kubeconfig.adapter.ts";

/** Not the cluster of the other tests, as its API server is killed here. */
const binaries = binaryFolder();
let kube: Kube;
let client: KubeClient;
beforeAll(async () => {
  if (!binaries) return;
  kube = await startKube({ binaries, parts: [] });
  client = createKubeClient(await kubeAccessFrom({ KUBECONFIG: kube.kubeconfigPath }));
});
afterAll(async () => {
  await client?.close();
  await kube?.stop();
});

const CONFIGS: ResourceType = { group: "", version: "v1", plural: "configmaps", kind: "ConfigMap", namespaced: true };
const selection = { namespace: "default", labelSelector: "followed=yes" };

const write = (name: string, value: string) =>
  client.apply({
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name, namespace: "default", labels: { followed: "yes" } },
    data: { value },
  });
const remove = (name: string) => client.delete(CONFIGS, name, "default");

function following() {
  const seen = new Map<string, string>();
  const log = { warn: vi.fn(), info: vi.fn() };
  const onChange = (key: string, object: KubeObject | null) => {
    if (object) seen.set(key, (object["data"] as { value: string }).value);
    else seen.delete(key);
  };
  const informer = startInformer({ client, type: CONFIGS, ...selection, onChange, log });
  return { informer, seen, log };
}

test.skipIf(!binaries)("[KU51] an informer follows a real cluster, through the death of its API server", async () => {
  await write("before", "1");
  const { informer, seen, log } = following();
  await informer.synced;
  await write("before", "2");
  await write("brief", "1");
  await vi.waitFor(
    () => expect(Object.fromEntries(seen)).toEqual({ "default/before": "2", "default/brief": "1" }),
    10_000,
  );

  await kube.stopApiServer("SIGKILL");
  await vi.waitFor(() => expect(log.warn).toHaveBeenCalledOnce(), 10_000);
  await kube.startApiServer();
  await remove("brief");
  await write("before", "3");
  await write("after", "1");
  await vi.waitFor(
    () => expect(Object.fromEntries(seen)).toEqual({ "default/before": "3", "default/after": "1" }),
    40_000,
  );
  expect(informer.list()).toHaveLength(2);
  expect(informer.missed).toBe(0);
  await informer.stop();

  // A server that has just started remembers nothing of the beginning.
  const ancient = client.watch(CONFIGS, { ...selection, resourceVersion: "1", signal: AbortSignal.timeout(20_000) });
  const first = await ancient[Symbol.asyncIterator]().next();
  expect(first.value).toMatchObject({ type: "ERROR", error: { status: 410 } });
});

import { randomBytes } from "node:crypto";
import { inject } from "vitest";
import type {} from "../../../../test/kube/setup.ts";
import { createKubeClient } from "./client.adapter.ts";
import type { KubeClient, ResourceType } from "./kube-client.ts";
import { kubeAccessFrom } from "./kubeconfig.adapter.ts";

export const NAMESPACES: ResourceType = {
  group: "",
  version: "v1",
  plural: "namespaces",
  kind: "Namespace",
  namespaced: false,
};

/** A client of the real cluster of this run, as its administrator or as whom a token says. */
export async function clusterClient({ token }: { token?: string } = {}): Promise<KubeClient> {
  const access = await kubeAccessFrom({ KUBECONFIG: inject("kubeconfig") });
  const identity = token === undefined ? access.identity : async () => ({ token, certificate: null, key: null });
  return createKubeClient({ ...access, identity });
}

/** A namespace that nobody else uses. Its removal is begun and not waited for, as it takes its time. */
export async function freshNamespace(client: KubeClient) {
  const name = `test-${randomBytes(5).toString("hex")}`;
  await client.create({ apiVersion: "v1", kind: "Namespace", metadata: { name } });
  return { name, remove: () => client.delete(NAMESPACES, name) };
}

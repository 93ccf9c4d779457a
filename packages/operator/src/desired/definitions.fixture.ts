import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { API_GROUP, API_VERSION } from "@binnacle/contract";
import { load } from "js-yaml";
import { vi } from "vitest";
import type { KubeClient, KubeObject } from "../kube/kube-client.ts";

const FOLDER = fileURLToPath(new URL("../../../../deploy/charts/binnacle-operator/files/crds", import.meta.url));

export async function readDefinitions(): Promise<KubeObject[]> {
  const files = (await readdir(FOLDER)).sort();
  return Promise.all(files.map(async (file) => load(await readFile(join(FOLDER, file), "utf8")) as KubeObject));
}

/** Helm takes objects that carry this for its own, so that the chart can still be installed afterwards. */
const HELM = {
  labels: { "app.kubernetes.io/managed-by": "Helm" },
  annotations: {
    "meta.helm.sh/release-name": "binnacle-operator",
    "meta.helm.sh/release-namespace": "binnacle-system",
    "helm.sh/resource-policy": "keep",
  },
};

/** Makes Binnacle's kinds known to a cluster; several tests may do so at once. */
export async function installDefinitions(kube: KubeClient): Promise<void> {
  const definitions = await readDefinitions();
  for (const { metadata, ...definition } of definitions) {
    const owned = { ...definition, metadata: { ...metadata, ...HELM } } as KubeObject;
    await kube.apply(owned, { force: true, fieldManager: "helm" });
  }
  for (const kind of ["Project", "App", "AddonInstance"]) {
    await vi.waitFor(() => kube.resourceTypeOf(`${API_GROUP}/${API_VERSION}`, kind), {
      timeout: 20_000,
      interval: 100,
    });
  }
}

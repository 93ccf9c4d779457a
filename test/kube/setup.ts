import type { TestProject } from "vitest/node";
import { createKubeClient } from "../../packages/operator/src/kube/client.adapter.ts";
import { kubeAccessFrom } from "../../packages/operator/src/kube/kubeconfig.adapter.ts";
import { binaryFolder } from "./binaries.ts";
import { isKnown, startKube } from "./cluster.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** The way to the cluster that all tests of a run share. */
    kubeconfig: string;
    /** If true, pods only seem to run, so that tests can decide how they end. */
    isSimulated: boolean;
  }
}

/** One cluster for the whole run: the one that `BINNACLE_TEST_KUBECONFIG` names, or one of its own. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const given = process.env["BINNACLE_TEST_KUBECONFIG"];
  const binaries = given ? null : binaryFolder();
  const own = binaries ? await startKube({ binaries }) : null;
  const kubeconfig = given ?? own?.kubeconfigPath ?? "";
  const client = createKubeClient(await kubeAccessFrom({ KUBECONFIG: kubeconfig }));
  project.provide("kubeconfig", kubeconfig);
  project.provide("isSimulated", await isKnown(client, "kwok.x-k8s.io/v1alpha1", "ClusterLogs"));
  await client.close();
  return async () => own?.stop();
}

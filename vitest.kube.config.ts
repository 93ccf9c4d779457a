import { defineConfig } from "vitest/config";
import { binaryFolder } from "./test/kube/binaries.ts";
import { ON_A_CLUSTER_MS, ON_KUBERNETES, RUN_FOLDER, SHARED_WORKERS } from "./test/projects.ts";

const hasCluster = Boolean(process.env["BINNACLE_TEST_KUBECONFIG"]) || binaryFolder() !== null;
if (!hasCluster) {
  process.stderr.write(
    "\n*** NOTHING IS TESTED: there is no Kubernetes. Run test/kube/build.sh, which needs Go, or set\n" +
      "*** BINNACLE_KUBE_BIN to a folder with its programs or BINNACLE_TEST_KUBECONFIG to a cluster for tests.\n\n",
  );
}

/** What is proven on a real Kubernetes, apart from the other tests because it takes its time. */
export default defineConfig({
  test: {
    include: hasCluster ? ON_KUBERNETES : [],
    passWithNoTests: !hasCluster,
    globalSetup: hasCluster ? [RUN_FOLDER, "test/world/setup.ts", "test/console/setup.ts", "test/kube/setup.ts"] : [],
    ...SHARED_WORKERS,
    maxWorkers: 2,
    testTimeout: ON_A_CLUSTER_MS,
  },
});

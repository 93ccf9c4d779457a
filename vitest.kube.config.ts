import { defineConfig } from "vitest/config";
import { binaryFolder } from "./test/kube/binaries.ts";

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
    include: hasCluster ? ["packages/*/src/**/*.kube.test.ts", "test/**/*.kube.test.ts"] : [],
    passWithNoTests: !hasCluster,
    globalSetup: hasCluster
      ? ["test/world/run-folder.ts", "test/world/setup.ts", "test/console/setup.ts", "test/kube/setup.ts"]
      : [],
    // As in vitest.config.ts.
    isolate: false,
    pool: "forks",
    maxWorkers: 2,
    testTimeout: 60_000,
    hookTimeout: 120_000,
  },
});

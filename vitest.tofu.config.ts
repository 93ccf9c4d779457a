import { defineConfig } from "vitest/config";
import { findTools } from "./test/tofu/tools.ts";

const tools = findTools();
const hasTools = "tofu" in tools;
if (!hasTools) {
  process.stderr.write(
    `\n*** NOTHING IS TESTED: ${tools.join(", ")} is missing. Run test/tofu/build.sh, which needs Go and Python, or set\n` +
      "*** BINNACLE_TOFU, BINNACLE_AWS_PROVIDER and BINNACLE_MOTO to the programs.\n\n",
  );
}

/** The modules of OpenTofu against a local server with the APIs of AWS, apart from the other tests because it takes its time. */
export default defineConfig({
  test: {
    include: hasTools ? ["test/tofu/**/*.test.ts"] : [],
    passWithNoTests: !hasTools,
    globalSetup: ["test/world/run-folder.ts", "test/world/setup.ts"],
    // As in vitest.config.ts.
    isolate: false,
    pool: "forks",
    maxWorkers: 2,
    testTimeout: 300_000,
    hookTimeout: 300_000,
  },
});

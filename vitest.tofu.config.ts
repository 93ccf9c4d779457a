import { tmpdir } from "node:os";
import { defineConfig } from "vitest/config";
import { BY_TOFU, RUN_FOLDER, SHARED_WORKERS } from "./test/projects.ts";
import { findTools } from "./test/tofu/tools.ts";

const tools = findTools();
const hasTools = "tofu" in tools;
if (!hasTools) {
  process.stderr.write(
    `\n*** NO MODULE IS TESTED: ${tools.join(", ")} is missing. Run test/tofu/build.sh, which needs Go and Python, or set\n` +
      "*** BINNACLE_TOFU, BINNACLE_AWS_PROVIDER and BINNACLE_MOTO to the programs.\n\n",
  );
}

// On disk: the folders of jobs may hold copies of providers, which are too large to keep in memory.
process.env["TMPDIR"] ??= tmpdir();

/**
 * The modules of OpenTofu against a local server with the APIs of AWS, and the worker that runs OpenTofu against a folder
 * as the cloud. Apart from the other tests because it takes its time.
 */
export default defineConfig({
  test: {
    // The worker's say so themselves where there is no OpenTofu.
    include: hasTools ? BY_TOFU : BY_TOFU.filter((files) => !files.startsWith("test/tofu/")),
    globalSetup: [RUN_FOLDER, "test/world/setup.ts"],
    ...SHARED_WORKERS,
    maxWorkers: 2,
    testTimeout: 300_000,
    hookTimeout: 300_000,
  },
});

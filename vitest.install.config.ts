import { defineConfig } from "vitest/config";
import { OF_ITS_OPERATIONS, ON_A_NODE, project, RUN_FOLDER } from "./test/projects.ts";

const LONG = { testTimeout: 180_000, hookTimeout: 300_000 };

/** The chart and the images on a real node, which test/install/run.sh starts. */
export default defineConfig({
  test: {
    // One installation for all projects.
    globalSetup: [RUN_FOLDER, "test/world/setup.ts", "test/install/setup.ts"],
    projects: [
      project("installed", { include: [ON_A_NODE], exclude: [OF_ITS_OPERATIONS], ...LONG }),
      project("operations", {
        include: [OF_ITS_OPERATIONS],
        ...LONG,
        testTimeout: 600_000,
        sequence: { groupOrder: 1 },
      }),
    ],
  },
});

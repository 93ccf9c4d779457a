import { defineConfig } from "vitest/config";
import { RUN_FOLDER, SHARED_WORKERS, UNDER_OUTAGES } from "./test/projects.ts";

/** Whole installations that lose processes, databases and networks under load. They measure times, so one runs after the other. */
export default defineConfig({
  test: {
    include: [UNDER_OUTAGES],
    globalSetup: [RUN_FOLDER],
    ...SHARED_WORKERS,
    maxWorkers: 1,
    testTimeout: 120_000,
  },
});

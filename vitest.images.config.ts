import { tmpdir } from "node:os";
import { defineConfig } from "vitest/config";
import { OF_IMAGES, RUN_FOLDER, SHARED_WORKERS } from "./test/projects.ts";

// On disk: two builds of all images and a copy of the packages are too large to keep in memory.
process.env["TMPDIR"] ??= tmpdir();

/** The images, built twice and run. Apart from the other tests because it downloads parts of other platforms and takes its time. */
export default defineConfig({
  test: {
    include: [OF_IMAGES],
    globalSetup: [RUN_FOLDER, "test/world/setup.ts", "test/images/setup.ts"],
    ...SHARED_WORKERS,
    maxWorkers: 2,
    testTimeout: 120_000,
  },
});

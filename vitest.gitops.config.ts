import { defineConfig } from "vitest/config";
import { AT_A_GIT_HOST, RUN_FOLDER, SHARED_WORKERS } from "./test/projects.ts";

/** Repositories at a real Git host: Debian's gitolite behind OpenSSH. */
export default defineConfig({
  test: {
    include: [AT_A_GIT_HOST],
    globalSetup: [RUN_FOLDER, "test/world/setup.ts"],
    ...SHARED_WORKERS,
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
});

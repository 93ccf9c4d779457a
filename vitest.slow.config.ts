import { defineConfig } from "vitest/config";
import { filesOnlyReal } from "./test/kube/only-real.ts";
import {
  HOSTILE_TEXT,
  IN_A_BROWSER,
  ON_A_CLUSTER_MS,
  ON_KUBERNETES,
  PROGRAMS,
  project,
  REPLICAS,
  RUN_FOLDER,
  SETUP,
  WHOLE_PROCESSES,
  WORKERS,
} from "./test/projects.ts";

/** The console in a real browser, the operator on the sandbox, whole processes and hostile text: as long as all of `npm test`. */
export default defineConfig({
  test: {
    projects: [
      project("processes", {
        include: WHOLE_PROCESSES,
        exclude: ON_KUBERNETES,
        globalSetup: [RUN_FOLDER],
      }),
      project("programs", { include: PROGRAMS, globalSetup: [RUN_FOLDER, "test/world/setup.ts"] }),
      project("replicas", { include: [REPLICAS], globalSetup: [RUN_FOLDER, "test/world/setup.ts"] }),
      project("console", {
        include: [IN_A_BROWSER],
        globalSetup: [RUN_FOLDER, "test/world/setup.ts", "test/console/setup.ts"],
        testTimeout: 120_000,
      }),
      project("hostile", { include: HOSTILE_TEXT, globalSetup: [RUN_FOLDER, "test/world/setup.ts"] }),
      project("sandbox", {
        include: ON_KUBERNETES,
        exclude: filesOnlyReal(),
        globalSetup: [RUN_FOLDER, "test/kube/sandbox-setup.ts"],
        setupFiles: [...SETUP, "test/kube/skip-only-real.ts"],
        // These wait for the cluster half of the time. Vitest wants a group of its own for another number of workers.
        maxWorkers: 2 * WORKERS,
        testTimeout: ON_A_CLUSTER_MS,
        sequence: { groupOrder: 1 },
      }),
    ],
  },
});

import { availableParallelism } from "node:os";
import { configDefaults, defineConfig } from "vitest/config";
import { filesOnlyReal } from "./test/kube/only-real.ts";

/** The database that is embedded in the server is tested as what it is, whatever the others run on. */
const EMBEDDED = "packages/server/src/database/embedded/**/*.test.ts";
const ON_A_DATABASE = [
  "packages/server/src/**/*.test.ts",
  "packages/{cli,client}/src/**/*.world.test.ts",
  "test/rules/**/*.test.ts",
  "test/faults/replicas.test.ts",
  "test/provisioning/**/*.test.ts",
];
/** Runs by `npm run fuzz:short`, alone: it measures how late the server's event loop is. */
const FUZZ = "test/fuzz/short.test.ts";
/** The console in a real browser. */
const IN_A_BROWSER = "test/console/**/*.test.ts";
/** Run by `npm run test:tofu`: they take OpenTofu, some also a provider and a server with the APIs of AWS. */
const BY_TOFU = ["test/tofu/**/*.test.ts", "test/provisioning/{jobs,bootstrap,init,crash,stop}.test.ts"];
const ON_KUBERNETES = ["packages/*/src/**/*.kube.test.ts", "test/**/*.kube.test.ts"];

/** Everything that a run starts or writes goes with it, whatever becomes of its tests. */
const RUN_FOLDER = "test/world/run-folder.ts";

/**
 * Of two cores Vitest would use one. Most tests wait for other processes some of the time, so that one worker more than there
 * are cores keeps the machine busy.
 */
const WORKERS = availableParallelism() + 1;

/**
 * The files of a worker share one process and its modules: loading the server anew for each file takes longer than most
 * files run. A test must therefore leave modules, environment and timers as it found them.
 */
const ISOLATE = false;

export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: "database",
          isolate: ISOLATE,
          include: ON_A_DATABASE,
          exclude: [...configDefaults.exclude, EMBEDDED, ...ON_KUBERNETES, ...BY_TOFU],
          globalSetup: [RUN_FOLDER, "test/world/setup.ts"],
          pool: "forks",
          maxWorkers: WORKERS,
          testTimeout: 60_000,
          hookTimeout: 120_000,
        },
      },
      {
        test: {
          name: "alone",
          isolate: ISOLATE,
          include: ["packages/!(server)/src/**/*.test.ts", EMBEDDED, "test/**/*.test.ts"],
          exclude: [
            ...configDefaults.exclude,
            ...ON_A_DATABASE.slice(1),
            ...ON_KUBERNETES,
            FUZZ,
            IN_A_BROWSER,
            ...BY_TOFU,
          ],
          globalSetup: [RUN_FOLDER],
          pool: "forks",
          maxWorkers: WORKERS,
          testTimeout: 60_000,
          hookTimeout: 120_000,
        },
      },
      {
        test: {
          name: "console",
          isolate: ISOLATE,
          include: [IN_A_BROWSER],
          globalSetup: [RUN_FOLDER, "test/world/setup.ts", "test/console/setup.ts"],
          pool: "forks",
          maxWorkers: WORKERS,
          testTimeout: 120_000,
          hookTimeout: 120_000,
        },
      },
      {
        test: {
          name: "sandbox",
          isolate: ISOLATE,
          include: ON_KUBERNETES,
          exclude: [...configDefaults.exclude, ...filesOnlyReal()],
          globalSetup: [RUN_FOLDER, "test/kube/sandbox-setup.ts"],
          setupFiles: ["test/kube/skip-only-real.ts"],
          pool: "forks",
          // These wait for the cluster half of the time. Vitest wants a group of its own for another number of workers.
          maxWorkers: 2 * WORKERS,
          sequence: { groupOrder: 1 },
          testTimeout: 60_000,
          hookTimeout: 120_000,
        },
      },
    ],
  },
});

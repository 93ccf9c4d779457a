import { availableParallelism } from "node:os";
import { configDefaults, type TestProjectInlineConfiguration } from "vitest/config";

/**
 * Of two cores Vitest would use one. Most tests wait for other processes some of the time, so that one worker more than there
 * are cores keeps the machine busy.
 */
export const WORKERS = availableParallelism() + 1;

/** Everything that a run starts or writes goes with it, whatever becomes of its tests. */
export const RUN_FOLDER = "test/world/run-folder.ts";

/** On a real Kubernetes, and against the sandbox. */
export const ON_KUBERNETES = ["packages/*/src/**/*.kube.test.ts", "test/**/*.kube.test.ts"];

/** They take OpenTofu, some also a provider and a server with the APIs of AWS. */
export const BY_TOFU = [
  "test/tofu/**/*.test.ts",
  "test/provisioning/{jobs,guards,bootstrap,init,crash,stop,throttled,upgrade}.test.ts",
];

/** Images that are built twice, and run. */
export const OF_IMAGES = "test/images/*.built.test.ts";

/** They take a real node, on which the control plane is installed. */
export const ON_A_NODE = "test/install/**/*.test.ts";
/** What takes the installation away from the others. */
export const OF_ITS_OPERATIONS = "test/install/operations.test.ts";

/** Whole installations that lose processes, databases and networks. They take Debian's PostgreSQL and Redis, and root. */
export const UNDER_OUTAGES = "test/ha/*.test.ts";

/** They take a real Git host: Debian's gitolite and OpenSSH. */
export const AT_A_GIT_HOST = "test/gitops/**/*.test.ts";

/** The console in a real browser. */
export const IN_A_BROWSER = "test/console/**/*.test.ts";

/** Whole processes: servers and databases that are started, killed and started again, journeys, a fleet. */
export const WHOLE_PROCESSES = [
  "packages/operator/src/main.test.ts",
  "packages/server/src/database/embedded/{embedded,recovery}.test.ts",
  "bench/fleet/fleet.test.ts",
  "test/faults/{durability,full-disk,link,start}.test.ts",
  "test/journeys/*.test.ts",
];

/** Several servers on one database, beside each other and one release after the other. */
export const REPLICAS = "test/faults/{online-migrations,replicas,upgrade}.test.ts";

/** Commands, programs and the examples of a guide, each as a process of its own. */
export const PROGRAMS = [
  "packages/server/src/**/*.command.test.ts",
  "packages/cli/src/*.command.test.ts",
  "packages/client/src/guide.world.test.ts",
  "test/rules/tracing.test.ts",
];

/** Text that others wrote, by its millions of characters, until deadlines pass. */
export const HOSTILE_TEXT = [
  "packages/server/src/http/{hostile-bodies,random-input}.test.ts",
  "packages/server/src/templates/{chart-inspection,readers}.test.ts",
];

/** Measures how late the server's event loop is, so it runs alone. */
export const FUZZ = "test/fuzz/short.test.ts";

/**
 * Tests on a cluster start several operators, each of which has 45 seconds to connect, and up to 12 of them for the Lease of one that
 * was killed. A test that ended before its waits would not say what it waited for.
 */
export const ON_A_CLUSTER_MS = 180_000;

type Options = NonNullable<TestProjectInlineConfiguration["test"]>;

/** Tests of every kind wait long enough for a busy machine, and try the same inputs in every run. */
export const SETUP = ["test/world/patience.ts", "test/seed.ts"];

/**
 * The files of a worker share one process and its modules: loading the server anew for each file takes longer than most
 * files run. A test must therefore leave modules, environment and timers as it found them.
 */
export const SHARED_WORKERS: Options = {
  setupFiles: SETUP,
  isolate: false,
  pool: "forks",
  maxWorkers: WORKERS,
  testTimeout: 60_000,
  hookTimeout: 120_000,
};

export const project = (name: string, { exclude = [], ...options }: Options): TestProjectInlineConfiguration => ({
  test: { name, ...SHARED_WORKERS, exclude: [...configDefaults.exclude, ...exclude], ...options },
});

import { type Config, ConfigProblems, parseConfig } from "./config.ts";
import { startHealth } from "./health.adapter.ts";
import type { KubeAccess } from "./kube/kube-access.ts";
import { kubeAccessFrom } from "./kube/kubeconfig.adapter.ts";
import { KubeconfigError } from "./kube/kubeconfig.ts";
import { createLog } from "./log.adapter.ts";
import { type Operator, startOperator } from "./operator.ts";
import { releaseStartupMemory } from "./startup-memory.adapter.ts";

/** Less than the half minute that Kubernetes gives a pod. */
const STOP_WITHIN_MS = 25_000;
const ECHO_MS = 1_000;
const SETTLED_AFTER_MS = 10_000;
const FIRST_RETRY_MS = 1_000;
const LONGEST_RETRY_MS = 30_000;

const [major = 0] = process.versions.node.split(".").map(Number);
if (major < 24) fail(`The Binnacle operator needs Node.js 24 or newer; this is ${process.versions.node}.`);

const config = readConfig();
const log = createLog(config.logLevel);
let operator: Operator | null = null;
let stoppingSince: number | null = null;

for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => void stop(signal));
process.on("unhandledRejection", (err) => {
  log.fatal({ err }, "something failed that nobody has thought of");
  process.exit(1);
});

const access = await wayToCluster();
await listenForProbes();
const { secrets: _, ...settings } = config;
log.info(settings, "the operator starts");
operator = await startPatiently();
releaseStartupMemory();
// What was still in use then, by the first looks at everything.
setTimeout(releaseStartupMemory, SETTLED_AFTER_MS).unref();
log.info("the operator is ready");

function readConfig(): Config {
  try {
    return parseConfig(process.env);
  } catch (error) {
    if (error instanceof ConfigProblems) fail(error.message);
    throw error;
  }
}

async function wayToCluster(): Promise<KubeAccess> {
  try {
    return await kubeAccessFrom(process.env);
  } catch (error) {
    if (error instanceof KubeconfigError) fail(error.message);
    throw error;
  }
}

async function listenForProbes(): Promise<void> {
  if (config.healthPort === 0) return;
  try {
    await startHealth(config.healthPort, () => operator !== null && stoppingSince === null);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EADDRINUSE") fail(`Port ${config.healthPort} is taken. Choose another with BINNACLE_HEALTH_PORT.`);
    throw error;
  }
}

/** A cluster that does not answer yet is waited for. */
async function startPatiently(): Promise<Operator> {
  for (let retryMs = FIRST_RETRY_MS; ; retryMs = Math.min(2 * retryMs, LONGEST_RETRY_MS)) {
    try {
      return await startOperator(config, { access, env: process.env, log });
    } catch (err) {
      log.warn({ err, retryMs }, "the cluster does not answer; it is tried again until it does");
    }
    await new Promise((resolve) => setTimeout(resolve, retryMs));
  }
}

async function stop(signal: string): Promise<void> {
  if (stoppingSince !== null) {
    // A person who does not want to wait; at once it is npm, which passes on the Ctrl-C that we have had already.
    if (performance.now() - stoppingSince > ECHO_MS) process.exit(1);
    return;
  }
  stoppingSince = performance.now();
  log.info({ signal }, "stopping");
  setTimeout(() => {
    log.warn("what is under way takes too long and is left as it is");
    process.exit(0);
  }, STOP_WITHIN_MS).unref();
  await operator?.stop();
  log.info("stopped");
  process.exit(0);
}

function fail(message: string): never {
  process.stderr.write(`${message}\n`);
  process.exit(1);
}

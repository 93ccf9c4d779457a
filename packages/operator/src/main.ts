import { configOrExit, exitOnOldNode, fail, releaseStartupMemory, stopOnSignal } from "@binnacle/process";
import { openTracer } from "@binnacle/tracing";
import { parseConfig } from "./config.ts";
import { startHealth } from "./health.adapter.ts";
import type { KubeAccess } from "./kube/kube-access.ts";
import { kubeAccessFrom } from "./kube/kubeconfig.adapter.ts";
import { KubeconfigError } from "./kube/kubeconfig.ts";
import { createLog } from "./log.adapter.ts";
import { type Operator, startOperator } from "./operator.adapter.ts";
import { OPERATOR_VERSION } from "./version.ts";

/** Less than the half minute that Kubernetes gives a pod. */
const STOP_WITHIN_MS = 25_000;
const SETTLED_AFTER_MS = 10_000;
const FIRST_RETRY_MS = 1_000;
const LONGEST_RETRY_MS = 30_000;

exitOnOldNode("The Binnacle operator");

const config = configOrExit(parseConfig);
const log = createLog(config.logLevel);
let operator: Operator | null = null;
let isStopping = false;

stopOnSignal(log, stop);
process.on("unhandledRejection", (err) => {
  log.fatal({ err }, "an unexpected error ends the operator");
  process.exit(1);
});

const access = await connectToCluster();
const tracer = await openTracer({
  endpoint: config.tracesEndpoint,
  service: "binnacle-operator",
  version: OPERATOR_VERSION,
  attributes: { "binnacle.cluster_id": config.clusterId },
  log,
});
await listenForProbes();
const { secrets: _, ...settings } = config;
log.info(settings, "the operator starts");
operator = await startWithRetries();
releaseStartupMemory();
// The first reconciles still use memory at that time.
setTimeout(releaseStartupMemory, SETTLED_AFTER_MS).unref();
log.info("the operator is ready");

async function connectToCluster(): Promise<KubeAccess> {
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
    await startHealth(config.healthPort, () => operator !== null && !isStopping);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EADDRINUSE") fail(`Port ${config.healthPort} is taken. Choose another with BINNACLE_HEALTH_PORT.`);
    throw error;
  }
}

/** A cluster that does not answer yet is waited for. */
async function startWithRetries(): Promise<Operator> {
  for (let retryMs = FIRST_RETRY_MS; ; retryMs = Math.min(2 * retryMs, LONGEST_RETRY_MS)) {
    try {
      return await startOperator(config, { access, env: process.env, log, tracer });
    } catch (err) {
      log.warn({ err, retryMs }, "the cluster does not answer; the operator retries");
    }
    await new Promise((resolve) => setTimeout(resolve, retryMs));
  }
}

async function stop(): Promise<void> {
  isStopping = true;
  setTimeout(() => {
    log.warn("the running work takes too long and is abandoned");
    process.exit(0);
  }, STOP_WITHIN_MS).unref();
  await operator?.stop();
  if (operator) await tracer?.stop();
}

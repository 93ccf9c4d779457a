import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import { configOrExit, exitOnOldNode, fail, releaseStartupMemory, stopOnSignal } from "@binnacle/process";
import { openTracer } from "@binnacle/tracing";
import { type Config, parseConfig } from "./config.ts";
import { startHealth } from "./health.adapter.ts";
import { createKubeClient } from "./kube/client.adapter.ts";
import { accessWhile } from "./kube/held-access.ts";
import type { KubeAccess } from "./kube/kube-access.ts";
import { kubeAccessFrom } from "./kube/kubeconfig.adapter.ts";
import { KubeconfigError } from "./kube/kubeconfig.ts";
import { realClock } from "./kube/real-clock.adapter.ts";
import { createMemoryTokenStore, createSecretTokenStore } from "./link/token.adapter.ts";
import { tryHub } from "./link/trial.adapter.ts";
import { createLog } from "./log.adapter.ts";
import { type Operator, startOperator } from "./operator.adapter.ts";
import { createMetrics, type ProcessFacts } from "./reconcile/metrics.ts";
import { createLeadership, type Leadership } from "./upgrade/leadership.runner.ts";
import { OPERATOR_VERSION } from "./version.ts";

/** Less than the half minute that Kubernetes gives a pod. */
const STOP_WITHIN_MS = 25_000;
const SETTLED_AFTER_MS = 10_000;
const FIRST_RETRY_MS = 1_000;
const LONGEST_RETRY_MS = 30_000;
/** Of requests about the Lease, which is to be renewed several times before another process may have it. */
const LEASE_TIMES = { callTimeoutMs: 3_000, longestPauseMs: 1_000 };

exitOnOldNode("The Binnacle operator");

const config = configOrExit(parseConfig);
const log = createLog(config.logLevel);
const metrics = createMetrics();
let operator: Operator | null = null;
let isStopping = false;
let led: Promise<void> | null = null;
const leading = new AbortController();

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
const leadership = leadershipIn(config);
await listenForProbes();
const { secrets: _, ...settings } = config;
log.info(settings, "the operator starts");
led = leadership.run(leading.signal, lead);
await led;

/**
 * Works until it is stopped. Another process may begin before the Lease is known to be lost, as where this one was frozen, so nothing is
 * sent to the cluster from then on. What runs here could not be stopped otherwise, so the process ends.
 */
async function lead(lost: AbortSignal, isHeld: () => boolean): Promise<void> {
  const stopped = Promise.withResolvers<void>();
  lost.addEventListener("abort", () => {
    if (leading.signal.aborted) return stopped.resolve();
    log.fatal("another operator of this cluster has the Lease, or the API server does not answer; the process ends");
    process.exit(1);
  });
  await Promise.race([stopped.promise, start(accessWhile(access, isHeld)).then(() => stopped.promise)]);
}

async function start(heldAccess: KubeAccess): Promise<void> {
  operator = await startWithRetries(heldAccess);
  releaseStartupMemory();
  // The first reconciles still use memory at that time.
  setTimeout(releaseStartupMemory, SETTLED_AFTER_MS).unref();
  log.info("the operator is ready");
}

function leadershipIn({ pod, clusterId, namespace, tokenSecret, hubUrl, hubProxy, secrets }: Config): Leadership {
  const kube = createKubeClient(access, LEASE_TIMES);
  const tokens = tokenSecret
    ? createSecretTokenStore(secrets.token, { kube, namespace, name: tokenSecret }, log)
    : createMemoryTokenStore(secrets.token, log);
  // Repeated only after a refusal, so the token is read again: somebody may have replaced it meanwhile.
  const trial = async () => {
    const token = await tokens.current({ isRefused: true });
    return tryHub({ url: hubUrl, proxy: hubProxy, token, operatorVersion: OPERATOR_VERSION, newId: randomUUID });
  };
  const holder = pod ?? `${hostname()}-${randomUUID()}`;
  return createLeadership({ kube, clusterId, namespace, holder, trial, clock: realClock, nowMs: Date.now, log });
}

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
    await startHealth(config.healthPort, {
      isAlive: () => metrics.isAlive,
      isReady: () => !isStopping && (operator !== null || leadership.couldLead),
      metrics: () => metrics.text(processFacts()),
    });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EADDRINUSE") fail(`Port ${config.healthPort} is taken. Choose another with BINNACLE_HEALTH_PORT.`);
    throw error;
  }
}

function processFacts(): ProcessFacts {
  const { user, system } = process.cpuUsage();
  return {
    version: OPERATOR_VERSION,
    isConnected: operator?.isConnected ?? false,
    isLeading: leadership.isLeading,
    residentBytes: process.memoryUsage.rss(),
    cpuSeconds: (user + system) / 1e6,
    startedAtSeconds: Math.round(performance.timeOrigin / 1_000),
  };
}

/** A cluster that does not answer yet is waited for. */
async function startWithRetries(heldAccess: KubeAccess): Promise<Operator> {
  for (let retryMs = FIRST_RETRY_MS; ; retryMs = Math.min(2 * retryMs, LONGEST_RETRY_MS)) {
    try {
      return await startOperator(config, { access: heldAccess, env: process.env, log, tracer, metrics });
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
  // Last of all, so that the next process begins when this one has ended.
  leading.abort();
  await led;
}

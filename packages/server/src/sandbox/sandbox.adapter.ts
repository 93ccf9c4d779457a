import { spawn } from "node:child_process";
import { once } from "node:events";
import { join, resolve } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { Clock } from "../clock.ts";
import type { AgentTokens } from "../clusters/agent-token.adapter.ts";
import { hubUrl } from "../clusters/connection.ts";
import type { Queries } from "../database/transaction.ts";
import type { Log } from "../outage.ts";
import { sandboxCluster } from "./sandbox-cluster.store.ts";

const MAIN = fileURLToPath(new URL("../../../sandbox/src/main.ts", import.meta.url));

export interface SandboxPorts {
  readonly db: Queries;
  readonly clock: Clock;
  readonly log: Log;
  readonly tokens: AgentTokens;
  readonly dataDir: string;
  /** The address that the control plane listens on. */
  readonly url: string;
  readonly publicUrl: string | null;
  readonly tlsCertFile: string | null;
  readonly chartHosts: readonly string[];
  /** The program that its operator uses for charts and addons. */
  readonly helm: string;
}

export interface RunningSandbox {
  readonly clusterId: string;
  /** Resolves when its operator is connected, at the latest after this time; null where it is being stopped. */
  settled(isConnected: () => boolean, withinMs: number): Promise<"connected" | "late" | "ended" | null>;
  stop(): Promise<void>;
}

/**
 * Starts the simulated cluster and its operator as child processes; returns null if the sandbox cluster was deleted.
 */
export async function startSandboxProcess(ports: SandboxPorts): Promise<RunningSandbox | null> {
  const { db, clock, log, tokens, dataDir } = ports;
  const cluster = await sandboxCluster(db, clock());
  if (!cluster) return null;
  const { token } = await tokens.mint(cluster.id, cluster.tokenVersion);
  const child = spawn(process.execPath, [MAIN], {
    env: sandboxVariables(ports, { clusterId: cluster.id, token }, process.env),
    // The child notices the end of this process by its channel, even after a kill.
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
  const exited = once(child, "exit");
  let isStopping = false;
  child.once("exit", (code) => log.info({ code }, "the sandbox has ended"));
  log.info({ cluster_id: cluster.id, kubeconfig: join(dataDir, "sandbox", "kubeconfig") }, "the sandbox starts");
  return {
    clusterId: cluster.id,
    async settled(isConnected, withinMs) {
      const hasEnded = () => child.exitCode !== null || child.signalCode !== null;
      const state = await waitForConnection(isConnected, hasEnded, withinMs);
      return isStopping ? null : state;
    },
    async stop() {
      isStopping = true;
      child.kill("SIGTERM");
      await exited;
    },
  };
}

const LOOK_EVERY_MS = 50;

export async function waitForConnection(
  isConnected: () => boolean,
  hasEnded: () => boolean,
  withinMs: number,
): Promise<"connected" | "late" | "ended"> {
  for (let waitedMs = 0; !isConnected(); waitedMs += LOOK_EVERY_MS) {
    if (hasEnded()) return "ended";
    if (waitedMs >= withinMs) return "late";
    await pause(LOOK_EVERY_MS);
  }
  return "connected";
}

/** Returns the environment of the sandbox, which it passes on to its operator. */
export function sandboxVariables(
  {
    dataDir,
    url,
    publicUrl,
    tlsCertFile,
    chartHosts,
    helm,
  }: Pick<SandboxPorts, "dataDir" | "url" | "publicUrl" | "tlsCertFile" | "chartHosts" | "helm">,
  { clusterId, token }: { readonly clusterId: string; readonly token: string },
  env: NodeJS.ProcessEnv,
): NodeJS.ProcessEnv {
  return {
    PATH: env["PATH"] ?? "",
    HOME: env["HOME"] ?? "",
    NODE_COMPILE_CACHE: env["NODE_COMPILE_CACHE"],
    BINNACLE_SANDBOX_DIR: resolve(dataDir, "sandbox"),
    // A certificate has the public name, and is its own authority unless somebody names one.
    BINNACLE_HUB_URL: hubUrl((tlsCertFile && publicUrl) ?? url),
    NODE_EXTRA_CA_CERTS: env["NODE_EXTRA_CA_CERTS"] ?? tlsCertFile ?? undefined,
    BINNACLE_CLUSTER_ID: clusterId,
    BINNACLE_TOKEN: token,
    BINNACLE_LOG_LEVEL: "error",
    // The sandbox runs on the same machine and may use the same repositories.
    BINNACLE_CHART_HOSTS: chartHosts.join(","),
    BINNACLE_HELM: helm,
    ...traceVariables(env),
  };
}

/** Its operator traces to the same collector, under a name of its own. */
function traceVariables(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const isPassedOn = (name: string) => name.startsWith("OTEL_") && name !== "OTEL_SERVICE_NAME";
  return Object.fromEntries(Object.entries(env).filter(([name]) => isPassedOn(name)));
}

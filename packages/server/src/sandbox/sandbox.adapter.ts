import { spawn } from "node:child_process";
import { once } from "node:events";
import { join, resolve } from "node:path";
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
  /** The address of the control plane. */
  readonly url: string;
  readonly chartHosts: readonly string[];
}

export interface RunningSandbox {
  stop(): Promise<void>;
}

/**
 * Starts the simulated cluster and its operator as child processes; returns null if the sandbox cluster was deleted.
 */
export async function startSandboxProcess(ports: SandboxPorts): Promise<RunningSandbox | null> {
  const { db, clock, log, tokens, dataDir, url, chartHosts } = ports;
  const cluster = await sandboxCluster(db, clock());
  if (!cluster) return null;
  const { token } = await tokens.mint(cluster.id, cluster.tokenVersion);
  const child = spawn(process.execPath, [MAIN], {
    env: {
      PATH: process.env["PATH"] ?? "",
      HOME: process.env["HOME"] ?? "",
      NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"],
      BINNACLE_SANDBOX_DIR: resolve(dataDir, "sandbox"),
      BINNACLE_HUB_URL: hubUrl(url),
      BINNACLE_CLUSTER_ID: cluster.id,
      BINNACLE_TOKEN: token,
      BINNACLE_LOG_LEVEL: "error",
      // The sandbox runs on the same machine and may use the same repositories.
      BINNACLE_CHART_HOSTS: chartHosts.join(","),
      ...traceVariables(process.env),
    },
    // The child notices the end of this process by its channel, even after a kill.
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
  const exited = once(child, "exit");
  child.once("exit", (code) => log.info({ code }, "the sandbox has ended"));
  log.info({ cluster_id: cluster.id, kubeconfig: join(dataDir, "sandbox", "kubeconfig") }, "the sandbox starts");
  return {
    async stop() {
      child.kill("SIGTERM");
      await exited;
    },
  };
}

/** Its operator traces to the same collector, under a name of its own. */
function traceVariables(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const isPassedOn = (name: string) => name.startsWith("OTEL_") && name !== "OTEL_SERVICE_NAME";
  return Object.fromEntries(Object.entries(env).filter(([name]) => isPassedOn(name)));
}

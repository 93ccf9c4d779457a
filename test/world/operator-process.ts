import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { childEnvironment } from "./child-environment.ts";

const MAIN = fileURLToPath(new URL("../../packages/operator/src/main.ts", import.meta.url));

/** The operator as `npm run operator` runs it: a process of its own. */
export interface OperatorProcess {
  readonly pid: number;
  printed(): string;
  signal(signal: NodeJS.Signals): void;
  /** The exit code, or null where a signal ended it. */
  readonly exited: Promise<number | null>;
}

export interface OperatorSettings {
  readonly hubUrl: string;
  readonly clusterId: string;
  readonly token: string;
  readonly kubeconfig: string;
  readonly env?: Record<string, string>;
}

export function startOperatorProcess(settings: OperatorSettings): OperatorProcess {
  const child: ChildProcess = spawn(process.execPath, ["--liftoff-only", MAIN], {
    env: {
      ...childEnvironment(),
      KUBECONFIG: settings.kubeconfig,
      BINNACLE_HUB_URL: settings.hubUrl,
      BINNACLE_CLUSTER_ID: settings.clusterId,
      BINNACLE_TOKEN: settings.token,
      BINNACLE_HEALTH_PORT: "0",
      ...settings.env,
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let text = "";
  child.stdout?.on("data", (chunk) => (text += chunk));
  child.stderr?.on("data", (chunk) => (text += chunk));
  return {
    pid: child.pid ?? 0,
    printed: () => text,
    signal: (signal) => child.kill(signal),
    exited: once(child, "exit").then(([code]) => code as number | null),
  };
}

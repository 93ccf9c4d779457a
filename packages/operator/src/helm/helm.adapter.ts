import { spawn } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { KubeAccess } from "../kube/kube-access.ts";
import type { ChartFiles } from "./chart-file.adapter.ts";
import { PROCESS_TIMEOUT_MS, rollbackArguments, uninstallArguments, upgradeArguments } from "./command.ts";
import { failureSentence, HelmFailure } from "./failure.ts";
import { kubeconfigText } from "./kubeconfig-file.ts";
import type { HelmRelease, ReleaseId } from "./revision.ts";

/** Each fails with a `HelmFailure`, also when the signal breaks it off. */
export interface Helm {
  upgrade(release: HelmRelease, labels: Readonly<Record<string, string>>, signal: AbortSignal): Promise<void>;
  rollback(id: ReleaseId, to: number, signal: AbortSignal): Promise<void>;
  uninstall(id: ReleaseId, signal: AbortSignal): Promise<void>;
}

export interface HelmOptions {
  readonly program: string;
  readonly access: KubeAccess;
  readonly charts: ChartFiles;
  /** Only what a program needs to reach the network is taken from it. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

const PASSED_ON = [
  "PATH",
  "SSL_CERT_FILE",
  "SSL_CERT_DIR",
  "HTTP_PROXY",
  "HTTPS_PROXY",
  "NO_PROXY",
  "http_proxy",
  "https_proxy",
  "no_proxy",
];
const MOST_OUTPUT_BYTES = 65_536;
/** Helm notes on the release that it was broken off, if it gets the time. */
const GRACE_MS = 5_000;

interface Call {
  readonly args: readonly string[];
  readonly values: HelmRelease["values"];
  readonly signal: AbortSignal;
}

/** The `helm` program, version 3.17 or later, or 4. */
export function createHelm({ program, access, charts, env }: HelmOptions): Helm {
  const passedOn = Object.fromEntries(PASSED_ON.flatMap((name) => (env[name] ? [[name, env[name]]] : [])));

  /** In a folder of its own, which nobody else can read and which holds nothing that a chart could be mistaken for. */
  async function call({ args, values, signal }: Call): Promise<void> {
    const folder = await mkdtemp(join(tmpdir(), "binnacle-helm-"));
    try {
      const cwd = join(folder, "empty");
      await mkdir(cwd);
      const kubeconfig = join(folder, "kubeconfig");
      await writeFile(kubeconfig, kubeconfigText(access, await access.identity()), { mode: 0o600 });
      const homes = { HOME: folder, HELM_CACHE_HOME: folder, HELM_CONFIG_HOME: folder, HELM_DATA_HOME: folder };
      await run({ args, values, signal }, cwd, {
        ...passedOn,
        ...homes,
        KUBECONFIG: kubeconfig,
        HELM_DRIVER: "secret",
      });
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }

  function run({ args, values, signal }: Call, cwd: string, childEnv: NodeJS.ProcessEnv): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    if (signal.aborted) return Promise.reject(new HelmFailure("It was broken off."));
    // What Helm prints on success tells the values, so nobody listens to it.
    const child = spawn(program, args, { cwd, env: childEnv, stdio: ["pipe", "ignore", "pipe"] });
    let output = "";
    let kill: NodeJS.Timeout | undefined;
    const stop = () => {
      child.kill("SIGTERM");
      kill = setTimeout(() => child.kill("SIGKILL"), GRACE_MS);
    };
    const timeout = setTimeout(stop, PROCESS_TIMEOUT_MS);
    signal.addEventListener("abort", stop, { once: true });
    const settle = (failure: string | null) => {
      clearTimeout(timeout);
      clearTimeout(kill);
      signal.removeEventListener("abort", stop);
      if (failure === null) resolve();
      else reject(new HelmFailure(failure));
    };
    child.stderr.setEncoding("utf8");
    child.stderr.on("data", (text: string) => {
      output = (output + text).slice(-MOST_OUTPUT_BYTES);
    });
    // A program that ends before it has read everything says why by itself.
    child.stdin.on("error", () => undefined);
    child.stdin.end(JSON.stringify(values));
    child.on("error", ({ code }: NodeJS.ErrnoException) =>
      settle(
        code === "ENOENT"
          ? `Helm is needed for charts and addons, and there is no program ${program} where the operator runs. Install it, or name it with BINNACLE_HELM.`
          : `The program ${program} cannot be started (${code ?? "unknown"}).`,
      ),
    );
    child.on("close", (code, killedBy) => {
      if (code === 0) settle(null);
      else settle(killedBy ? `Helm was stopped by ${killedBy}.` : failureSentence(output, values));
    });
    return promise;
  }

  return {
    upgrade: (release, labels, signal) =>
      charts.within(release.chart, signal, (source) =>
        call({ args: upgradeArguments(release, source, labels), values: release.values, signal }),
      ),
    rollback: (id, to, signal) => call({ args: rollbackArguments(id, to), values: {}, signal }),
    uninstall: (id, signal) => call({ args: uninstallArguments(id), values: {}, signal }),
  };
}

import { type ChildProcess, spawn } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { KubeAccess } from "../kube/kube-access.ts";
import type { ChartFiles } from "./chart-file.adapter.ts";
import {
  kubeconfigText,
  processTimeoutMs,
  renderArguments,
  rollbackArguments,
  type Upgrade,
  uninstallArguments,
  upgradeArguments,
} from "./command.ts";
import { denialFor, failureSentence, HelmFailure } from "./failure.ts";
import { requireStorable } from "./release-size.ts";
import type { HelmRelease, ReleaseId } from "./revision.ts";
import type { Rights } from "./rights.ts";

export interface HelmUpgrade extends Pick<Upgrade, "rights" | "isUpgrade"> {
  readonly labels: Readonly<Record<string, string>>;
  /** Sees all that would be made, before anything is; what it throws ends the upgrade. */
  readonly inspect: (manifest: string) => Promise<void>;
}

/** Each fails with a `HelmFailure`, also when the signal breaks it off. */
export interface Helm {
  upgrade(release: HelmRelease, upgrade: HelmUpgrade, signal: AbortSignal): Promise<void>;
  rollback(id: ReleaseId, to: number, rights: Rights, signal: AbortSignal): Promise<void>;
  uninstall(id: ReleaseId, rights: Rights, signal: AbortSignal): Promise<void>;
}

export interface HelmOptions {
  readonly program: string;
  readonly access: KubeAccess;
  readonly charts: ChartFiles;
  /** Only what a program needs to reach the network is taken from it. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Helm shares the memory of the operator's container, which is killed as a whole when that ends. It collects garbage more often near this. */
const MEMORY_LIMIT = "128MiB";
/** No proxy: Helm connects to the API server and to nothing else, as the operator itself does directly. */
const PASSED_ON = ["PATH", "GOMEMLIMIT", "SSL_CERT_FILE", "SSL_CERT_DIR"];
const MOST_ERROR_BYTES = 65_536;
/** Helm stores a compressed release in a Secret of at most one megabyte. */
const MOST_MANIFEST_BYTES = 16 * 1024 * 1024;
/** Helm notes on the release that it was broken off, if it gets the time. */
const GRACE_MS = 5_000;
const BROKEN_OFF = "It was broken off.";

interface Call {
  readonly args: readonly string[];
  readonly signal: AbortSignal;
  readonly values?: HelmRelease["values"];
  readonly rights: Rights;
  readonly isRead?: boolean;
  readonly hookTimeoutSeconds?: number | undefined;
}

/** A folder that nobody else can read, with one in it that holds nothing which a chart could be mistaken for. */
async function within(work: (folder: string) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "binnacle-helm-"));
  try {
    await mkdir(join(folder, "empty"));
    await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** A Helm would go on by itself otherwise when the operator's process ends, beside that of the next operator. */
const running = new Set<ChildProcess>();
process.on("exit", () => {
  for (const child of running) child.kill("SIGKILL");
});

/** The `helm` program, version 3.17 or later, or 4. */
export function createHelm({ program, access, charts, env }: HelmOptions): Helm {
  const passedOn = Object.fromEntries(PASSED_ON.flatMap((name) => (env[name] ? [[name, env[name]]] : [])));

  /** Returns Helm's output where the caller needs it. */
  async function call(folder: string, { rights, ...rest }: Call): Promise<string> {
    if (rest.signal.aborted) throw new HelmFailure(BROKEN_OFF);
    const homes = { HOME: folder, HELM_CACHE_HOME: folder, HELM_CONFIG_HOME: folder, HELM_DATA_HOME: folder };
    const kubeconfig = join(folder, "kubeconfig");
    await writeFile(kubeconfig, kubeconfigText(access, await access.identity()), { mode: 0o600 });
    const way = { KUBECONFIG: kubeconfig, HELM_DRIVER: "secret" };
    return run({ rights, ...rest }, join(folder, "empty"), { GOMEMLIMIT: MEMORY_LIMIT, ...passedOn, ...homes, ...way });
  }

  function run(
    { args, values = {}, rights, signal, isRead = false, hookTimeoutSeconds }: Call,
    cwd: string,
    childEnv: NodeJS.ProcessEnv,
  ): Promise<string> {
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    // Helm prints values, so its output is read only where it is needed.
    const child = spawn(program, args, { cwd, env: childEnv, stdio: ["pipe", isRead ? "pipe" : "ignore", "pipe"] });
    running.add(child);
    let printed = "";
    let errors = "";
    let problem: string | null = null;
    let kill: NodeJS.Timeout | undefined;
    const stop = () => {
      child.kill("SIGTERM");
      kill = setTimeout(() => child.kill("SIGKILL"), GRACE_MS);
    };
    const timeout = setTimeout(stop, processTimeoutMs(hookTimeoutSeconds));
    signal.addEventListener("abort", stop, { once: true });
    const applySettings = (failure: HelmFailure | null) => {
      running.delete(child);
      clearTimeout(timeout);
      clearTimeout(kill);
      signal.removeEventListener("abort", stop);
      if (failure) reject(failure);
      else resolve(printed);
    };
    child.stdout?.setEncoding("utf8");
    child.stdout?.on("data", (text: string) => {
      printed += text;
      if (printed.length <= MOST_MANIFEST_BYTES || problem !== null) return;
      problem = "The chart makes more than a release can hold.";
      stop();
    });
    child.stderr?.setEncoding("utf8");
    child.stderr?.on("data", (text: string) => {
      errors = (errors + text).slice(-MOST_ERROR_BYTES);
    });
    // A program that ends before it has read everything says why by itself.
    child.stdin?.on("error", () => undefined);
    child.stdin?.end(JSON.stringify(values));
    child.on("error", ({ code }: NodeJS.ErrnoException) => applySettings(new HelmFailure(notStarted(code))));
    child.on("close", (code, killedBy) => {
      if (problem !== null) applySettings(new HelmFailure(problem));
      else if (code === 0) applySettings(null);
      else if (killedBy) applySettings(new HelmFailure(`Helm was stopped by ${killedBy}.`));
      else applySettings(denialFor(errors, rights) ?? new HelmFailure(failureSentence(errors, values)));
    });
    return promise;
  }

  const notStarted = (code: string | undefined): string =>
    code === "ENOENT"
      ? `Helm is needed for charts and addons, and there is no program ${program} where the operator runs. Install it, or name it with BINNACLE_HELM.`
      : `The program ${program} cannot be started (${code ?? "unknown"}).`;

  return {
    upgrade: (release, { labels, inspect, ...upgrade }, signal) =>
      // Downloaded once: what is inspected is what is installed, whatever the repository gives to the next who asks.
      charts.within(release.chart, signal, (source) =>
        within(async (folder) => {
          const { values, hookTimeoutSeconds } = release;
          const { rights } = upgrade;
          const made = { ...upgrade, source };
          const args = renderArguments(release, made);
          const manifest = await call(folder, { args, values, rights, signal, isRead: true });
          await inspect(manifest);
          await requireStorable({ files: await source.files(), manifest, values });
          const install = upgradeArguments(release, made, labels);
          await call(folder, { args: install, values, rights, signal, hookTimeoutSeconds });
        }),
      ),
    rollback: (id, to, rights, signal) =>
      within(async (folder) => void (await call(folder, { args: rollbackArguments(id, to, rights), rights, signal }))),
    uninstall: (id, rights, signal) =>
      within(async (folder) => void (await call(folder, { args: uninstallArguments(id, rights), rights, signal }))),
  };
}

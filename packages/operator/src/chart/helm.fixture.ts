import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { loadAll } from "js-yaml";

export const CHART = fileURLToPath(new URL("../../../../deploy/charts/binnacle-operator", import.meta.url));
export const CLUSTER_ID = "01932c07-31f1-7a4e-8d8b-6f1a2f0c5d11";
export const TOKEN = "header.payload.signature";

/** `HELM_BIN`, the one on the path, or the one that `test/kube/build.sh helm` has built. */
export const HELM: string | null = findHelm();

function findHelm(): string | null {
  const cache = join(process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache"), "binnacle", "kube", "bin");
  const folders = [...(process.env["PATH"] ?? "").split(delimiter), process.env["BINNACLE_KUBE_BIN"] ?? cache];
  const candidates = [process.env["HELM_BIN"] ?? "", ...folders.map((folder) => join(folder, "helm"))];
  return candidates.find((path) => path !== "" && existsSync(path)) ?? null;
}

if (HELM === null) {
  process.stderr.write(
    "SKIPPED: there is no helm on PATH nor in HELM_BIN, so nothing proves that Helm takes the chart.\n",
  );
}

interface Template {
  readonly metadata: { readonly annotations: Readonly<Record<string, string>> };
  readonly spec: { readonly containers: readonly { readonly env: readonly { readonly name: string }[] }[] };
}

/** A rendered object, as far as tests look into one. */
export interface HelmObject {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly annotations?: Readonly<Record<string, string>> };
  readonly spec?: { readonly template: Template };
  readonly roleRef?: { readonly name: string };
  readonly rules?: unknown;
}

/** Runs Helm with no settings of whoever runs the tests. */
export function helmIn(home: string, kubeconfig = "/nonexistent") {
  return async (...args: readonly string[]): Promise<string> => {
    const env = {
      HOME: home,
      HELM_CACHE_HOME: home,
      HELM_CONFIG_HOME: home,
      HELM_DATA_HOME: home,
      KUBECONFIG: kubeconfig,
    };
    return (await promisify(execFile)(HELM ?? "helm", args, { env, maxBuffer: 32 * 1024 * 1024 })).stdout;
  };
}

/** The values without which there is no release, and others. */
export function withValues(values: Readonly<Record<string, string>> = {}): string[] {
  const all = {
    "hub.url": "wss://binnacle.example.com/hub/v1",
    "cluster.id": CLUSTER_ID,
    "cluster.token": TOKEN,
    ...values,
  };
  return Object.entries(all).flatMap(([name, value]) => ["--set-string", `${name}=${value}`]);
}

export const objectsIn = (text: string): HelmObject[] =>
  (loadAll(text) as (HelmObject | null)[]).filter((object) => object !== null);

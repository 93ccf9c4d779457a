import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { fail } from "@binnacle/process";
import { parse } from "yaml";
import { type Sandbox, startSandbox } from "./sandbox.adapter.ts";
import type { ObjectDraft } from "./store/kube-object.ts";

/** A simulated cluster with the real operator in front of it, both for as long as this process runs. */

const OPERATOR = fileURLToPath(import.meta.resolve("@binnacle/operator/main"));
const DEFINITIONS = fileURLToPath(new URL("../../../deploy/charts/binnacle-operator/files/crds", import.meta.url));
const CHARTS_ROLE = fileURLToPath(
  new URL("../../../deploy/charts/binnacle-operator/files/charts-role.yaml", import.meta.url),
);
const OPERATOR_NAMESPACE = "binnacle-system";
const RESTART_MS = 2_000;

const folder = process.env["BINNACLE_SANDBOX_DIR"];
if (!folder) fail("BINNACLE_SANDBOX_DIR must name the folder in which the simulated cluster is kept.");
await mkdir(folder, { recursive: true });
const kubeconfig = join(folder, "kubeconfig");
const sandbox = await startSandbox({ name: "sandbox", persistPath: join(folder, "cluster.json") });
await prepare(sandbox);
await writeFile(kubeconfig, sandbox.kubeconfig(), { mode: 0o600 });
let isStopping = false;
// Before there is an operator: a signal that found it running and nobody listening would leave it behind.
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => void stop());
// The parent process has exited.
process.on("disconnect", () => void stop());
let operator = startOperator();

async function prepare({ store }: Sandbox): Promise<void> {
  for (const file of await readdir(DEFINITIONS)) {
    const definition = parse(await readFile(join(DEFINITIONS, file), "utf8")) as ObjectDraft;
    ensure(store, "customresourcedefinitions.apiextensions.k8s.io", definition);
  }
  const metadata = { name: OPERATOR_NAMESPACE };
  ensure(store, "namespaces", { apiVersion: "v1", kind: "Namespace", metadata });
  const role = parse(await readFile(CHARTS_ROLE, "utf8")) as ObjectDraft;
  ensure(store, "clusterroles.rbac.authorization.k8s.io", role);
}

function ensure(store: Sandbox["store"], resource: string, object: ObjectDraft): void {
  if (!store.get(resource, object.metadata.name ?? "")) store.create(resource, object);
}

function startOperator(): ChildProcess {
  const { BINNACLE_SANDBOX_DIR: _, ...env } = process.env;
  const child = spawn(process.execPath, ["--liftoff-only", OPERATOR], {
    env: { ...env, KUBECONFIG: kubeconfig, BINNACLE_HEALTH_PORT: "0" },
    stdio: ["ignore", "inherit", "inherit"],
  });
  child.once("exit", () => setTimeout(startAgain, RESTART_MS).unref());
  return child;
}

function startAgain(): void {
  if (!isStopping) operator = startOperator();
}

async function stop(): Promise<void> {
  if (isStopping) return;
  isStopping = true;
  if (operator.exitCode === null && operator.signalCode === null) {
    operator.kill("SIGTERM");
    await once(operator, "exit");
  }
  await sandbox.stop();
  process.exit(0);
}

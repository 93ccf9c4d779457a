import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { startSandbox } from "../../packages/sandbox/src/sandbox.adapter.ts";
import type {} from "./setup.ts";

/** One simulated cluster for the whole run, where there is neither Go nor Kubernetes. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), "binnacle-sandbox-"));
  const sandbox = await startSandbox({ name: "tests" });
  const kubeconfig = join(folder, "kubeconfig");
  await writeFile(kubeconfig, sandbox.kubeconfig(), { mode: 0o600 });
  project.provide("kubeconfig", kubeconfig);
  project.provide("isSimulated", true);
  return async () => {
    await sandbox.stop();
    await rm(folder, { recursive: true, force: true });
  };
}

import { appendFile, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { KubeClient } from "../../packages/operator/src/kube/kube-client.ts";

export interface SimulatedLog {
  /** More lines, for those who follow too; each gets the time that is given or the present one. */
  write(lines: readonly string[], time?: string): Promise<void>;
  remove(): Promise<void>;
}

/** Makes a pod, or every pod of a namespace, seem to have logged what is written. */
export async function simulateLog(client: KubeClient, namespace: string, pod?: string): Promise<SimulatedLog> {
  const folder = await mkdtemp(join(tmpdir(), "binnacle-log-"));
  const logsFile = join(folder, "container.log");
  await appendFile(logsFile, "");
  const logs = [{ logsFile, follow: true }];
  const apiVersion = "kwok.x-k8s.io/v1alpha1";
  const object = pod
    ? { apiVersion, kind: "Logs", metadata: { name: pod, namespace }, spec: { logs } }
    : {
        apiVersion,
        kind: "ClusterLogs",
        metadata: { name: namespace },
        spec: { selector: { matchNamespaces: [namespace] }, logs },
      };
  await client.apply(object);
  return {
    write: (lines, time = new Date().toISOString()) =>
      appendFile(logsFile, lines.map((line) => `${time} stdout F ${line}\n`).join("")),
    async remove() {
      await client.delete(await client.resourceTypeOf(apiVersion, object.kind), object.metadata.name, namespace);
      await rm(folder, { recursive: true });
    },
  };
}

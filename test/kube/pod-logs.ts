import { appendFile, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { KubeClient } from "../../packages/operator/src/kube/kube-client.ts";

export interface PodLog {
  /** Of a pod that writes it. */
  readonly spec: { readonly containers: readonly object[]; readonly volumes?: readonly object[] };
  /** More lines, for those who follow too; where pods are simulated, each gets the time that is given or the present one. */
  write(lines: readonly string[], time?: string): Promise<void>;
  remove(): Promise<void>;
}

/** Makes a pod, or every pod of a namespace, seem to have logged what is written. */
export async function simulateLog(client: KubeClient, namespace: string, pod?: string): Promise<PodLog> {
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
    spec: { containers: [{ name: "main", image: "nginx:1" }] },
    write: (lines, time = new Date().toISOString()) =>
      appendFile(logsFile, lines.map((line) => `${time} stdout F ${line}\n`).join("")),
    async remove() {
      await client.delete(await client.resourceTypeOf(apiVersion, object.kind), object.metadata.name, namespace);
      await rm(folder, { recursive: true });
    },
  };
}

/** What a pod of the real node (test/kube/node) writes that reads it from a file of this machine. */
export async function realLog(): Promise<PodLog> {
  const folder = await mkdtemp(join(tmpdir(), "binnacle-log-"));
  const file = join(folder, "lines");
  await appendFile(file, "");
  const container = {
    name: "main",
    image: "nginx:1",
    command: ["/bin/busybox", "tail", "-n", "+1", "-f", "/log/lines"],
    securityContext: { runAsUser: 0 },
    volumeMounts: [{ name: "log", mountPath: "/log", readOnly: true }],
  };
  return {
    spec: { containers: [container], volumes: [{ name: "log", hostPath: { path: folder } }] },
    write: (lines) => appendFile(file, lines.map((line) => `${line}\n`).join("")),
    remove: () => rm(folder, { recursive: true }),
  };
}

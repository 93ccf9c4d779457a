import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createKubeClient } from "../../packages/operator/src/kube/client.adapter.ts";
import type { KubeClient, KubeObject } from "../../packages/operator/src/kube/kube-client.ts";
import { kubeAccessFrom } from "../../packages/operator/src/kube/kubeconfig.adapter.ts";
import { freePort } from "../world/free-port.ts";
import { type Daemon, startDaemon, until } from "./daemon.ts";
import { writeKubeconfig } from "./kubeconfig.ts";
import { CAPACITY, LOG_DEFINITIONS, metricsApi, node, STORAGE_CLASSES } from "./objects.ts";
import { makePki } from "./pki.ts";

const HOST = "127.0.0.1";

export interface KubeOptions {
  /** The folder of the programs. */
  readonly binaries: string;
  /** More than etcd and the API server: controllers, pods that seem to run, and their usage. All unless told. */
  readonly parts?: readonly ("controllers" | "pods" | "metrics")[];
  readonly nodes?: number;
}

/** A cluster of its own on this machine. */
export interface Kube {
  readonly kubeconfigPath: string;
  /** Logs of the programs; files that pods are said to have logged may be put here too. */
  readonly folder: string;
  stopApiServer(signal?: NodeJS.Signals): Promise<void>;
  startApiServer(): Promise<void>;
  stop(): Promise<void>;
}

export async function startKube(options: KubeOptions): Promise<Kube> {
  const { binaries, parts = ["controllers", "pods", "metrics"], nodes = 1 } = options;
  const folder = await mkdtemp(join(tmpdir(), "binnacle-kube-"));
  const pki = join(folder, "pki");
  await mkdir(pki);
  await makePki(pki);
  const daemons = new Map<string, Daemon>();
  const start = (name: string, flags: Readonly<Record<string, string | number | boolean>>) =>
    daemons.set(name, startDaemon(join(binaries, name), flags, join(folder, `${name}.log`)));
  const check = () => {
    for (const daemon of daemons.values()) daemon.check();
  };
  const file = (name: string) => join(pki, name);

  const etcdUrl = `http://${HOST}:${await freePort()}`;
  const peerUrl = `http://${HOST}:${await freePort()}`;
  const apiPort = await freePort();
  const kubeconfig = (user: string) => writeKubeconfig(folder, user, `https://${HOST}:${apiPort}`);
  const kubeconfigPath = await kubeconfig("admin");
  const client = createKubeClient(await kubeAccessFrom({ KUBECONFIG: kubeconfigPath }));

  async function startApiServer(): Promise<void> {
    start("kube-apiserver", {
      "etcd-servers": etcdUrl,
      "bind-address": HOST,
      "secure-port": apiPort,
      "advertise-address": HOST,
      "endpoint-reconciler-type": "none",
      "tls-cert-file": file("apiserver.crt"),
      "tls-private-key-file": file("apiserver.key"),
      "client-ca-file": file("ca.crt"),
      "service-cluster-ip-range": "10.96.0.0/16",
      "authorization-mode": "Node,RBAC",
      "service-account-issuer": "https://kubernetes.default.svc",
      "service-account-key-file": file("service-account.pub"),
      "service-account-signing-key-file": file("service-account.key"),
      "kubelet-client-certificate": file("kubelet-client.crt"),
      "kubelet-client-key": file("kubelet-client.key"),
      "kubelet-preferred-address-types": "InternalIP",
      "requestheader-client-ca-file": file("front-proxy-ca.crt"),
      "requestheader-allowed-names": "front-proxy-client",
      "requestheader-username-headers": "X-Remote-User",
      "requestheader-group-headers": "X-Remote-Group",
      "requestheader-extra-headers-prefix": "X-Remote-Extra-",
      "proxy-client-cert-file": file("front-proxy.crt"),
      "proxy-client-key-file": file("front-proxy.key"),
    });
    await until("the API server", async () => {
      check();
      return client.raw("GET", "/readyz").then(
        () => true,
        () => false,
      );
    });
  }

  async function startControllers(): Promise<void> {
    const own = await kubeconfig("controller-manager");
    start("kube-controller-manager", {
      ...asClient(own, await freePort()),
      "use-service-account-credentials": true,
      "service-account-private-key-file": file("service-account.key"),
      "root-ca-file": file("ca.crt"),
      "cluster-signing-cert-file": file("ca.crt"),
      "cluster-signing-key-file": file("ca.key"),
    });
  }

  async function startPods(): Promise<void> {
    start("kube-scheduler", asClient(await kubeconfig("scheduler"), await freePort()));
    for (const definition of LOG_DEFINITIONS) await client.apply(definition);
    await until("the kinds of kwok", () => isKnown(client, "kwok.x-k8s.io/v1alpha1", "ClusterLogs"));
    const port = await freePort();
    start("kwok", {
      kubeconfig: kubeconfigPath,
      config: join(import.meta.dirname, "kwok.yaml"),
      "enable-crds": "Logs,ClusterLogs",
      "manage-all-nodes": true,
      "node-ip": HOST,
      "node-name": "localhost",
      "node-port": port,
      "server-address": `${HOST}:${port}`,
      "tls-cert-file": file("kubelet.crt"),
      "tls-private-key-file": file("kubelet.key"),
      "node-lease-duration-seconds": 40,
      cidr: "10.244.0.0/16",
    });
    for (const storageClass of STORAGE_CLASSES) await client.apply(storageClass);
    const names = Array.from({ length: nodes }, (_, number) => `node-${number}`);
    await Promise.all(names.map((name) => addNode(client, name)));
  }

  async function startMetrics(): Promise<void> {
    const port = await freePort();
    start("metrics-server", {
      kubeconfig: kubeconfigPath,
      "authentication-kubeconfig": kubeconfigPath,
      "authorization-kubeconfig": kubeconfigPath,
      "bind-address": HOST,
      "secure-port": port,
      "cert-dir": join(pki, "metrics-server"),
      "kubelet-insecure-tls": true,
      "kubelet-preferred-address-types": "InternalIP",
      "kubelet-use-node-status-port": true,
      "metric-resolution": "10s",
      "kubelet-request-timeout": "5s",
    });
    for (const object of metricsApi(port)) await client.apply(object);
  }

  async function stop(): Promise<void> {
    await client.close();
    // In the reverse order, because nobody ends quickly whose server is gone.
    for (const daemon of [...daemons.values()].reverse()) await daemon.stop();
    await rm(folder, { recursive: true, force: true });
  }

  try {
    start("etcd", {
      "data-dir": join(folder, "etcd"),
      "listen-client-urls": etcdUrl,
      "advertise-client-urls": etcdUrl,
      "listen-peer-urls": peerUrl,
      "initial-advertise-peer-urls": peerUrl,
      "initial-cluster": `default=${peerUrl}`,
      "unsafe-no-fsync": true,
      "log-level": "warn",
    });
    await startApiServer();
    if (parts.includes("controllers")) await startControllers();
    if (parts.includes("pods")) await startPods();
    if (parts.includes("metrics") && existsSync(join(binaries, "metrics-server"))) await startMetrics();
    if (parts.includes("controllers"))
      await until("service accounts", () => exists(client, "v1", "ServiceAccount", "default"));
    check();
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    kubeconfigPath,
    folder,
    stopApiServer: async (signal) => daemons.get("kube-apiserver")?.stop(signal),
    startApiServer,
    stop,
  };
}

function asClient(kubeconfig: string, port: number) {
  return {
    kubeconfig,
    "authentication-kubeconfig": kubeconfig,
    "authorization-kubeconfig": kubeconfig,
    "bind-address": HOST,
    "secure-port": port,
    "leader-elect": false,
    "kube-api-qps": 500,
    "kube-api-burst": 1000,
  };
}

async function addNode(client: KubeClient, name: string): Promise<void> {
  const type = await client.resourceTypeOf("v1", "Node");
  await client.apply(node(name));
  await client.patchStatus(type, name, null, { capacity: CAPACITY, allocatable: CAPACITY });
  await until(`the node ${name}`, async () => isReady(await client.get(type, name)));
}

function isReady(object: KubeObject | null): boolean {
  const { conditions = [] } = (object?.["status"] ?? {}) as { conditions?: { type: string; status: string }[] };
  return conditions.some(({ type, status }) => type === "Ready" && status === "True");
}

export const isKnown = (client: KubeClient, apiVersion: string, kind: string) =>
  client.resourceTypeOf(apiVersion, kind).then(
    () => true,
    () => false,
  );

async function exists(client: KubeClient, apiVersion: string, kind: string, name: string): Promise<boolean> {
  return (await client.get(await client.resourceTypeOf(apiVersion, kind), name, "default")) !== null;
}

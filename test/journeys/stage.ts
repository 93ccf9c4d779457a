import { randomBytes } from "node:crypto";
import { inject, vi } from "vitest";
import { installDefinitions } from "../../packages/operator/src/desired/definitions.fixture.ts";
import { clusterClient } from "../../packages/operator/src/kube/cluster.fixture.ts";
import type { KubeClient } from "../../packages/operator/src/kube/kube-client.ts";
import type {} from "../kube/setup.ts";
import { Client } from "../world/client.ts";
import { type OperatorProcess, startOperatorProcess } from "../world/operator-process.ts";
import { dataFolder, type Loading, type ServerProcess, startServer } from "../world/server-process.ts";

/** Long enough for a busy machine, and shorter than a test may take, so that a wait that fails says what it waited for. */
export const SOON = { timeout: 45_000, interval: 100 };

export interface RegisteredCluster {
  readonly id: string;
  readonly token: string;
  readonly installCommand: string;
}

/** A control plane and operators, each a process of its own, and a real Kubernetes. */
export interface Stage {
  readonly server: ServerProcess;
  readonly admin: Client;
  readonly kube: KubeClient;
  readonly kubeconfig: string;
  register(): Promise<RegisteredCluster>;
  start(cluster: RegisteredCluster, env?: Record<string, string>): OperatorProcess;
  /** Starts an operator of the cluster, and waits until it is connected. */
  connect(cluster: RegisteredCluster, env?: Record<string, string>): Promise<OperatorProcess>;
  statusOf(clusterId: string): Promise<string>;
  /** The name of a project that nobody else has on the shared cluster. */
  newName(): string;
  readyProject(clusterId: string): Promise<{ id: string; namespace: string }>;
  close(): Promise<void>;
}

export async function openStage(env: Record<string, string> = {}, loading: Loading = {}): Promise<Stage> {
  const kube = await clusterClient();
  await installDefinitions(kube);
  await kube.apply({ apiVersion: "v1", kind: "Namespace", metadata: { name: "binnacle-system" } });
  const data = await dataFolder();
  const settings = { BINNACLE_DATA_DIR: data.path, BINNACLE_PUBLIC_URL: "http://127.0.0.1:1", ...env };
  const server = await startServer(settings, loading);
  const api = new Client(`${server.url}/api/v1`);
  const login = await api.send("POST", "/login", { form: { username: "admin", password: "binnacle" } });
  const admin = api.with({ authorization: `Bearer ${login.body.access_token}` });
  const { body: orgs } = await admin.get("/orgs");
  const kubeconfig = inject("kubeconfig");
  const operators: OperatorProcess[] = [];

  const statusOf = async (clusterId: string) => (await admin.get(`/clusters/${clusterId}`)).body.status as string;
  const newName = () => `journey-${randomBytes(4).toString("hex")}`;

  function start({ id, token }: RegisteredCluster, more: Record<string, string> = {}): OperatorProcess {
    const hubUrl = `${server.url.replace("http", "ws")}/hub/v1`;
    const operator = startOperatorProcess({ hubUrl, clusterId: id, token, kubeconfig, env: more });
    operators.push(operator);
    return operator;
  }

  return {
    server,
    admin,
    kube,
    kubeconfig,
    statusOf,
    newName,
    async register() {
      const { body } = await admin.post(`/orgs/${orgs.data[0].id}/clusters`, { name: newName() });
      return { id: body.id, token: body.connection_token, installCommand: body.install_command };
    },
    start,
    async connect(cluster, more) {
      const operator = start(cluster, more);
      await vi.waitFor(async () => {
        const status = await statusOf(cluster.id);
        if (status !== "connected") throw new Error(`the cluster is ${status}\n${operator.printed()}`);
      }, SOON);
      return operator;
    },
    async readyProject(clusterId) {
      const name = newName();
      const { body } = await admin.post("/projects", { name, cluster_id: clusterId });
      await vi.waitFor(async () => {
        const { body: project } = await admin.get(`/projects/${body.id}`);
        if (project.lifecycle !== "ready") throw new Error(JSON.stringify(project));
      }, SOON);
      return { id: body.id, namespace: body.namespace };
    },
    async close() {
      for (const operator of operators) {
        operator.signal("SIGKILL");
        await operator.exited;
      }
      server.signal("SIGTERM");
      await server.exited;
      await data.remove();
      await kube.close();
    },
  };
}

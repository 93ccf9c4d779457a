import { parseConfig } from "../../packages/operator/src/config.ts";
import type { KubeAccess } from "../../packages/operator/src/kube/kube-access.ts";
import type { LinkLog } from "../../packages/operator/src/link/ports.ts";
import { startOperator } from "../../packages/operator/src/operator.adapter.ts";
import { type Sandbox, startSandbox } from "../../packages/sandbox/src/sandbox.adapter.ts";
import type { ObjectDraft } from "../../packages/sandbox/src/store/kube-object.ts";
import { connectionTo } from "./connection.adapter.ts";
import type { FleetCluster } from "./messages.ts";

/** Small, so that many of them find room. */
const SETTINGS = { nodes: 1, normalEvents: false, mostEvents: 50 } as const;
const HISTORY_LENGTH = 200;

/** Nobody listens here: an operator that reaches for a socket fails at once. */
const NOWHERE = "http://127.0.0.1:1";
const NOBODY = { token: null, certificate: null, key: null };

export interface RunningCluster {
  readonly id: string;
  readonly sandbox: Sandbox;
  stop(): Promise<void>;
}

export interface ClusterPorts {
  readonly hubUrl: string;
  readonly definitions: readonly ObjectDraft[];
  readonly log: LinkLog;
}

/** A simulated cluster with the real operator in front of it, both in this process. */
export async function startCluster({ id, token }: FleetCluster, ports: ClusterPorts): Promise<RunningCluster> {
  const sandbox = await startSandbox({
    name: id,
    port: null,
    historyLength: HISTORY_LENGTH,
    controllers: { settings: SETTINGS },
  });
  const { store } = sandbox;
  for (const definition of ports.definitions)
    store.create("customresourcedefinitions.apiextensions.k8s.io", definition);
  const config = parseConfig({
    BINNACLE_HUB_URL: ports.hubUrl,
    BINNACLE_CLUSTER_ID: id,
    BINNACLE_TOKEN: token,
    BINNACLE_HEALTH_PORT: "0",
  });
  store.create("namespaces", { apiVersion: "v1", kind: "Namespace", metadata: { name: config.namespace } });
  const access: KubeAccess = {
    server: NOWHERE,
    ca: null,
    isInsecure: false,
    serverName: null,
    namespace: null,
    identity: async () => NOBODY,
    connection: connectionTo(sandbox.handle),
  };
  const operator = await startOperator(config, { access, env: {}, log: ports.log });
  return {
    id,
    sandbox,
    async stop() {
      await operator.stop();
      await sandbox.stop();
    },
  };
}

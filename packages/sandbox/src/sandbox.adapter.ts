import { createCore } from "./api/core.adapter.ts";
import { createHandler, type Handler } from "./api/http/handler.adapter.ts";
import { type ApiServer, serve } from "./api/http/server.adapter.ts";
import { storeOf } from "./api/store-of.ts";
import { type ControllerOptions, type Controllers, startControllers } from "./controllers/controllers.adapter.ts";
import { realTime } from "./controllers/real-time.adapter.ts";
import type { Time } from "./controllers/timer-queue.ts";
import { kubeconfigOf } from "./kubeconfig.ts";
import { fileJournal } from "./store/file-journal.adapter.ts";
import type { Store } from "./store/store.ts";

export interface SandboxOptions {
  readonly name: string;
  /** Null for a cluster that is reached by its handler only. 0, which is taken when nothing is said, is any free port. */
  readonly port?: number | null;
  readonly host?: string;
  /** Without it everybody on this machine is admitted. kubectl and helm send a token only over TLS, which is not spoken here. */
  readonly token?: string;
  /** The file in which the cluster is kept over a restart; without it, it is gone with the process. */
  readonly persistPath?: string;
  readonly time?: Time;
  readonly controllers?: ControllerOptions;
  /** As many changes as watches that come back may have missed. */
  readonly historyLength?: number;
}

/** A simulated cluster: its API, its controllers, and pods that only seem to run. */
export interface Sandbox {
  readonly name: string;
  /** Null when it listens on no port. */
  readonly url: string | null;
  readonly store: Store;
  /** The API without a connection. */
  readonly handle: Handler;
  readonly controllers: Controllers;
  kubeconfig(): string;
  stop(): Promise<void>;
}

const LOOPBACK = new Set(["127.0.0.1", "::1", "localhost"]);

export async function startSandbox(options: SandboxOptions): Promise<Sandbox> {
  const { name, port = 0, host = "127.0.0.1", token = null, persistPath, time = realTime, historyLength } = options;
  if (token === null && port !== null && !LOOPBACK.has(host)) {
    throw new Error(`A sandbox that listens on ${host} needs a token.`);
  }
  const core = createCore({
    clock: time,
    ...(persistPath === undefined ? {} : { journal: fileJournal(persistPath) }),
    ...(historyLength === undefined ? {} : { historyLength }),
  });
  const store = storeOf(core);
  const controllers = startControllers(store, time, options.controllers);
  const handle = createHandler({ core, token, logSource: controllers.logs, usageSource: controllers.usage });
  const server: ApiServer | null = port === null ? null : await serve(handle, { host, port });
  return {
    name,
    url: server?.url ?? null,
    store,
    handle,
    controllers,
    kubeconfig() {
      if (!server) throw new Error(`The sandbox ${name} listens on no port.`);
      return kubeconfigOf({ name, server: server.url, token });
    },
    async stop() {
      controllers.stop();
      await server?.stop();
      await core.table.settled();
    },
  };
}

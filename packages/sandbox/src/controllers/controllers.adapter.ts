import type { LogSource, UsageSource } from "../api/ports.ts";
import { createLogSource } from "../kubelet/log-source.store.ts";
import { nodePlaces, nodes } from "../kubelet/nodes.ts";
import { scheduler } from "../kubelet/scheduler.ts";
import { DEFAULT_SETTINGS, kubelet, type SimulationSettings } from "../kubelet/settings.ts";
import { createUsageSource } from "../kubelet/usage-source.store.ts";
import type { Store } from "../store/store.ts";
import { autoscalers } from "./autoscaler.ts";
import { furnish } from "./bootstrap.store.ts";
import type { Controller } from "./control.ts";
import { ControlLoop, type LoopPorts } from "./control-loop.adapter.ts";
import { cronJobs } from "./cron-job.ts";
import { daemonSets } from "./daemon-set.ts";
import { deployments } from "./deployment.ts";
import { EventRecorder } from "./event-recorder.store.ts";
import { garbage, podCleanup } from "./garbage.ts";
import { jobs } from "./job.ts";
import { namespaceDefaults, namespaces } from "./namespace.ts";
import { replicaSets } from "./replica-set.ts";
import { services } from "./service.ts";
import { statefulSets } from "./stateful-set.ts";
import type { Time } from "./timer-queue.ts";
import { StoreView } from "./view.store.ts";
import { volumeClaims } from "./volume-claim.ts";

export interface ControllerOptions {
  readonly settings?: Partial<SimulationSettings>;
  /** As pods would get it, in PEM. */
  readonly rootCertificate?: string;
  readonly onError?: NonNullable<LoopPorts["onError"]>;
}

export interface Controllers {
  readonly logs: LogSource;
  readonly usage: UsageSource;
  /** Whether nothing is to be done before time goes on or something changes. */
  readonly isIdle: boolean;
  stop(): void;
}

const NO_CERTIFICATE = "# This cluster is simulated and has no certificate.\n";

/** Brings a store to life. All that is known here comes from the store, so that a new start goes on where it stood. */
export function startControllers(store: Store, time: Time, options: ControllerOptions = {}): Controllers {
  const settings = { ...DEFAULT_SETTINGS, ...options.settings };
  const usage = createUsageSource(store, time);
  const { onError } = options;
  furnish(store);
  const loop = new ControlLoop(controllersOf(settings, usage, options.rootCertificate ?? NO_CERTIFICATE), {
    store,
    time,
    view: new StoreView(store),
    recorder: new EventRecorder(store, settings),
    ...(onError ? { onError } : {}),
  });
  const logs = createLogSource(store, time);
  loop.start(nodePlaces(settings).map((place) => ({ controller: "node", place })));
  return {
    logs,
    usage,
    get isIdle() {
      return loop.isIdle;
    },
    stop() {
      loop.stop();
      logs.stop();
    },
  };
}

const controllersOf = (settings: SimulationSettings, usage: UsageSource, rootCertificate: string): Controller[] => [
  nodes(settings),
  namespaces,
  namespaceDefaults(rootCertificate),
  garbage,
  deployments,
  replicaSets,
  statefulSets,
  daemonSets,
  jobs,
  cronJobs,
  autoscalers(usage),
  volumeClaims,
  services,
  scheduler,
  kubelet(settings),
  podCleanup(settings.mostFinishedPods),
];

import { randomUUID } from "node:crypto";
import {
  type AppBody,
  type ComponentRun,
  type DesiredKind,
  type DriftReport,
  HUB_PATH,
  type HubFrames,
  type InfrastructureAnswer,
  type InfrastructureRequest,
  type Reports,
  type RunRequest,
  type RunStatusRequest,
} from "@binnacle/contract";
import type { Refusal } from "../../packages/operator/src/desired/desired-state.ts";
import { realClock } from "../../packages/operator/src/kube/real-clock.adapter.ts";
import { type Link, type LinkPorts, startLink } from "../../packages/operator/src/link/link.adapter.ts";
import { MemoryStore } from "../../packages/operator/src/link/memory-store.fixture.ts";
import { createEventOutbox, createStatusOutbox, type StatusOutbox } from "../../packages/operator/src/link/outbox.ts";
import type { Answerer } from "../../packages/operator/src/link/ports.ts";
import { simulatedExec } from "./simulated-exec.ts";

export interface SimulatedOperator {
  readonly link: Link;
  readonly store: MemoryStore;
  readonly outbox: StatusOutbox;
  stop(): Promise<void>;
}

export interface SimulationOptions {
  /** Of the control plane. */
  readonly url: string;
  readonly token: string;
  /** The store that an earlier operator of the cluster has left. */
  readonly store?: MemoryStore;
  /** If true, every resource is reported as ready at once. */
  readonly reports?: boolean;
  /** The report on a resource, where it is another one. */
  readonly reportOf?: (applied: HubFrames["apply"]) => Reports[DesiredKind] | undefined;
  /** Answers to requests of the hub, in the place of those of a cluster in which nothing is. */
  readonly answers?: Partial<Answerer>;
  readonly ports?: Partial<LinkPorts>;
}

const IN_SYNC: DriftReport = { state: "in_sync", summary: null, fields: [], detected_at: null };

const AS_WANTED: { readonly [K in DesiredKind]: Reports[K] } = {
  project: { state: "ready", message: null },
  registry_secrets: { state: "ready", message: null },
  app: { phase: "running", reason: null, message: null, components: [], drift: IN_SYNC },
  addon_instance: { phase: "ready", reason: null, message: null, exports: {} },
};

/** Finds apps invalid, with the message, after an addon was attached to them. */
export const invalidOnceAttached =
  (message: string, isRefused: (app: AppBody["spec"]) => boolean): NonNullable<SimulationOptions["reportOf"]> =>
  (applied) => {
    if (applied.kind !== "app" || !isRefused(applied.body.spec)) return undefined;
    const isAttached = applied.body.spec.components.some(({ export_refs = [] }) => export_refs.length > 0);
    if (!isAttached) return undefined;
    return { phase: "invalid", reason: "UnknownExport", message, components: [], drift: IN_SYNC };
  };

/** A cluster in memory that reports everything to be as it is wanted, or as it is told. */
class ReportingStore extends MemoryStore {
  readonly #outbox: StatusOutbox;
  readonly #inner: MemoryStore;
  readonly #reportOf: NonNullable<SimulationOptions["reportOf"]>;

  constructor(inner: MemoryStore, outbox: StatusOutbox, reportOf: SimulationOptions["reportOf"] = () => undefined) {
    super();
    this.#inner = inner;
    this.#outbox = outbox;
    this.#reportOf = reportOf;
  }
  override inventory = () => this.#inner.inventory();
  override memory = () => this.#inner.memory();
  override remember = (events: Parameters<MemoryStore["remember"]>[0]) => this.#inner.remember(events);

  override async apply(frame: HubFrames["apply"]): Promise<Refusal | null> {
    const refusal = await this.#inner.apply(frame);
    if (!refusal) this.#outbox.report(frame.kind, frame, this.#reportOf(frame) ?? AS_WANTED[frame.kind]);
    return refusal;
  }

  override async remove(frame: HubFrames["remove"]): Promise<Refusal | null> {
    const refusal = await this.#inner.remove(frame);
    if (!refusal) this.#outbox.report(frame.kind, frame, { state: "gone" });
    return refusal;
  }
}

/** An operator without a cluster: the real link to the hub, and a memory in the place of Kubernetes. */
export function simulateOperator(options: SimulationOptions): SimulatedOperator {
  const { url, token, store = new MemoryStore(), reports = true, reportOf, answers = {}, ports = {} } = options;
  const outbox = createStatusOutbox(randomUUID);
  const link = startLink({
    hubUrl: url.replace(/^http/, "ws") + HUB_PATH,
    store: reports ? new ReportingStore(store, outbox, reportOf) : store,
    outbox,
    events: createEventOutbox(),
    answerer: {
      metrics: async () => ({ step: "60s", series: [] }),
      observe: observeNothing,
      run: async (request) => ({ run: begunRun(request) }),
      // Nothing is on it that would have to be cleared away.
      infrastructure: async (request) => nothingThere(request),
      async *logs() {},
      exec: simulatedExec,
      ...answers,
    },
    commands: {
      resync: () => outbox.resync(),
      settings: () => undefined,
      chartRepositories: () => undefined,
    },
    tokens: { current: async () => token, store: async () => undefined },
    facts: () => FACTS,
    operatorVersion: "simulated",
    clock: realClock,
    random: Math.random,
    newId: randomUUID,
    log: SILENT,
    ...ports,
  });
  return { link, store, outbox, stop: () => link.stop() };
}

/** Every run that is asked for has just begun. */
/** A cluster without pods that must leave and without volumes. */
export function nothingThere({ name }: InfrastructureRequest): InfrastructureAnswer {
  if (name === "describe_disks") return { disks: [] };
  return name === "local_volumes" ? { local_volumes: [], total: 0 } : { left: [] };
}

const begunRun = (request: RunRequest | RunStatusRequest): ComponentRun => {
  const component = request.name === "run" ? request.component : "web";
  const times = { created_at: new Date().toISOString(), started_at: null, finished_at: null };
  return { id: request.run_id, component, status: "pending", exit_code: null, message: null, ...times };
};

/** A cluster in which nothing runs. */
const observeNothing: Answerer["observe"] = async ({ name }) => {
  const empty = { truncated: false, observed_at: new Date().toISOString() };
  if (name === "resources") return { resources: { objects: [], ...empty } };
  if (name === "events") return { events: { events: [], ...empty } };
  return { deletion: { objects: [], volumes: [], ...empty } };
};

const FACTS = {
  kubernetes_version: "v1.37.1",
  node_count: 1,
  capacity: { cpu_cores: 4, memory_bytes: 8_000_000_000, pods: 110 },
};
const SILENT = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };

import type { DesiredKind } from "@binnacle/contract";
import type { HelmLoad } from "../helm/release.reconciler.ts";
import type { WatchSilence } from "../kube/watch-silence.ts";
import type { QueueDepth } from "../kube/work-queue.ts";

export interface ReconcileMetrics {
  reconciled(kind: DesiredKind, elapsedMs: number, hasFailed: boolean): void;
  /** The queue of a kind, which is read when somebody asks. */
  queue(kind: DesiredKind, depth: () => QueueDepth): void;
  /** How many Helms run, which is read when somebody asks. */
  helm(load: () => HelmLoad): void;
  /** What is known of the watches, likewise. */
  watches(silences: () => readonly WatchSilence[]): void;
}

interface OperatorMetrics extends ReconcileMetrics {
  /** In the text format of Prometheus. */
  text(facts: ProcessFacts): string;
  /** Whether the reconcilers come on. */
  readonly isAlive: boolean;
}

/** What only the process knows. */
export interface ProcessFacts {
  readonly version: string;
  readonly isConnected: boolean;
  readonly isLeading: boolean;
  readonly residentBytes: number;
  readonly cpuSeconds: number;
  readonly startedAtSeconds: number;
}

/**
 * Every request has its own time limit, and Helm is not waited for: a run that lasts longer hangs, and keeps its place in the queue until
 * the process is started again. A run against an API server that answers slowly takes minutes.
 */
const LONGEST_RUN_MS = 60 * 60_000;

const BUCKETS_SECONDS = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];

interface Durations {
  /** How many took at most as long as the bucket of the same place, and longer than the one before. */
  readonly counts: number[];
  count: number;
  sumSeconds: number;
  failed: number;
}

/** Counts what the reconcilers do. A library for it would take more memory than all that is counted. */
export function createMetrics(): OperatorMetrics {
  const kinds = new Map<DesiredKind, Durations>();
  const queues = new Map<DesiredKind, () => QueueDepth>();
  let helm: () => HelmLoad = () => ({ running: 0, waiting: 0 });
  let watches: () => readonly WatchSilence[] = () => [];

  function durationsOf(kind: DesiredKind): Durations {
    const known = kinds.get(kind);
    if (known) return known;
    const made = { counts: BUCKETS_SECONDS.map(() => 0), count: 0, sumSeconds: 0, failed: 0 };
    kinds.set(kind, made);
    return made;
  }

  return {
    reconciled(kind, elapsedMs, hasFailed) {
      const durations = durationsOf(kind);
      const seconds = elapsedMs / 1_000;
      const bucket = BUCKETS_SECONDS.findIndex((most) => seconds <= most);
      if (bucket !== -1) durations.counts[bucket] = (durations.counts[bucket] ?? 0) + 1;
      durations.count += 1;
      durations.sumSeconds += seconds;
      if (hasFailed) durations.failed += 1;
    },
    queue(kind, depth) {
      durationsOf(kind);
      queues.set(kind, depth);
    },
    helm(load) {
      helm = load;
    },
    watches(silences) {
      watches = silences;
    },
    get isAlive() {
      return [...queues.values()].every((depth) => depth().longestRunMs < LONGEST_RUN_MS);
    },
    text: (facts) =>
      [
        ...processMetrics(facts),
        ...queueMetrics(queues),
        ...reconcileMetrics(kinds),
        ...helmMetrics(helm()),
        ...watchMetrics(watches()),
      ]
        .map((line) => `${line}\n`)
        .join(""),
  };
}

const metric = (name: string, type: string, help: string, samples: readonly string[]) => [
  `# HELP ${name} ${help}`,
  `# TYPE ${name} ${type}`,
  ...samples.map((sample) => `${name}${sample}`),
];

const processMetrics = (facts: ProcessFacts) => [
  ...metric("binnacle_operator_build_info", "gauge", "The version of the operator", [`{version="${facts.version}"} 1`]),
  ...metric("binnacle_operator_connected", "gauge", "Whether the hub has taken the operator in", [
    ` ${facts.isConnected ? 1 : 0}`,
  ]),
  ...metric("binnacle_operator_leading", "gauge", "Whether this process has the Lease of its cluster and works", [
    ` ${facts.isLeading ? 1 : 0}`,
  ]),
  ...metric("process_resident_memory_bytes", "gauge", "Resident memory size in bytes", [` ${facts.residentBytes}`]),
  ...metric("process_cpu_seconds_total", "counter", "Total user and system CPU time in seconds", [
    ` ${facts.cpuSeconds}`,
  ]),
  ...metric("process_start_time_seconds", "gauge", "Start time of the process since the Unix epoch in seconds", [
    ` ${facts.startedAtSeconds}`,
  ]),
];

function queueMetrics(queues: ReadonlyMap<DesiredKind, () => QueueDepth>): string[] {
  const depths = [...queues].map(([kind, read]) => ({ kind, ...read() }));
  return [
    ...metric(
      "binnacle_operator_queue_depth",
      "gauge",
      "Resources that wait to be reconciled",
      depths.map(({ kind, ready }) => `{kind="${kind}"} ${ready}`),
    ),
    ...metric(
      "binnacle_operator_queue_failing",
      "gauge",
      "Resources whose last reconcile has failed",
      depths.map(({ kind, failing }) => `{kind="${kind}"} ${failing}`),
    ),
    ...metric(
      "binnacle_operator_reconcile_running_seconds",
      "gauge",
      "For how long the longest reconcile that is under way has lasted",
      depths.map(({ kind, longestRunMs }) => `{kind="${kind}"} ${longestRunMs / 1_000}`),
    ),
  ];
}

const helmMetrics = ({ running, waiting }: HelmLoad) => [
  ...metric("binnacle_operator_helm_running", "gauge", "Releases that Helm works on", [` ${running}`]),
  ...metric("binnacle_operator_helm_waiting", "gauge", "Releases that wait for one of the slots of Helm", [
    ` ${waiting}`,
  ]),
];

const watchMetrics = (silences: readonly WatchSilence[]) =>
  metric(
    "binnacle_operator_watch_silence_seconds",
    "gauge",
    "For how long nothing has come on the most silent watch of a kind, not even a bookmark",
    silences.map(({ kind, silentMs }) => `{kind="${kind}"} ${Math.max(0, silentMs) / 1_000}`),
  );

function reconcileMetrics(kinds: ReadonlyMap<DesiredKind, Durations>): string[] {
  const name = "binnacle_operator_reconcile_duration_seconds";
  const samples = [...kinds].flatMap(([kind, { counts, count, sumSeconds }]) => {
    let below = 0;
    const buckets = BUCKETS_SECONDS.map((most, index) => {
      below += counts[index] ?? 0;
      return `_bucket{kind="${kind}",le="${most}"} ${below}`;
    });
    return [
      ...buckets,
      `_bucket{kind="${kind}",le="+Inf"} ${count}`,
      `_sum{kind="${kind}"} ${sumSeconds}`,
      `_count{kind="${kind}"} ${count}`,
    ];
  });
  return [
    ...metric(name, "histogram", "Time that one reconcile of one resource takes", samples),
    ...metric(
      "binnacle_operator_reconcile_errors_total",
      "counter",
      "Reconciles that have failed",
      [...kinds].map(([kind, { failed }]) => `{kind="${kind}"} ${failed}`),
    ),
  ];
}

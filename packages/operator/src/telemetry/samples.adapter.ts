import type { ClusterFacts } from "@binnacle/contract";
import { NOT_OF_WORKLOADS } from "../helm/release-pods.ts";
import type { KubeClient, KubeObject, ListOptions, ResourceType } from "../kube/kube-client.ts";
import { KubeError } from "../kube/kube-error.ts";
import type { Clock } from "../kube/work-queue.ts";
import type { EventSink } from "../link/ports.ts";
import type { ReleaseComponent } from "./app-components.ts";
import { appsSelector } from "./component-pods.ts";
import type { Prometheus } from "./prometheus.adapter.ts";
import { namespacesOf, sampleOf } from "./samples.ts";

const EVERY_MS = 60_000;
/** The first sample is taken at a random moment, which spreads the samples of many operators. */
const FIRST_WITHIN_MS = 10_000;

const measured = (plural: string, kind: string, namespaced: boolean): ResourceType => ({
  group: "metrics.k8s.io",
  version: "v1beta1",
  plural,
  kind,
  namespaced,
});
const NODE_METRICS = measured("nodes", "NodeMetrics", false);
const POD_METRICS = measured("pods", "PodMetrics", true);

export interface SamplesPorts {
  readonly kube: Pick<KubeClient, "list">;
  readonly clusterId: string;
  readonly capacity: () => ClusterFacts["capacity"];
  /** Components that run as Helm releases, from memory. */
  readonly releases: () => readonly ReleaseComponent[];
  readonly prometheus: Pick<Prometheus, "find">;
  readonly events: Pick<EventSink, "samples">;
  readonly clock: Clock;
  readonly nowMs: () => number;
  /** Even in 0..1. */
  readonly random: () => number;
  readonly log: { warn(fields: object, message: string): void };
}

/** Takes a sample every minute, where there is no Prometheus. */
export function startSamples(ports: SamplesPorts): { stop(): Promise<void> } {
  const { kube, clusterId, clock, log, events, nowMs } = ports;
  let isStopped = false;
  let isDown = false;
  let stopTimer = () => {};
  let measuring = Promise.resolve();

  async function list(type: ResourceType, options: ListOptions = {}): Promise<readonly KubeObject[] | null> {
    try {
      return (await kube.list(type, options)).items;
    } catch (error) {
      if (isAbsent(error)) return null;
      throw error;
    }
  }

  /** Makes no request where there are no releases. */
  async function podsBeside(releases: readonly ReleaseComponent[]): Promise<readonly KubeObject[]> {
    const found: KubeObject[] = [];
    for (const namespace of namespacesOf(releases)) {
      const place = namespace === undefined ? {} : { namespace };
      found.push(...((await list(POD_METRICS, { ...place, labelSelector: NOT_OF_WORKLOADS })) ?? []));
    }
    return found;
  }

  async function measure(): Promise<void> {
    try {
      // One that is there and does not answer keeps nothing either.
      if (await ports.prometheus.find().catch(() => null)) return;
      const nodes = await list(NODE_METRICS);
      const pods = nodes && (await list(POD_METRICS, { labelSelector: appsSelector(clusterId) }));
      const releases = nodes ? ports.releases() : [];
      const otherPods = await podsBeside(releases);
      const capacity = ports.capacity();
      const sample = sampleOf({ nodes, pods: pods ?? [], otherPods, releases, capacity, atMs: nowMs() });
      if (!isStopped) events.samples(sample);
      isDown = false;
    } catch (err) {
      if (!isDown) log.warn({ err }, "the usage of the cluster could not be read; it is retried every minute");
      isDown = true;
    }
  }

  function schedule(ms: number): void {
    const atMs = clock.now() + ms;
    stopTimer = clock.after(ms, () => {
      measuring = measure().then(() => {
        if (!isStopped) schedule(Math.max(atMs + EVERY_MS - clock.now(), 0));
      });
    });
  }

  schedule(ports.random() * FIRST_WITHIN_MS);
  return {
    async stop() {
      isStopped = true;
      stopTimer();
      await measuring;
    },
  };
}

/** There is no metrics server, it does not answer, or the operator may not read it. */
const isAbsent = (error: unknown): boolean => error instanceof KubeError && [403, 404, 503].includes(error.status);

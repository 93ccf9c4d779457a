import { type InformerLog, startInformer } from "../kube/informer.adapter.ts";
import { keyOf } from "../kube/informer-cache.ts";
import type { KubeClient, KubeObject } from "../kube/kube-client.ts";
import { PODS } from "../kube/resource-types.ts";
import { type ComponentPod, followedPods, type PodContainer, podOf, slimPod } from "./component-pods.ts";
import { type ContainerPorts, followOf, LAST_WORDS_MS } from "./container-log.adapter.ts";
import { createChannel } from "./line-channel.ts";
import type { LogPosition, TimedLine } from "./log-position.ts";
import type { PodSelection } from "./pod-selection.ts";
import { createWakeable } from "./waiting.ts";

/** Lines that were read and not taken yet. */
const READ_AHEAD = 64;

export interface FollowPorts extends ContainerPorts {
  readonly kube: Pick<KubeClient, "podLogs" | "list" | "watch">;
  readonly log: ContainerPorts["log"] & InformerLog;
}

export interface FollowOptions {
  readonly namespace: string;
  readonly selection: PodSelection;
  /** Those that are known already. */
  readonly pods: readonly KubeObject[];
  /** Where to begin to read a container that was not followed before. */
  readonly positionOf: (pod: ComponentPod, container: string) => LogPosition;
  /** A pod that is gone does not come back. */
  readonly forget: (pod: ComponentPod) => void;
  readonly signal: AbortSignal;
  /** No pod comes after the first ones: the lines end when these have finished or are gone. */
  readonly endsWithPods: boolean;
}

export interface ContainerLine extends TimedLine {
  readonly pod: string;
  readonly container: string;
}

interface Reader {
  /** Null once it is to be followed no more. */
  container: PodContainer | null;
  readonly changes: ReturnType<typeof createWakeable>;
  readonly stopping: AbortController;
}

/** Follows the logs of all pods of a selection, including pods that start later, until the signal is aborted or the pods have ended. */
export async function* followPods(ports: FollowPorts, options: FollowOptions): AsyncGenerator<ContainerLine, void> {
  const { namespace, selection, signal } = options;
  const channel = createChannel<ContainerLine>(READ_AHEAD);
  const pods = new Map(options.pods.map((object) => [keyOf(object), podOf(object)]));
  /** Pods that the informer has not reported yet. */
  const unconfirmed = new Set(pods.keys());
  const readers = new Map<string, Reader>();
  const running = new Set<Promise<void>>();
  let hasSeenPods = pods.size > 0;

  function closeIfEnded(): void {
    if (!options.endsWithPods || !hasSeenPods || running.size > 0) return;
    if ([...pods.values()].every(({ isFinished }) => isFinished)) channel.close();
  }

  function reconsider(): void {
    if (signal.aborted) return;
    const chosen = followedPods(pods.values()).flatMap((pod) =>
      pod.containers.map((container) => ({ pod, container, id: `${pod.uid}/${container.name}` })),
    );
    const ids = new Set(chosen.map(({ id }) => id));
    for (const [id, reader] of readers) if (!ids.has(id)) dismiss(id, reader);
    for (const { pod, container, id } of chosen) {
      const reader = readers.get(id);
      if (reader) meet(reader, container);
      else readers.set(id, startReader(pod, container));
    }
    closeIfEnded();
  }

  function meet(reader: Reader, container: PodContainer | null): void {
    reader.container = container;
    reader.changes.wake();
  }

  function dismiss(id: string, reader: Reader): void {
    readers.delete(id);
    meet(reader, null);
    const cancel = ports.clock.after(LAST_WORDS_MS, () => reader.stopping.abort());
    reader.stopping.signal.addEventListener("abort", cancel, { once: true });
  }

  function startReader(pod: ComponentPod, container: PodContainer): Reader {
    const reader: Reader = { container, changes: createWakeable(), stopping: new AbortController() };
    const reading = read(pod, container.name, reader)
      .catch((err: unknown) => ports.log.warn({ err, pod: pod.name }, "the log of a pod is no longer read"))
      .finally(() => {
        reader.stopping.abort();
        running.delete(reading);
        closeIfEnded();
      });
    running.add(reading);
    return reader;
  }

  async function read(pod: ComponentPod, name: string, reader: Reader): Promise<void> {
    const place = { namespace, pod: pod.name, container: name };
    const live = { current: () => reader.container, changed: reader.changes.changed };
    const until = AbortSignal.any([signal, reader.stopping.signal]);
    for await (const line of followOf(ports, place, options.positionOf(pod, name), live, until)) {
      await channel.put({ ...line, pod: pod.name, container: name });
    }
  }

  const informer = startInformer({
    client: ports.kube,
    type: PODS,
    namespace,
    labelSelector: selection.labelSelector,
    trim: slimPod,
    log: ports.log,
    async onChange(key, object) {
      unconfirmed.delete(key);
      if (!object) selection.forget(key);
      const now = object && (await selection.isMeant(object)) ? podOf(object) : null;
      const before = pods.get(key);
      hasSeenPods ||= now !== null;
      if (now) pods.set(key, now);
      else pods.delete(key);
      reconsider();
      if (before && before.uid !== now?.uid) options.forget(before);
    },
  });
  // The informer does not report pods that were deleted before it started.
  void informer.synced.then(() => {
    for (const key of unconfirmed) pods.delete(key);
    reconsider();
  });
  reconsider();
  signal.addEventListener("abort", channel.close, { once: true });
  if (signal.aborted) channel.close();
  try {
    yield* channel;
  } finally {
    signal.removeEventListener("abort", channel.close);
    channel.close();
    for (const { stopping } of readers.values()) stopping.abort();
    await informer.stop();
    await Promise.all(running);
  }
}

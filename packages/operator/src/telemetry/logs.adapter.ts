import type { LogLine } from "@binnacle/contract";
import type { ReleasePodsSource } from "../helm/release-pods.ts";
import { KubeError } from "../kube/kube-error.ts";
import { PODS } from "../kube/resource-types.ts";
import { AnswerError, type Answerer, type DroppedLines, type LogStreamRequest } from "../link/ports.ts";
import type { AppComponent } from "./app-components.ts";
import {
  type ComponentPod,
  componentSelector,
  followedPods,
  isLabelValue,
  type PodContainer,
  podOf,
  runSelector,
  slimPod,
} from "./component-pods.ts";
import { createBudget } from "./connection-budget.ts";
import { type ContainerLine, type FollowPorts, followPods } from "./followed-pods.adapter.ts";
import { createLogPosition, instantAt, type LogPosition, secondOf, timeOf } from "./log-position.ts";
import { type TailSource, tailsOf } from "./log-tails.adapter.ts";
import { type PodSelection, podsLabelled, podsOfRelease } from "./pod-selection.ts";

/** Fewer than the connections for streams, so that logs never take those that watches need. */
const MOST_CONNECTIONS = 160;

/** The hub gives up on an operator that does not begin to answer for longer. */
const PODS_WITHIN_MS = 8_000;

export interface LogPorts extends Omit<FollowPorts, "budget"> {
  readonly clusterId: string;
  /** Null where the cluster holds no such app. */
  readonly componentsOf: (namespace: string, app: string) => readonly AppComponent[] | null;
  readonly releasePods: Pick<ReleasePodsSource, "read">;
  readonly nowMs: () => number;
}

/** Reads and follows what the pods of a component write. */
export function createLogs(given: LogPorts): Answerer["logs"] {
  const ports = { ...given, budget: createBudget(MOST_CONNECTIONS) };
  const { kube, clusterId, releasePods, nowMs } = ports;

  function selectionOf(app: string, { name, release }: AppComponent): PodSelection {
    return release
      ? podsOfRelease(() => releasePods.read(release))
      : podsLabelled(componentSelector(clusterId, app, name));
  }

  async function podsOf(namespace: string, selection: PodSelection, signal: AbortSignal) {
    const within = AbortSignal.any([signal, AbortSignal.timeout(PODS_WITHIN_MS)]);
    const { labelSelector } = selection;
    const listed = kube.list(PODS, { namespace, labelSelector, signal: within });
    const chosen = listed.then(({ items }) => selection.among(items));
    const pods = await Promise.race([chosen, unanswered(within)]).catch((error: unknown) => {
      throw unreadable(error);
    });
    return pods.map(slimPod);
  }

  return async function* logs(request, signal): AsyncGenerator<LogLine | DroppedLines> {
    const { namespace, app, component, tail_lines: tailLines, follow } = request;
    if (![app, component].every(isLabelValue)) throw noSuch(app, component);
    const asked = askedFor(request, nowMs());
    const { run } = request;
    const known = ports.componentsOf(namespace, app)?.find(({ name }) => name === component);
    const selection = run
      ? podsLabelled(runSelector(clusterId, app, run))
      : selectionOf(app, known ?? { name: component, release: null });
    const pods = await podsOf(namespace, selection, signal);
    if (!known && !run && pods.length === 0) throw noSuch(app, component);
    // The caller learns that the answer begins, although the first line may take long.
    yield { dropped: 0 };

    const seen = pods.map(podOf);
    const sourcesOf = (
      isRead: (pod: ComponentPod, container: PodContainer) => boolean,
      from: (pod: ComponentPod, container: string) => LogPosition,
    ): TailSource[] =>
      followedPods(seen).flatMap((pod) =>
        pod.containers
          .filter((container) => isRead(pod, container))
          .map(({ name }) => ({ place: { namespace, pod: pod.name, container: name }, position: from(pod, name) })),
      );
    if (request.previous) {
      const first = { ...asked.first, previous: true };
      const sources = sourcesOf(
        (_pod, { hasPrevious }) => hasPrevious,
        () => createLogPosition({ nowMs, first }),
      );
      for await (const line of tailsOf(ports, sources, { signal, isFollowing: false })) yield shown(component, line);
      return;
    }
    const begun = new Set(seen.flatMap(containersBegun));
    const positions = new Map<string, LogPosition>();
    const positionOf = (pod: ComponentPod, container: string): LogPosition => {
      const id = idOf(pod, container);
      // Pods that start later are read from their first line.
      const position = positions.get(id) ?? createLogPosition({ nowMs, ...(begun.has(id) ? asked : { first: {} }) });
      positions.set(id, position);
      return position;
    };

    if (tailLines > 0) {
      const sources = sourcesOf((pod, { name }) => begun.has(idOf(pod, name)), positionOf);
      for await (const line of tailsOf(ports, sources, { signal, isFollowing: follow })) yield shown(component, line);
    }
    if (!follow) return;
    const forget = (pod: ComponentPod) => {
      for (const { name } of pod.containers) positions.delete(idOf(pod, name));
    };
    const following = followPods(ports, { namespace, selection, pods, positionOf, forget, signal });
    for await (const line of following) yield shown(component, line);
  };
}

/** The parameters for the part of a log that was written before the stream. */
function askedFor({ tail_lines: tailLines, since_seconds }: LogStreamRequest, nowMs: number) {
  const before = (seconds: number) => secondOf(instantAt(nowMs - seconds * 1_000));
  const first = { tailLines, ...(since_seconds === null ? {} : { sinceTime: before(since_seconds) }) };
  return { first, again: tailLines === 0 ? { sinceTime: before(0) } : first };
}

const shown = (component: string, { instant, text, pod, container }: ContainerLine): LogLine => ({
  component,
  pod,
  container,
  time: timeOf(instant),
  line: text,
});

const idOf = (pod: ComponentPod, container: string): string => `${pod.uid}/${container}`;

const containersBegun = (pod: ComponentPod): string[] =>
  pod.containers.filter(({ run }) => run !== null).map(({ name }) => idOf(pod, name));

const noSuch = (app: string, component: string) =>
  new AnswerError("not_found", `The cluster holds no component ${component} of an app ${app}.`);

/** Fails once the signal is given. */
const unanswered = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    const fail = () => reject(new KubeError({ status: 0, reason: "Cancelled", message: "It takes too long." }));
    if (signal.aborted) fail();
    signal.addEventListener("abort", fail, { once: true });
  });

function unreadable(error: unknown): AnswerError {
  const isAway = error instanceof KubeError && (error.status === 0 || error.status >= 500);
  return isAway
    ? new AnswerError("unavailable", "The cluster's API server does not answer.")
    : new AnswerError("failed", "The operator could not list the pods of the component.");
}

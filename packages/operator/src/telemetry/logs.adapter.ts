import type { LogLine } from "@binnacle/contract";
import type { Answerer, DroppedLines, LogStreamRequest } from "../link/ports.ts";
import type { AppComponent } from "./app-components.ts";
import {
  type ComponentPod,
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
import { createPodLister, noSuchComponent, type PodListerPorts } from "./pod-lister.adapter.ts";
import { podsLabelled } from "./pod-selection.ts";

/** Fewer than the connections for streams, so that logs never take those that watches need. */
const MOST_CONNECTIONS = 160;

export interface LogPorts extends Omit<FollowPorts, "budget">, Omit<PodListerPorts, "kube"> {
  /** Null where the cluster holds no such app. */
  readonly componentsOf: (namespace: string, app: string) => readonly AppComponent[] | null;
  readonly nowMs: () => number;
}

/** Reads and follows what the pods of a component write. */
export function createLogs(given: LogPorts): Answerer["logs"] {
  const ports = { ...given, budget: createBudget(MOST_CONNECTIONS) };
  const { clusterId, nowMs } = ports;

  const { selectionOf, podsOf } = createPodLister(ports);

  return async function* logs(request, signal): AsyncGenerator<LogLine | DroppedLines> {
    const { namespace, app, component, tail_lines: tailLines, follow } = request;
    if (![app, component].every(isLabelValue)) throw noSuchComponent(app, component);
    const asked = askedFor(request, nowMs());
    const { run } = request;
    const known = ports.componentsOf(namespace, app)?.find(({ name }) => name === component);
    const selection = run
      ? podsLabelled(runSelector(clusterId, app, run))
      : selectionOf(app, known ?? { name: component, release: null });
    const pods = (await podsOf(namespace, selection, signal)).map(slimPod);
    if (!known && !run && pods.length === 0) throw noSuchComponent(app, component);
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
    const following = followPods(ports, {
      namespace,
      selection,
      pods,
      positionOf,
      forget,
      signal,
      // The Job of a run makes one pod.
      endsWithPods: run !== undefined,
    });
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

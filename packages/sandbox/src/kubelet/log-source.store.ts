import type { LogLine, LogPlace, LogSource } from "../api/ports.ts";
import { type Time, TimerQueue } from "../controllers/timer-queue.ts";
import type { KubeObject } from "../store/kube-object.ts";
import type { Store, StoreEvent } from "../store/store.ts";
import { laterRun, runOf } from "./container-run.ts";
import { type ContainerRun, linesUntil, logNamesOf, nextLineMs, writtenLines } from "./log-lines.ts";

interface Follower {
  readonly place: LogPlace;
  readonly run: ContainerRun;
  readonly tell: (line: LogLine | null) => void;
  /** The time up to which generated lines have been sent. */
  toldMs: number;
  /** How many lines of the ConfigMap have been sent. */
  toldWritten: number;
}

/**
 * Logs are generated when they are read, unless a ConfigMap holds them. Followers of all pods share one timer, and
 * without any there is none.
 */
export function createLogSource(store: Store, time: Time): LogSource & { stop(): void } {
  const followers = new Map<string, Follower>();
  let count = 0;
  let unwatch: (() => void) | null = null;
  const timers = new TimerQueue(time, (key) => {
    const follower = followers.get(key);
    if (follower) goOn(key, follower);
  });

  function goOn(key: string, follower: Follower): void {
    const nowMs = time.nowMs();
    const run = newestRun(store, follower) ?? { ...follower.run, endedMs: nowMs };
    const written = writtenLog(store, follower.place.pod);
    const lines = written
      ? written.slice(follower.toldWritten)
      : linesUntil(run, nowMs).filter(({ atMs }) => atMs > follower.toldMs);
    follower.toldMs = nowMs;
    follower.toldWritten = written?.length ?? 0;
    for (const line of lines) follower.tell(line);
    const nextMs = nextLineMs(run, nowMs);
    if (nextMs === null) {
      end(key);
      follower.tell(null);
    } else {
      timers.set(key, written ? run.endedMs : nextMs);
    }
  }

  /** News of a pod or of its written log come at once, not with the line that would have come next. */
  function notice({ resource, object }: StoreEvent): void {
    if (resource !== "pods" && resource !== "configmaps") return;
    for (const [key, { place }] of followers) {
      const { metadata } = place.pod;
      const isAbout =
        resource === "pods"
          ? metadata.uid === object.metadata.uid
          : metadata.namespace === object.metadata.namespace && logNamesOf(place.pod).includes(object.metadata.name);
      if (isAbout) timers.set(key, time.nowMs());
    }
  }

  function end(key: string): void {
    timers.set(key, null);
    followers.delete(key);
    if (followers.size > 0) return;
    unwatch?.();
    unwatch = null;
  }

  return {
    read(place) {
      const run = runOf(place);
      return run && (writtenLog(store, place.pod) ?? linesUntil(run, time.nowMs()));
    },
    follow(place, tell) {
      const run = runOf(place);
      const nowMs = time.nowMs();
      if (!run || nextLineMs(run, nowMs) === null) {
        queueMicrotask(() => tell(null));
        return () => undefined;
      }
      const key = String(count++);
      const written = writtenLog(store, place.pod);
      followers.set(key, { place, run, tell, toldMs: nowMs, toldWritten: written?.length ?? 0 });
      timers.set(key, written ? null : nextLineMs(run, nowMs));
      unwatch ??= store.watch("*", notice);
      return () => end(key);
    },
    stop() {
      for (const [key, { tell }] of [...followers]) {
        end(key);
        tell(null);
      }
    },
  };
}

/** Null where nobody has written down what the pod logs. */
function writtenLog(store: Store, pod: KubeObject): readonly LogLine[] | null {
  const { namespace } = pod.metadata;
  const [found] = logNamesOf(pod).flatMap((name) => store.get("configmaps", name, namespace) ?? []);
  return found ? writtenLines(found) : null;
}

/** The run that is followed as it is by now; null when its pod is gone or has forgotten it. */
function newestRun(store: Store, { place, run }: Follower): ContainerRun | null {
  const { name, namespace, uid } = place.pod.metadata;
  const pod = store.get("pods", name, namespace);
  return pod?.metadata.uid === uid && pod ? laterRun(run, place, pod) : null;
}

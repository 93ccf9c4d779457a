import type { KubeClient } from "../kube/kube-client.ts";
import { KubeError } from "../kube/kube-error.ts";
import type { Clock } from "../kube/work-queue.ts";
import { AnswerError } from "../link/ports.ts";
import type { PodContainer } from "./component-pods.ts";
import type { ConnectionBudget } from "./connection-budget.ts";
import type { LogPosition, TimedLine } from "./log-position.ts";
import { pause, retryMsAfter, type Wakeable } from "./waiting.ts";

const TAIL_TRIES = 3;
/** The last lines of a pod may arrive a moment after the pod has finished or is gone. */
export const LAST_WORDS_MS = 3_000;
/** A finished pod may be on a node that is gone. After about a minute nobody waits for its last lines. */
const FINAL_TRIES = 8;

export interface ContainerPorts {
  readonly kube: Pick<KubeClient, "podLogs">;
  readonly clock: Clock;
  readonly budget: ConnectionBudget;
  readonly log: { debug(fields: object, message: string): void };
}

export interface ContainerPlace {
  readonly namespace: string;
  readonly pod: string;
  readonly container: string;
}

interface Outcome {
  readonly hasRead: boolean;
  /** Of the connection; null where the log itself has ended. */
  readonly error: unknown;
}

/** One connection's worth of lines. */
async function* readOnce(
  { kube, budget }: ContainerPorts,
  { namespace, pod, container }: ContainerPlace,
  position: LogPosition,
  { follow, signal }: { readonly follow: boolean; readonly signal: AbortSignal },
): AsyncGenerator<TimedLine, Outcome> {
  let hasRead = false;
  let lost: unknown = null;
  const onLost = (error: KubeError) => {
    lost = error;
  };
  if (!budget.take()) return { hasRead, error: tooMany() };
  try {
    const asking = { ...position.open(), container, follow, timestamps: true, signal, onLost };
    for await (const raw of kube.podLogs(namespace, pod, asking)) {
      const line = position.take(raw);
      if (!line) continue;
      hasRead = true;
      yield line;
    }
    if (!signal.aborted) position.answered();
  } catch (error) {
    lost = error;
  } finally {
    budget.giveBack();
  }
  return { hasRead, error: lost };
}

const tooMany = () => new AnswerError("unavailable", "Too many log streams of this cluster are open.");

/** The lines that there are. Fails when they cannot be had; a container that has not begun or is gone has none. */
export async function* tailOf(
  ports: ContainerPorts,
  place: ContainerPlace,
  position: LogPosition,
  signal: AbortSignal,
): AsyncGenerator<TimedLine, void> {
  for (let tries = 1; !signal.aborted; tries += 1) {
    const { error } = yield* readOnce(ports, place, position, { follow: false, signal });
    if (error === null || hasNoLog(error)) return;
    if (tries >= TAIL_TRIES || error instanceof AnswerError) throw error;
    await pause(ports.clock, retryMsAfter(tries), signal);
  }
}

/** Kubernetes says so of a container that waits for its image, and of a pod that went meanwhile. */
const hasNoLog = (error: unknown): boolean =>
  error instanceof KubeError && (error.status === 400 || error.status === 404);

/** A container whose pod is known from moment to moment. */
export interface LiveContainer extends Wakeable {
  /** Null once its pod is gone. */
  current(): PodContainer | null;
}

/** A connection that follows may stay open although nothing comes any more. What is left is then read without following. */
async function leaveOnceFinal(
  clock: Clock,
  container: LiveContainer,
  leaving: AbortController,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted && container.current()?.isFinal === false) await container.changed(signal);
  await pause(clock, LAST_WORDS_MS, signal);
  leaving.abort();
}

/** Each line once, through lost connections and restarts of the container, until its pod has finished or is gone. */
export async function* followOf(
  ports: ContainerPorts,
  place: ContainerPlace,
  position: LogPosition,
  container: LiveContainer,
  signal: AbortSignal,
): AsyncGenerator<TimedLine, void> {
  let finishedRun: string | null = null;
  let failures = 0;
  for (let seen = container.current(); seen && !signal.aborted; seen = container.current()) {
    if (seen.run === null || seen.run === finishedRun) {
      if (seen.isFinal) return;
      await container.changed(signal);
      continue;
    }
    const leaving = new AbortController();
    const until = AbortSignal.any([signal, leaving.signal]);
    if (!seen.isFinal) void leaveOnceFinal(ports.clock, container, leaving, until);
    const { hasRead, error } = yield* readOnce(ports, place, position, { follow: !seen.isFinal, signal: until });
    const now = container.current();
    if (leaving.signal.aborted) continue;
    leaving.abort();
    failures = hasRead ? 1 : failures + 1;
    const hasEnded = now?.run === seen.run && (seen.isFinal || !now.isRunning);
    if (hasEnded && (error === null || (seen.isFinal && (hasNoLog(error) || failures >= FINAL_TRIES)))) {
      finishedRun = seen.run;
      continue;
    }
    if (error !== null)
      ports.log.debug({ err: error, ...place, failures }, "a log could not be followed; it is retried");
    await pause(ports.clock, retryMsAfter(failures), signal);
  }
}

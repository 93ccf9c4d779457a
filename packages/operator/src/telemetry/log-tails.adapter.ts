import { AnswerError } from "../link/ports.ts";
import { type ContainerPlace, type ContainerPorts, tailOf } from "./container-log.adapter.ts";
import type { ContainerLine } from "./followed-pods.adapter.ts";
import { mergedByTime } from "./line-channel.ts";
import type { LogPosition, TimedLine } from "./log-position.ts";
import { pause } from "./waiting.ts";

/** A node that does not answer does not hold up the lines of others for longer. */
const PATIENCE_MS = 4_000;

export interface TailSource {
  readonly place: ContainerPlace;
  readonly position: LogPosition;
}

export interface TailPorts extends ContainerPorts {
  readonly log: ContainerPorts["log"] & { warn(fields: object, message: string): void };
}

export interface TailOptions {
  readonly signal: AbortSignal;
  /** Then a log that is late is left to those who follow it. */
  readonly isFollowing: boolean;
}

/**
 * Merges the logs of many containers in the order of time; late ones come last. Rejects where no log could be read and
 * nobody retries.
 */
export async function* tailsOf(
  ports: TailPorts,
  sources: readonly TailSource[],
  { signal, isFollowing }: TailOptions,
): AsyncGenerator<ContainerLine, void> {
  const ending = new AbortController();
  const failures: unknown[] = [];
  const opened = sources.map(openTail);
  try {
    const heads = Promise.all(opened.map(({ head }) => head));
    await Promise.race([heads, pause(ports.clock, PATIENCE_MS, AbortSignal.any([signal, ending.signal]))]);
    const late = opened.filter(({ isThere }) => !isThere());
    if (isFollowing) await Promise.all(late.map((one) => one.giveUp()));
    const prompt = isFollowing ? opened : opened.filter((one) => !late.includes(one));
    yield* mergedByTime(prompt.map(({ lines }) => lines()));
    if (isFollowing || signal.aborted) return;
    yield* mergedByTime(late.map(({ lines }) => lines()));
    if (sources.length > 0 && failures.length === sources.length) throw explained(failures[0]);
  } finally {
    ending.abort();
  }

  function openTail({ place, position }: TailSource) {
    const leaving = new AbortController();
    const tail = tailOf(ports, place, position, AbortSignal.any([signal, ending.signal, leaving.signal]));
    let isThere = false;
    const head = tail
      .next()
      .catch((error: unknown) => failed(place, error))
      .finally(() => {
        isThere = true;
      });
    async function* lines(): AsyncGenerator<ContainerLine, void> {
      try {
        for (let next = await head; !next.done; next = await tail.next()) yield labelled(next.value, place);
      } catch (error) {
        failed(place, error);
      } finally {
        await tail.return();
      }
    }
    /** A line that has just come all the same is not lost: whoever follows would take it for shown. */
    function giveUp() {
      leaving.abort();
      return head;
    }
    return { head, lines, giveUp, isThere: () => isThere };
  }

  function failed(place: ContainerPlace, err: unknown): IteratorReturnResult<void> {
    failures.push(err);
    if (!signal.aborted) ports.log.warn({ err, ...place }, "a log could not be read");
    return { done: true, value: undefined };
  }
}

const labelled = (line: TimedLine, { pod, container }: ContainerPlace): ContainerLine => ({ ...line, pod, container });

const explained = (error: unknown): AnswerError =>
  error instanceof AnswerError ? error : new AnswerError("unavailable", "The logs could not be read from the nodes.");

import { setTimeout } from "node:timers/promises";
import {
  creditOf,
  type DescribedDisk,
  type ExecFailure,
  INFRASTRUCTURE_LIMITS,
  type InfrastructureRequest,
  type LeftObject,
  LINK_LIMITS,
  type LogLine,
  type ObservationRequest,
  type ObservedAnswers,
} from "@binnacle/contract";
import { codedConflict, Fault } from "../fault.ts";
import type { DroppedLines, ExecEnd, ExecListener, LogRequest, OperatorRequests } from "./operator-requests.ts";
import { faultOf, type OpenRequest, type OperatorRequest, type Reply } from "./request-frames.ts";
import type { RequestRouter } from "./request-router.runner.ts";

const ANSWER_WITHIN_MS = 10_000;

const CLEARED_WITHIN_MS = 10 * 60_000;
/** How long the operator waits before it says what is left, so that its answer comes in time. */
const PASS = { timeout_seconds: 5 };
const MOST_NAMED = 5;

/** Whether a signal was given by the time of its caller. */
const isTimeout = (reason: unknown): boolean => reason instanceof DOMException && reason.name === "TimeoutError";

function leftText(problem: string, left: readonly LeftObject[]): string {
  const named = left
    .slice(0, MOST_NAMED)
    .map(({ kind, namespace, name, reason }) => `${kind} ${namespace ? `${namespace}/` : ""}${name} (${reason})`);
  const more = left.length > MOST_NAMED ? ` and ${left.length - MOST_NAMED} more` : "";
  return `${problem} in time: ${named.join(", ")}${more}.`;
}

const noAnswer = () => new Fault("timed_out", "The cluster's operator did not answer in time.");
const unexpectedAnswer = () =>
  new Fault("bad_gateway", "The cluster's operator gave another answer than was asked for.");

/** Sends requests and waits for the answers. A request that takes too long is cancelled. */
export function operatorRequests(
  router: RequestRouter,
  withinMs = ANSWER_WITHIN_MS,
  clearing = { withinMs: CLEARED_WITHIN_MS, everyMs: 1_000 },
): OperatorRequests {
  async function answerTo(clusterId: string, request: OperatorRequest, ms = withinMs): Promise<Reply> {
    const answer = Promise.withResolvers<Reply>();
    const open = await router.send(clusterId, request, answer.resolve);
    return withTimeout(answer.promise, open, ms);
  }

  async function withTimeout(answer: Promise<Reply>, open: OpenRequest, ms = withinMs): Promise<Reply> {
    const late = Promise.withResolvers<never>();
    const timer = globalThis.setTimeout(() => late.reject(noAnswer()), ms);
    try {
      return await Promise.race([answer, late.promise]);
    } catch (error) {
      open.cancel();
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  async function leftAfter(clusterId: string, request: InfrastructureRequest): Promise<readonly LeftObject[]> {
    const reply = await answerTo(clusterId, request);
    if ("failed" in reply) throw faultOf(reply);
    if (!("left" in reply)) throw unexpectedAnswer();
    return reply.left;
  }

  /**
   * Repeats the request until nothing is left. An operator that was there and is not may be on a drained node itself, and comes
   * back on another one.
   */
  async function cleared(
    clusterId: string,
    request: InfrastructureRequest,
    problem: string,
    signal: AbortSignal,
  ): Promise<void> {
    const endMs = performance.now() + clearing.withinMs;
    let left: readonly LeftObject[] | null = null;
    for (;;) {
      if (left !== null && isTimeout(signal.reason)) throw new Fault("timed_out", leftText(problem, left));
      signal.throwIfAborted();
      try {
        left = await leftAfter(clusterId, request);
      } catch (error) {
        const mayReturn = error instanceof Fault && (error.kind === "unavailable" || error.kind === "timed_out");
        if (left === null || !mayReturn || performance.now() >= endMs) throw error;
      }
      if (left.length === 0) return;
      if (performance.now() >= endMs) throw new Fault("timed_out", leftText(problem, left));
      // The signal is looked at where the loop begins.
      await setTimeout(clearing.everyMs, undefined, { signal }).catch(() => undefined);
    }
  }

  return {
    isConnected: (clusterId) => router.isConnected(clusterId),

    ...appRequests(answerTo),

    drainNodes: (clusterId, nodes, signal) =>
      cleared(clusterId, { name: "drain_nodes", nodes: [...nodes], ...PASS }, "The nodes were not drained", signal),

    removeCloudObjects: (clusterId, signal) =>
      cleared(clusterId, { name: "remove_cloud_objects", ...PASS }, "Load balancers and volumes are left", signal),

    ...volumeRequests(answerTo),
    ...ownRequests(answerTo),

    async logs(request, signal) {
      const first = Promise.withResolvers<Reply>();
      const queue = new LineQueue((bytes) => open.credit(bytes));
      const open = await router.send(request.clusterId, logsRequest(request), (reply) => {
        first.resolve(reply);
        if ("lines" in reply) queue.put(reply);
        else if ("end" in reply) queue.end(reply.end === null ? null : new Fault("bad_gateway", reply.end));
        else queue.end("failed" in reply ? faultOf(reply) : unexpectedAnswer());
      });
      const leave = () => {
        open.cancel();
        queue.end(null);
        first.resolve({ end: null });
      };
      if (signal.aborted) leave();
      signal.addEventListener("abort", leave, { once: true });
      const reply = await withTimeout(first.promise, open);
      if ("failed" in reply) throw faultOf(reply);
      if ("end" in reply && reply.end !== null) throw new Fault("bad_gateway", reply.end);
      return queue.take();
    },

    async exec({ clusterId, ...stream }) {
      const first = Promise.withResolvers<Reply>();
      let listener: ExecListener | null = null;
      let isOver = false;
      const open = await router.send(clusterId, { name: "exec", ...stream }, (reply) => {
        if (isOver) return;
        first.resolve(reply);
        if ("output" in reply) listener?.output(reply.output.channel, Buffer.from(reply.output.data, "base64"));
        else if ("taken" in reply) listener?.taken(reply.taken);
        else if (!("target" in reply)) {
          isOver = true;
          listener?.ended(endOf(reply));
        }
      });
      const reply = await withTimeout(first.promise, open);
      if ("failed" in reply) throw faultOf(reply);
      if ("end" in reply) throw refusedExec(reply.code ?? "failed", reply.end ?? "The operator has ended it.");
      if (!("target" in reply)) {
        open.cancel();
        throw unexpectedAnswer();
      }
      const { pod, container, credit_bytes: inputBytes } = reply.target;
      return {
        pod,
        container,
        inputBytes,
        start(given) {
          listener = given;
          if (isOver) given.ended({ failed: "lost", message: "The connection of the cluster's operator was lost." });
          else open.credit(LINK_LIMITS.streamCreditBytes);
        },
        write: (data) => open.input({ data: data.toString("base64") }),
        endInput: () => open.input({ end: true }),
        resize: (size) => open.input({ size }),
        credit: (bytes) => open.credit(bytes),
        cancel() {
          isOver = true;
          open.cancel();
        },
      };
    },
  };
}

type AnswerTo = (clusterId: string, request: OperatorRequest, ms?: number) => Promise<Reply>;

const appRequests = (answerTo: AnswerTo): Pick<OperatorRequests, "metrics" | "observe" | "run"> => ({
  async metrics({ clusterId, app, rangeSeconds }) {
    const reply = await answerTo(clusterId, { name: "metrics", app, range_seconds: rangeSeconds });
    if ("failed" in reply) throw faultOf(reply);
    if (!("metrics" in reply)) throw unexpectedAnswer();
    return reply.metrics;
  },

  async observe<R extends ObservationRequest>(clusterId: string, request: R, ms?: number) {
    const reply = await answerTo(clusterId, request, ms);
    if ("failed" in reply) throw faultOf(reply);
    if (!(request.name in reply)) throw unexpectedAnswer();
    return (reply as unknown as ObservedAnswers)[request.name as R["name"]];
  },

  async run(clusterId, request) {
    const reply = await answerTo(clusterId, request);
    if ("failed" in reply) throw faultOf(reply);
    if (!("run" in reply)) throw unexpectedAnswer();
    return reply.run;
  },
});

function volumeRequests(answerTo: AnswerTo): Pick<OperatorRequests, "describeDisks" | "localVolumes"> {
  return {
    async describeDisks(clusterId, disks) {
      const described: DescribedDisk[] = [];
      for (let from = 0; from < disks.length; from += INFRASTRUCTURE_LIMITS.disks) {
        const some = disks.slice(from, from + INFRASTRUCTURE_LIMITS.disks);
        const reply = await answerTo(clusterId, { name: "describe_disks", disks: some });
        if ("failed" in reply) throw faultOf(reply);
        if (!("disks" in reply)) throw unexpectedAnswer();
        described.push(...reply.disks);
      }
      return described;
    },

    async localVolumes(clusterId, nodes) {
      const reply = await answerTo(clusterId, { name: "local_volumes", nodes: [...nodes] });
      if ("failed" in reply) throw faultOf(reply);
      if (!("local_volumes" in reply)) throw unexpectedAnswer();
      return { named: reply.local_volumes, total: reply.total };
    },
  };
}

/** About the operator itself. */
function ownRequests(answerTo: AnswerTo): Pick<OperatorRequests, "upgrade" | "detach" | "resync"> {
  return {
    async detach(clusterId) {
      const reply = await answerTo(clusterId, { name: "detach", ...PASS });
      if ("failed" in reply) throw faultOf(reply);
      if (!("left" in reply)) throw unexpectedAnswer();
      return reply.left;
    },

    async upgrade(clusterId, request) {
      const reply = await answerTo(clusterId, request);
      if ("failed" in reply) throw faultOf(reply);
      if (!("operator_upgrade" in reply)) throw unexpectedAnswer();
      return reply.operator_upgrade;
    },

    async resync(clusterId) {
      const reply = await answerTo(clusterId, { name: "resync" });
      if ("failed" in reply) throw faultOf(reply);
      if (!("done" in reply)) throw unexpectedAnswer();
    },
  };
}

function endOf(reply: Reply): ExecEnd {
  if ("failed" in reply) return { failed: reply.failed === "refused" ? "failed" : "lost", message: reply.message };
  if (!("end" in reply)) return { failed: "failed", message: unexpectedAnswer().message };
  if (reply.exit_code !== undefined) return { exitCode: reply.exit_code };
  return { failed: "failed", message: reply.end ?? "The command has ended without an exit code." };
}

function refusedExec(code: ExecFailure, message: string): Fault {
  switch (code) {
    case "not_found":
      return new Fault("not_found", message);
    case "not_running":
      return codedConflict("not_running", message);
    case "too_many":
      return new Fault("rate_limited", message);
    case "unavailable":
      return new Fault("unavailable", message);
    case "failed":
      return new Fault("bad_gateway", message);
  }
}

const logsRequest = (request: LogRequest): OperatorRequest => ({
  name: "logs",
  namespace: request.namespace,
  app: request.app,
  component: request.component,
  tail_lines: request.tailLines,
  since_seconds: request.sinceSeconds,
  follow: request.follow,
  previous: request.previous,
  ...(request.run ? { run: request.run } : {}),
});

interface Batch {
  readonly lines: readonly LogLine[];
  readonly dropped: number;
}

/**
 * Log lines between an operator that sends and a reader who takes them. Credit is given for lines that were taken, so that
 * never more lines wait than the credit with which the stream began.
 */
class LineQueue {
  readonly #batches: Batch[] = [];
  readonly #credit: (bytes: number) => void;
  #end: { readonly error: Error | null } | null = null;
  #wake: () => void = () => undefined;

  constructor(credit: (bytes: number) => void) {
    this.#credit = credit;
  }

  /** Batches without lines need no credit, so they are added up instead of queued. */
  put({ lines, dropped }: Batch): void {
    const last = this.#batches.at(-1);
    if (last?.lines.length === 0) this.#batches[this.#batches.length - 1] = { lines, dropped: last.dropped + dropped };
    else this.#batches.push({ lines, dropped });
    this.#wake();
  }

  end(error: Error | null): void {
    this.#end ??= { error };
    this.#wake();
  }

  /** Ends after the lines that are queued, or with the error that ended the stream. */
  async *take(): AsyncGenerator<LogLine | DroppedLines, void, void> {
    for (;;) {
      const batch = this.#batches.shift();
      if (batch) {
        if (batch.dropped > 0) yield { dropped: batch.dropped };
        yield* batch.lines;
        if (batch.lines.length > 0) this.#credit(creditOf(batch.lines));
      } else if (this.#end) {
        if (this.#end.error) throw this.#end.error;
        return;
      } else {
        await new Promise<void>((resolve) => (this.#wake = resolve));
      }
    }
  }
}

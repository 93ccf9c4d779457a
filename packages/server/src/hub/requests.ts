import { type AddonRemoval, operatorUnreachable } from "../addons/addon-removal.ts";
import { Fault } from "../fault.ts";
import type { Asking } from "./asking.store.ts";
import type { Talk } from "./conversation.ts";
import { LineQueue } from "./line-queue.ts";
import type { LogRequest, OperatorRequests } from "./operator-requests.ts";
import { faultOf, type Question, type Reply } from "./question.ts";

const ANSWER_WITHIN_MS = 10_000;

const noAnswer = () => new Fault("timed_out", "The cluster's operator did not answer in time.");
const nonsense = () => new Fault("bad_gateway", "The cluster's operator gave another answer than was asked for.");

/** Asks and waits; what takes longer than it may is given up. */
export function operatorRequests(asking: Asking, withinMs = ANSWER_WITHIN_MS): OperatorRequests & AddonRemoval {
  async function answerTo(clusterId: string, question: Question): Promise<Reply> {
    const answer = Promise.withResolvers<Reply>();
    const talk = await asking.ask(clusterId, question, answer.resolve);
    return inTime(answer.promise, talk);
  }

  async function inTime(answer: Promise<Reply>, talk: Talk): Promise<Reply> {
    const late = Promise.withResolvers<never>();
    const timer = setTimeout(() => late.reject(noAnswer()), withinMs);
    try {
      return await Promise.race([answer, late.promise]);
    } catch (error) {
      talk.cancel();
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  async function done(clusterId: string, question: Question): Promise<void> {
    const reply = await answerTo(clusterId, question);
    if ("failed" in reply) throw faultOf(reply);
    if (!("done" in reply)) throw nonsense();
  }

  return {
    async metrics({ clusterId, app, rangeSeconds }) {
      const reply = await answerTo(clusterId, { name: "metrics", app, range_seconds: rangeSeconds });
      if ("failed" in reply) throw faultOf(reply);
      if (!("metrics" in reply)) throw nonsense();
      return reply.metrics;
    },

    resync: (clusterId) => done(clusterId, { name: "resync" }),

    async handOver({ clusterId, addonInstanceId, key, generation }) {
      const removal = { kind: "addon_instance", key, resource_id: addonInstanceId, generation } as const;
      await done(clusterId, { name: "remove", ...removal }).catch((error: unknown) => {
        throw error instanceof Fault ? operatorUnreachable() : error;
      });
    },

    async logs(request, signal) {
      const first = Promise.withResolvers<Reply>();
      const queue = new LineQueue((bytes) => talk.credit(bytes));
      const talk = await asking.ask(request.clusterId, logsQuestion(request), (reply) => {
        first.resolve(reply);
        if ("lines" in reply) queue.put(reply);
        else if ("end" in reply) queue.end(reply.end === null ? null : new Fault("bad_gateway", reply.end));
        else queue.end("failed" in reply ? faultOf(reply) : nonsense());
      });
      const leave = () => {
        talk.cancel();
        queue.end(null);
        first.resolve({ end: null });
      };
      if (signal.aborted) leave();
      signal.addEventListener("abort", leave, { once: true });
      const reply = await inTime(first.promise, talk);
      if ("failed" in reply) throw faultOf(reply);
      if ("end" in reply && reply.end !== null) throw new Fault("bad_gateway", reply.end);
      return queue.take();
    },
  };
}

const logsQuestion = (request: LogRequest): Question => ({
  name: "logs",
  namespace: request.namespace,
  app: request.app,
  component: request.component,
  tail_lines: request.tailLines,
  since_seconds: request.sinceSeconds,
  follow: request.follow,
});

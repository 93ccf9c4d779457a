import { type HubFrames, safeText } from "@binnacle/contract";
import type { OutgoingFrameOf } from "./frames.ts";
import { AnswerError, type Answerer, type Commands, type LinkLog } from "./ports.ts";

const MOST_AT_ONCE = 32;

type Asked = HubFrames["request"] | HubFrames["command"];
type Answer = OutgoingFrameOf<"response">["answer"];
type ErrorCode = AnswerError["code"];

export interface RequestPorts {
  readonly answerer: Answerer;
  readonly commands: Commands;
  readonly log: LinkLog;
  /** False where the frame is larger than the hub takes. */
  readonly answer: (frame: OutgoingFrameOf<"response">) => boolean;
}

/** Answers what the hub asks and commands, each once, in the order in which the answers are found. */
export function createRequests({ answerer, commands, log, answer }: RequestPorts): (frame: Asked) => void {
  let atOnce = 0;

  async function answerTo(frame: Asked): Promise<Answer> {
    if (frame.type === "command") {
      commands.resync();
      return { done: true };
    }
    const { request } = frame;
    switch (request.name) {
      case "metrics":
        return { metrics: await answerer.metrics(request) };
      case "run":
      case "run_status":
        return answerer.run(request);
      case "drain_nodes":
      case "remove_cloud_objects":
      case "describe_disks":
      case "local_volumes":
        return answerer.infrastructure(request);
      case "upgrade_operator":
        if (!answerer.upgrade) throw new AnswerError("failed", "This operator does not upgrade itself.");
        return { operator_upgrade: await answerer.upgrade(request) };
      case "detach":
        if (!answerer.detach) throw new AnswerError("failed", "This operator does not let its cluster go.");
        return answerer.detach(request);
      case "resources":
      case "events":
      case "deletion":
        return answerer.observe(request);
    }
  }

  async function respond(frame: Asked): Promise<void> {
    const found = await answerTo(frame).catch((err: unknown): Answer => {
      if (err instanceof AnswerError) return failure(err.code, err.message);
      log.warn({ err, asked: frame.type }, "a request of the hub could not be answered");
      return failure("failed", "The operator failed to answer.");
    });
    const isSent = answer({ type: "response", ref: frame.id, answer: found });
    if (!isSent) answer({ type: "response", ref: frame.id, answer: failure("failed", "The answer is too large.") });
  }

  return (frame) => {
    if (atOnce >= MOST_AT_ONCE) {
      answer({ type: "response", ref: frame.id, answer: failure("unavailable", "The operator is busy.") });
      return;
    }
    atOnce += 1;
    void respond(frame).finally(() => {
      atOnce -= 1;
    });
  };
}

const failure = (code: ErrorCode, message: string): Answer => ({ error: { code, message: safeText(message) } });

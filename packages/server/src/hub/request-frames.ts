import {
  creditOf,
  type HubFrame,
  type HubFrames,
  LINK_LIMITS,
  NEGOTIATED_REQUESTS,
  type OperatorFrames,
} from "@binnacle/contract";
import { Fault } from "../fault.ts";
import type { Answer, LiveSession } from "./ports.ts";

/** A request to an operator. It crosses the bus where another process holds the session. */
export type OperatorRequest =
  | HubFrames["request"]["request"]
  | HubFrames["stream_open"]["stream"]
  | { readonly name: "resync" };

type Answered = Exclude<OperatorFrames["response"]["answer"], { error: unknown }>;

/** For an exec that is open. */
export type ExecInput = Pick<HubFrames["stream_input"], "data" | "size" | "end">;

export type Reply =
  | Answered
  | Pick<OperatorFrames["stream_data"], "lines" | "dropped">
  | { readonly target: Pick<OperatorFrames["stream_target"], "pod" | "container" | "credit_bytes"> }
  | { readonly output: Pick<OperatorFrames["stream_output"], "channel" | "data"> }
  /** So many bytes of input were consumed. */
  | { readonly taken: number }
  | ({ readonly end: string | null } & Pick<OperatorFrames["stream_end"], "code" | "exit_code">)
  | { readonly failed: Failure; readonly message: string };

/** `lost`: the session ended before an answer. `refused`: the operator has answered with an error. */
type Failure = "lost" | "unavailable" | "refused";

/** An operator takes a request that it does not know for a breach of the protocol, and would end its session. */
const TOO_OLD: Reply = {
  failed: "refused",
  message: "The cluster's operator is too old to answer this. Upgrade its Helm chart and try again.",
};

export const LOST: Reply = { failed: "lost", message: "The connection of the cluster's operator was lost." };

/** A request under way. */
export interface OpenRequest {
  /** Lets a stream send more. */
  credit(bytes: number): void;
  /** For an exec. */
  input(input: ExecInput): void;
  /** No reply is passed on afterwards, and a stream ends at the operator. */
  cancel(): void;
}

/** Sends a request over a session. Every reply is passed on until the last one. */
export function sendRequest(
  session: LiveSession,
  request: OperatorRequest,
  id: string,
  onReply: (reply: Reply) => void,
): OpenRequest {
  const { sessionId } = session;
  if (NEGOTIATED_REQUESTS.includes(request.name) && !session.requests.includes(request.name)) {
    onReply(TOO_OLD);
    return { credit: () => undefined, input: () => undefined, cancel: () => undefined };
  }
  let isOver = false;
  let creditBytes = initialCredit(request);
  const stopListening = session.listen(id, (answer) => {
    if (isOver) return true;
    if (answer && !isCovered(answer, creditBytes)) return false;
    creditBytes -= answer ? costOf(answer) : 0;
    const reply = replyOf(answer);
    if (isLast(reply)) end();
    onReply(reply);
    return true;
  });
  const end = () => {
    isOver = true;
    stopListening();
  };
  session.send(frameOf(request, id, sessionId));
  return {
    credit(bytes) {
      if (isOver) return;
      creditBytes += bytes;
      session.send({ type: "stream_credit", ref: id, session: sessionId, credit_bytes: bytes });
    },
    input(input) {
      if (!isOver) session.send({ type: "stream_input", ref: id, session: sessionId, ...input });
    },
    cancel() {
      if (isOver) return;
      end();
      if (isStream(request)) session.send({ type: "stream_cancel", ref: id, session: sessionId });
    },
  };
}

/** A stream has more than one reply, and ends at the operator when it is cancelled. */
const isStream = ({ name }: OperatorRequest): boolean => name === "logs" || name === "exec";

/** A command starts with its first credit, which is given once the start is on record. */
const initialCredit = ({ name }: OperatorRequest): number => (name === "logs" ? LINK_LIMITS.streamCreditBytes : 0);

/** How much of its stream's credit an answer takes. Output counts for a byte at least, so that no frame is free to keep. */
function costOf(answer: Answer): number {
  if (answer.type === "stream_output") return Math.max(1, Buffer.byteLength(answer.data, "base64"));
  return answer.type === "stream_data" && answer.lines.length > 0 ? creditOf(answer.lines) : 0;
}

/** A line that is longer than the credit may come as long as there is any: it could never be sent otherwise. */
function isCovered(answer: Answer, creditBytes: number): boolean {
  const cost = costOf(answer);
  if (cost <= creditBytes || cost === 0) return true;
  const isOneLine = answer.type === "stream_data" && answer.lines.length === 1;
  return isOneLine && creditBytes > 0 && cost <= LINK_LIMITS.logLineBytes;
}

function frameOf(request: OperatorRequest, id: string, session: string): HubFrame {
  switch (request.name) {
    case "metrics":
    case "resources":
    case "events":
    case "deletion":
    case "run":
    case "run_status":
    case "drain_nodes":
    case "remove_cloud_objects":
    case "describe_disks":
    case "local_volumes":
    case "upgrade_operator":
    case "detach":
      return { type: "request", id, session, request };
    case "logs":
    case "exec":
      return { type: "stream_open", id, session, stream: request, credit_bytes: initialCredit(request) };
    case "resync":
      return { type: "command", id, session, command: request };
  }
}

/** The end of the session, which is null, is a reply too. */
function replyOf(answer: Answer | null): Reply {
  switch (answer?.type) {
    case undefined:
      return LOST;
    case "stream_data":
      return { lines: answer.lines, dropped: answer.dropped };
    case "stream_target": {
      const { pod, container, credit_bytes } = answer;
      return { target: { pod, container, credit_bytes } };
    }
    case "stream_output":
      return { output: { channel: answer.channel, data: answer.data } };
    case "stream_credit":
      return { taken: answer.credit_bytes };
    case "stream_end": {
      const { error: end, code, exit_code } = answer;
      return { end, ...(code === undefined ? {} : { code }), ...(exit_code === undefined ? {} : { exit_code }) };
    }
    case "response": {
      const found = answer.answer;
      if (!("error" in found)) return found;
      return { failed: found.error.code === "unavailable" ? "unavailable" : "refused", message: found.error.message };
    }
  }
}

const FOLLOWED = ["lines", "target", "output", "taken"];

/** Only the content of a stream is followed by more. */
export const isLast = (reply: Reply): boolean => !FOLLOWED.some((name) => name in reply);

export function faultOf({ failed, message }: Extract<Reply, { failed: unknown }>): Fault {
  return new Fault(failed === "refused" ? "bad_gateway" : "unavailable", message);
}

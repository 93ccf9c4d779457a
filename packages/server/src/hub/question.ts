import { type DesiredKind, type HubFrame, type HubFrames, LINK_LIMITS, type OperatorFrames } from "@binnacle/contract";
import { Fault } from "../fault.ts";
import type { Answer } from "./ports.ts";

/** What an operator is asked for somebody who waits; it crosses the bus where another process holds the connection. */
export type Question =
  | HubFrames["request"]["request"]
  | HubFrames["stream_open"]["stream"]
  | { readonly name: "resync" }
  | {
      readonly name: "remove";
      readonly kind: DesiredKind;
      readonly key: string;
      readonly resource_id: string;
      readonly generation: number;
    };

export type Reply =
  | { readonly metrics: Extract<OperatorFrames["response"]["answer"], { metrics: unknown }>["metrics"] }
  | { readonly done: true }
  | Pick<OperatorFrames["stream_data"], "lines" | "dropped">
  | { readonly end: string | null }
  | { readonly failed: Failed; readonly message: string };

/** `lost`: nobody can answer any more. `refused`: the operator will not. */
type Failed = "lost" | "unavailable" | "refused";

export const LOST: Reply = { failed: "lost", message: "The connection of the cluster's operator was lost." };

export function frameOf(question: Question, id: string, session: string): HubFrame {
  switch (question.name) {
    case "metrics":
      return { type: "request", id, session, request: question };
    case "logs":
      return { type: "stream_open", id, session, stream: question, credit_bytes: LINK_LIMITS.streamCreditBytes };
    case "resync":
      return { type: "command", id, session, command: question };
    case "remove": {
      const { kind, key, resource_id, generation } = question;
      return { type: "remove", id, session, kind, key, resource_id, generation };
    }
  }
}

/** The session's end answers too: with the loss of whoever could. */
export function replyOf(answer: Answer | null): Reply {
  switch (answer?.type) {
    case undefined:
      return LOST;
    case "ack":
      return { done: true };
    case "nack":
      return { failed: "refused", message: answer.message };
    case "stream_data":
      return { lines: answer.lines, dropped: answer.dropped };
    case "stream_end":
      return { end: answer.error };
    case "response": {
      const found = answer.answer;
      if (!("error" in found)) return found;
      return { failed: found.error.code === "unavailable" ? "unavailable" : "refused", message: found.error.message };
    }
  }
}

/** Whether nothing comes after it. */
export const isLast = (reply: Reply): boolean => !("lines" in reply);

export function faultOf({ failed, message }: Extract<Reply, { failed: unknown }>): Fault {
  return new Fault(failed === "refused" ? "bad_gateway" : "unavailable", message);
}

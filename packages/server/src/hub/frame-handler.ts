import type { OperatorFrame, OperatorFrames } from "@binnacle/contract";
import type { PendingRow } from "../dispatch/kind.ts";
import type { Log } from "../outage.ts";
import type { Dispatcher } from "./dispatcher.runner.ts";
import type { Handshake } from "./handshake.runner.ts";
import type { ReportWriter } from "./report-writer.runner.ts";
import type { Session } from "./session.ts";

interface Ports {
  readonly handshake: Handshake;
  readonly dispatcher: Dispatcher;
  readonly reports: ReportWriter;
  readonly log: Log;
  readonly now: () => Date;
  /** Reports, in the operator's place, that a row can never be stored in the cluster. */
  reject(session: Session, row: PendingRow, message: string): void;
  /** Issues a row again in a generation above the given one. */
  reissue(session: Session, row: PendingRow, above: number): void;
}

/**
 * Handles a frame at once and waits for nothing, so that an acknowledgement is never queued behind a report. Returns why a frame
 * breaks the protocol, else null.
 */
export function handleFrame(session: Session, frame: OperatorFrame, bytes: number, ports: Ports): string | null {
  switch (frame.type) {
    case "hello":
      if (session.isTrial) ports.handshake.rehearse(session);
      else ports.handshake.greet(session, frame);
      break;
    case "inventory":
      return handleInventory(session, frame, ports);
    case "ack":
      handleAck(session, frame, ports);
      break;
    case "nack":
      handleNack(session, frame, ports);
      break;
    case "heartbeat":
      session.heartbeat(ports.now(), frame.facts);
      break;
    case "status":
      ports.reports.enqueue(session, frame, bytes, [frame.id]);
      break;
    case "build":
    case "samples":
      ports.reports.enqueue(session, frame, bytes, []);
      break;
    case "response":
    case "stream_data":
    case "stream_end":
    case "stream_target":
    case "stream_output":
    case "stream_credit":
      return session.answer(frame) ? null : `${frame.type} exceeds the credit of its stream`;
    case "token_stored":
      handleStoredToken(session, frame, ports);
  }
  return null;
}

function handleInventory(session: Session, { entries, more }: OperatorFrames["inventory"], { handshake }: Ports) {
  if (!session.addInventoryPage(entries, !more)) return "this inventory was not requested";
  if (session.isInventoryComplete) void handshake.compare(session);
  return null;
}

/** An acknowledgement that comes twice, or of something that was not sent, is ignored. */
function handleAck(session: Session, ack: OperatorFrames["ack"], { dispatcher }: Ports): void {
  const entry = session.delivery.answered(ack);
  if (entry?.row.generation === ack.generation) dispatcher.confirm(session, entry);
}

/** `unable` is retryable, `stale` needs a higher generation, and `invalid` is permanent until the resource changes. */
function handleNack(session: Session, nack: OperatorFrames["nack"], ports: Ports): void {
  const entry = session.delivery.answered(nack);
  if (!entry) return;
  const { row } = entry;
  entry.span?.end(`The operator has refused it: ${nack.code}.`);
  switch (nack.code) {
    case "unable":
      session.delivery.hold(row, "sweep");
      break;
    case "stale":
      session.delivery.hold(row, "sweep");
      ports.reissue(session, row, row.generation - 1 + session.delivery.stepAbove(row));
      break;
    case "invalid":
      // Nobody can change a resource that is being deleted, so a removal is tried again.
      session.delivery.hold(row, row.removed_at === null ? "change" : "sweep");
      if (row.removed_at === null) ports.reject(session, row, nack.message);
  }
}

function handleStoredToken(session: Session, { ref }: OperatorFrames["token_stored"], { log }: Ports): void {
  if (!session.confirmToken(ref)) return;
  const { clusterId: cluster_id, tokenVersion: token_version } = session;
  log.info({ cluster_id, token_version }, "the token of an operator was renewed");
}

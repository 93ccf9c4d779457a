import { CLOSE, type OperatorFrame, type OperatorFrames } from "@binnacle/contract";
import type { PendingRow } from "../dispatch/kind.ts";
import type { Dispatcher } from "./dispatcher.ts";
import type { Handshake } from "./handshake.ts";
import type { NewsIntake } from "./news-intake.ts";
import type { Session } from "./session.ts";

/** More than a cluster can hold. */
const MOST_ENTRIES = 100_000;

interface Ports {
  readonly handshake: Handshake;
  readonly dispatcher: Dispatcher;
  readonly intake: NewsIntake;
  readonly now: () => Date;
  /** Reports, in the operator's place, that a row can never be stored in the cluster. */
  reject(session: Session, row: PendingRow, message: string): void;
  /** Issues a row again, above what the cluster holds. */
  reissue(session: Session, row: PendingRow, above: number): void;
  tokenStored(session: Session): void;
}

/** What is done with each frame, at once and without waiting: an acknowledgement never stands behind a report. */
export function handleFrame(session: Session, frame: OperatorFrame, bytes: number, ports: Ports): void {
  switch (frame.type) {
    case "hello":
      void ports.handshake.greet(session, frame);
      break;
    case "inventory":
      takeInventory(session, frame, ports);
      break;
    case "ack":
      session.hear(frame);
      acknowledged(session, frame, ports);
      break;
    case "nack":
      session.hear(frame);
      refused(session, frame, ports);
      break;
    case "heartbeat":
      session.heartbeatAt = ports.now();
      if (frame.facts) session.facts = frame.facts;
      break;
    case "status":
      ports.intake.put(session, frame, bytes, [frame.id]);
      break;
    case "build":
    case "samples":
      ports.intake.put(session, frame, bytes, []);
      break;
    case "response":
    case "stream_data":
    case "stream_end":
      session.hear(frame);
      break;
    case "token_stored":
      if (session.renewal?.frameId === frame.ref) ports.tokenStored(session);
  }
}

function takeInventory(session: Session, { entries, more }: OperatorFrames["inventory"], { handshake }: Ports): void {
  const held = session.inventory ?? [];
  if (session.state !== "inventory" || session.isComplete || held.length + entries.length > MOST_ENTRIES) {
    session.end(CLOSE.protocolError, "nobody has asked for this inventory");
    return;
  }
  held.push(...entries);
  session.inventory = held;
  if (more) return;
  session.isComplete = true;
  void handshake.compare(session);
}

/** One that comes twice, or for something that was not sent, says nothing new. */
function acknowledged(session: Session, ack: OperatorFrames["ack"], { dispatcher }: Ports): void {
  const entry = session.delivery.answered(ack);
  if (entry?.row.generation === ack.generation) dispatcher.confirm(session, entry);
}

function refused(session: Session, nack: OperatorFrames["nack"], ports: Ports): void {
  const entry = session.delivery.answered(nack);
  if (!entry) return;
  const { row } = entry;
  switch (nack.code) {
    case "unable":
      session.delivery.hold(row, "sweep");
      break;
    case "stale":
      session.delivery.hold(row, "sweep");
      ports.reissue(session, row, row.generation - 1 + session.delivery.stepAbove(row));
      break;
    case "invalid":
      session.delivery.hold(row, "change");
      if (row.removed_at === null) {
        ports.reject(session, row, nack.message);
      }
  }
}

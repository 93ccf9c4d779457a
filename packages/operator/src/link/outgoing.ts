import { LINK_LIMITS } from "@binnacle/contract";
import { faultIn } from "./operator-frame.ts";
import type { Unsent } from "./unsent.ts";

/** So much waits in the socket at most before bulk is held back; what is urgent never waits behind more than this. */
const HIGH_WATER_BYTES = 256 * 1024;

/** The way out of a socket. */
export interface Wire {
  /** Given to the socket and not yet taken by the network. */
  readonly bufferedBytes: number;
  /** `onTaken` once the network has it. */
  write(text: string, onTaken?: () => void): void;
}

/** Gives bulk when there is room for it, so that what is outdated meanwhile is never sent. */
export interface BulkSource {
  next(): Unsent | null;
}

export interface Outgoing {
  /** At once: answers, acks and heartbeats. False where the hub would not take the frame. */
  readonly urgent: (frame: Unsent) => boolean;
  /** Sends what the sources have as far as there is room, a frame of each in turn. */
  readonly pump: () => void;
  readonly stop: () => void;
}

export interface OutgoingOptions {
  readonly session: string;
  readonly sources: readonly BulkSource[];
  /** A frame that the hub would end the session for is not sent: it would be sent again and again. */
  readonly onUnfit: (frame: Unsent, why: string) => void;
}

export function createOutgoing(wire: Wire, { session, sources, onUnfit }: OutgoingOptions): Outgoing {
  let isStopped = false;
  let isPumping = false;

  function send(unsent: Unsent): boolean {
    const frame = { ...unsent, session };
    const text = JSON.stringify(frame);
    const why = isTooLarge(text) ? "it is too large" : faultIn(frame);
    if (why === null) wire.write(text, pump);
    else onUnfit(unsent, why);
    return why === null;
  }

  function pump(): void {
    // A source may call back while it is asked.
    if (isPumping) return;
    isPumping = true;
    try {
      while (!isStopped && sendRound());
    } finally {
      isPumping = false;
    }
  }

  /** Whether anything was sent and there may be more. */
  function sendRound(): boolean {
    let hasSent = false;
    for (const source of sources) {
      if (wire.bufferedBytes >= HIGH_WATER_BYTES) return false;
      const frame = source.next();
      if (!frame) continue;
      hasSent = true;
      send(frame);
    }
    return hasSent;
  }

  return {
    urgent: (frame) => isStopped || send(frame),
    pump,
    stop() {
      isStopped = true;
    },
  };
}

/** No character takes more than three bytes for one of the text's length. */
function isTooLarge(text: string): boolean {
  const { frameBytes } = LINK_LIMITS;
  return text.length * 3 > frameBytes && Buffer.byteLength(text) > frameBytes;
}

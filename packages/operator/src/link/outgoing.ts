import { type InventoryEntry, LINK_LIMITS } from "@binnacle/contract";
import { faultIn, type OutgoingFrame } from "./frames.ts";

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
  next(): OutgoingFrame | null;
}

export interface Outgoing {
  /** At once: answers, acks and heartbeats. False where the hub would not take the frame. */
  readonly urgent: (frame: OutgoingFrame) => boolean;
  /** Sends what the sources have as far as there is room, a frame of each in turn. */
  readonly pump: () => void;
  readonly stop: () => void;
}

export interface OutgoingOptions {
  readonly session: string;
  readonly sources: readonly BulkSource[];
  /** A frame that the hub would end the session for is not sent: it would be sent again and again. */
  readonly onInvalid: (frame: OutgoingFrame, why: string) => void;
}

export function createOutgoing(wire: Wire, { session, sources, onInvalid }: OutgoingOptions): Outgoing {
  let isStopped = false;
  let isPumping = false;

  function send(outgoingFrame: OutgoingFrame): boolean {
    const frame = { ...outgoingFrame, session };
    const text = JSON.stringify(frame);
    const why = isTooLarge(text) ? "it is too large" : faultIn(frame);
    if (why === null) wire.write(text, pump);
    else onInvalid(outgoingFrame, why);
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

/** The stored resources, as the session reports them to the hub. */
export interface StoredState {
  readonly revision: number | null;
  /** SHA-256 of the entries' `inventoryText`. */
  readonly digest: string;
  readonly entries: readonly InventoryEntry[];
}

/** All entries in pages; at least one, which may be empty. */
export function inventoryPages(entries: readonly InventoryEntry[]): BulkSource {
  let sent = 0;
  let isOver = false;
  return {
    next() {
      if (isOver) return null;
      const page = entries.slice(sent, sent + LINK_LIMITS.inventoryPage);
      sent += page.length;
      isOver = sent >= entries.length;
      return { type: "inventory", entries: page, more: !isOver };
    },
  };
}

import type { Reader } from "../access/caller.ts";
import type { Access } from "../access/role.ts";
import { Fault } from "../fault.ts";
import type { SseStream } from "../http/sse.adapter.ts";
import type { Filter } from "./audience.ts";

export type StreamKind = "event" | "log" | "exec";

export interface Subscription extends Reader {
  readonly filter: Filter;
  /** Its frames have ids, after which another stream can go on. */
  readonly isResumable: boolean;
  /** The id after which the stream goes on. */
  readonly lastEventId: string | undefined;
}

/** Why a stream ends: its credential has ended, the access is no longer sufficient, or the server stops. */
export type WatchEnd = "credential" | "access" | "stopping";

export interface Subscriber extends Reader {
  readonly kind: StreamKind;
  readonly isCounted: boolean;
  access: Access | null;
  readonly mayStay: (access: Access) => boolean;
  end(why: WatchEnd): void;
  /** Null for streams that are not event streams. */
  events: EventStream | null;
}

export interface EventStream {
  readonly stream: SseStream;
  readonly filter: Filter;
  readonly isResumable: boolean;
  audience: string;
  /** The stream gets the events after this position. Null while it reads what it has missed. */
  after: number | null;
  /** The position that the last id named which was sent for its own sake. */
  toldPosition: number;
}

export interface Broadcast {
  /**
   * Opens the stream once the access of its credential is read, and sends what it has missed. Throws where the credential is no
   * longer valid or the user has the largest allowed number of event streams open.
   */
  join(subscription: Subscription, open: () => SseStream): Promise<void>;
  /**
   * For streams of something else than events: calls `end` once the credential has ended, or the access is no
   * longer sufficient. Throws where that is so already, or where the user has the largest allowed number of such streams.
   * Returns the function that stops watching.
   */
  watch(
    reader: Reader,
    mayStay: (access: Access) => boolean,
    end: (why: WatchEnd) => void,
    /** A reading that ends by itself does not count among the open streams. */
    options?: { readonly kind?: "log" | "exec"; readonly isCounted: boolean },
  ): Promise<() => void>;
  /** How many streams are open, of events and of anything else. */
  count(): number;
  /** Ends all open streams. */
  stop(): void;
}

export const tooManyStreams = (kind: StreamKind, most: number) =>
  new Fault("rate_limited", `You have ${most} ${kind} streams open already; close one before you open another.`);

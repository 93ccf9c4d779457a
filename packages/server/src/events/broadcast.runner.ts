import { EXEC_LIMITS } from "@binnacle/contract";
import { ACCESS_TOPIC, concerns } from "../access/access-change.ts";
import type { Reader } from "../access/caller.ts";
import type { Access } from "../access/role.ts";
import type { AccessOf } from "../access/visible.store.ts";
import type { Bus } from "../bus/bus.ts";
import type { Clock } from "../clock.ts";
import { Fault, unauthenticated } from "../fault.ts";
import { encodeFrame, type SseStream } from "../http/sse.adapter.ts";
import { newId } from "../id.adapter.ts";
import type { Log } from "../outage.ts";
import { audienceOf, type Filter, isShownWhole, matches, maySee, withoutAddress } from "./audience.ts";
import { EVENTS_TOPIC, type Event, isEvent } from "./event.ts";

/** Events are gathered for this long, so that two thousand clients cost at most twenty thousand writes a second. */
const GATHERED_MS = 100;
/** The access of every subscriber is read again this often, because the message of a change may be lost. */
const RECHECKED_EVERY_MS = 15_000;
const EXPIRY_CHECKED_EVERY_MS = 1_000;
/** A client that leaves more than this unread, beyond what the network buffers, is cut off. */
const MOST_UNREAD_BYTES = 256 * 1024;
/** The log streams that one user may have open in this process: enough for every window of a person. */
const MOST_LOG_STREAMS = 20;
type StreamKind = "event" | "log" | "exec";
/** More events than this at once are a flood, or the database does not answer. */
const MOST_GATHERED = 10_000;

export interface Subscription extends Reader {
  readonly filter: Filter;
}

/** Why a stream ends: its credential has ended, the access is no longer sufficient, or the server stops. */
export type WatchEnd = "credential" | "access" | "stopping";

interface Subscriber extends Reader {
  readonly kind: StreamKind;
  readonly isCounted: boolean;
  access: Access | null;
  readonly mayStay: (access: Access) => boolean;
  end(why: WatchEnd): void;
  /** Null for streams that are not event streams. */
  events: EventStream | null;
}

interface EventStream {
  readonly stream: SseStream;
  readonly filter: Filter;
  audience: string;
}

interface Gathered {
  readonly event: Event;
  readonly frame: string;
  /** The frame for those who may not read the audit log. */
  readonly reducedFrame: string;
}

export interface Broadcast {
  /**
   * Opens the stream once the access of its credential is read. Throws where the credential is no longer valid or the user has the
   * largest allowed number of event streams open.
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
  /** Ends all open streams. */
  stop(): void;
}

interface Ports {
  readonly bus: Bus;
  readonly clock: Clock;
  readonly log: Log;
  readonly accessOf: AccessOf;
  /** Of one user in this process. */
  readonly mostEventStreams: number;
}

/**
 * Delivers the events of the bus to the subscribers of this process, in rounds. Each round first reads the access of
 * everybody whose access has changed, and then encodes the gathered events once for each audience. The bus delivers a change
 * of access before whatever happens later, so nobody receives an event that they may no longer see.
 */
export function startBroadcast({ bus, clock, log, accessOf, mostEventStreams }: Ports): Broadcast {
  const mostStreams = { event: mostEventStreams, log: MOST_LOG_STREAMS, exec: EXEC_LIMITS.perUser };
  const subscribers = new Set<Subscriber>();
  const toRecheck = new Set<Subscriber>();
  let gathered: Gathered[] = [];
  let round: NodeJS.Timeout | null = null;

  function receive(message: unknown): void {
    if (subscribers.size === 0) return;
    if (!isEvent(message)) {
      log.warn({}, "a message on the topic of events is not an event; it is dropped");
      return;
    }
    const frame = encodeFrame(message.type, message);
    const reducedFrame = message.type === "activity" ? encodeFrame(message.type, withoutAddress(message)) : frame;
    gathered.push({ event: message, frame, reducedFrame });
    if (gathered.length > MOST_GATHERED) overflow();
    plan();
  }

  /** A client would not notice missing events; a stream that ends makes it read again. */
  function overflow(): void {
    log.warn({ events: gathered.length }, "too many events at once; the streams end");
    gathered = [];
    for (const subscriber of subscribers) if (subscriber.events) close(subscriber, "stopping");
  }

  /** The message names whose access has changed. */
  function recheck(message: unknown): void {
    for (const subscriber of subscribers) if (concerns(message, subscriber)) toRecheck.add(subscriber);
    if (toRecheck.size > 0) plan();
  }

  function plan(): void {
    round ??= setTimeout(() => void work(), GATHERED_MS);
  }

  async function work(): Promise<void> {
    const [events, rechecked] = [gathered, [...toRecheck]];
    gathered = [];
    toRecheck.clear();
    try {
      if (rechecked.length > 0) await readAccess(rechecked);
      deliver(events);
    } finally {
      round = null;
      if (gathered.length > 0 || toRecheck.size > 0) plan();
    }
  }

  /** Without the database it is unknown who may see what: the streams end, and their clients connect again. */
  async function readAccess(rechecked: readonly Subscriber[]): Promise<void> {
    const credentialIds = [...new Set(rechecked.map(({ credentialId }) => credentialId))];
    const found = await accessOf(credentialIds, clock()).catch((error: unknown) => {
      log.warn({ err: error }, "the access of subscribers cannot be read; their streams end");
      return new Map<string, Access>();
    });
    for (const subscriber of rechecked) {
      const access = found.get(subscriber.credentialId);
      if (access) admit(subscriber, access);
      else close(subscriber, "credential");
    }
  }

  function admit(subscriber: Subscriber, access: Access): void {
    subscriber.access = access;
    if (subscriber.events) admitEvents(subscriber.events, access);
    if (!subscriber.mayStay(access)) close(subscriber, "access");
  }

  /** What a client shows may no longer be what it would be answered, and no event of a place that it has lost reaches it. */
  function admitEvents(events: EventStream, access: Access): void {
    const audience = audienceOf(access, events.filter);
    if (audience === events.audience) return;
    events.audience = audience;
    if (events.filter.resource_type === "all") {
      events.stream.write(Buffer.from(encodeFrame("access", accessEvent(access.userId, clock()))));
    }
  }

  function close(subscriber: Subscriber, why: WatchEnd): void {
    subscribers.delete(subscriber);
    subscriber.end(why);
  }

  function endExpired(): void {
    const now = clock().getTime();
    for (const subscriber of subscribers) if (subscriber.expiresAtMs <= now) close(subscriber, "credential");
  }

  function deliver(events: readonly Gathered[]): void {
    endExpired();
    const frames = new Round(events);
    for (const { events: watched, access } of subscribers) {
      if (!watched || !access) continue;
      const { stream, audience, filter } = watched;
      const bytes = frames.for(audience, access, filter);
      if (bytes === null) continue;
      if (stream.waitingBytes > MOST_UNREAD_BYTES) stream.cut();
      else stream.write(bytes);
    }
  }

  function requireRoomFor({ userId, kind, isCounted }: Subscriber): void {
    if (!isCounted) return;
    let open = 0;
    for (const other of subscribers) {
      if (other.userId === userId && other.kind === kind && other.isCounted) open++;
    }
    if (open >= mostStreams[kind]) throw tooManyStreams(kind, mostStreams[kind]);
  }

  /** Throws unless the credential is valid and the subscriber may stay. */
  async function enter(subscriber: Subscriber): Promise<Access> {
    requireRoomFor(subscriber);
    // Before the access is read, so that a change that comes meanwhile is not missed.
    subscribers.add(subscriber);
    try {
      const read = (await accessOf([subscriber.credentialId], clock())).get(subscriber.credentialId);
      // The access that a round has read meanwhile is newer.
      if (read && subscriber.access === null) admit(subscriber, read);
      if (!subscriber.access || !subscribers.has(subscriber)) throw unauthenticated();
      return subscriber.access;
    } catch (error) {
      subscribers.delete(subscriber);
      throw error;
    }
  }

  // Access first: an event must never arrive while changes of access do not.
  const unsubscribes = [bus.subscribe(ACCESS_TOPIC, recheck), bus.subscribe(EVENTS_TOPIC, receive)];
  const reviewing = setInterval(() => {
    for (const subscriber of subscribers) toRecheck.add(subscriber);
    if (toRecheck.size > 0) plan();
  }, RECHECKED_EVERY_MS);
  const expiring = setInterval(endExpired, EXPIRY_CHECKED_EVERY_MS);

  return {
    async join({ filter, ...reader }, open) {
      const end = () => subscriber.events?.stream.end();
      const subscriber: Subscriber = {
        ...reader,
        kind: "event",
        isCounted: true,
        access: null,
        events: null,
        mayStay: () => true,
        end,
      };
      const access = await enter(subscriber);
      try {
        const stream = open();
        subscriber.events = { stream, filter, audience: audienceOf(access, filter) };
        stream.onClose(() => subscribers.delete(subscriber));
      } catch (error) {
        subscribers.delete(subscriber);
        throw error;
      }
    },
    async watch(reader, mayStay, end, { kind = "log", isCounted } = { isCounted: true }) {
      const subscriber: Subscriber = { ...reader, kind, isCounted, access: null, events: null, mayStay, end };
      await enter(subscriber);
      return () => subscribers.delete(subscriber);
    },
    stop() {
      for (const unsubscribe of unsubscribes) unsubscribe();
      clearInterval(reviewing);
      clearInterval(expiring);
      if (round) clearTimeout(round);
      for (const subscriber of subscribers) close(subscriber, "stopping");
    },
  };
}

const tooManyStreams = (kind: StreamKind, most: number) =>
  new Fault("rate_limited", `You have ${most} ${kind} streams open already; close one before you open another.`);

const accessEvent = (userId: string, now: Date): Event => ({
  id: newId(),
  type: "access",
  time: now.toISOString(),
  org_id: null,
  user_id: userId,
  resource: { type: "user", id: userId, name: null },
});

/** The encoded frames of one round. Audiences that receive the same events share the same bytes. */
class Round {
  readonly #events: readonly Gathered[];
  /** An event about an account makes every user an audience of their own. Such events are rare. */
  readonly #isPersonal: boolean;
  readonly #byAudience = new Map<string, Buffer | null>();
  readonly #bySelection = new Map<string, Buffer>();

  constructor(events: readonly Gathered[]) {
    this.#events = events;
    this.#isPersonal = events.some(({ event }) => event.user_id !== undefined);
  }

  for(audience: string, access: Access, filter: Filter): Buffer | null {
    const key = this.#isPersonal ? `${audience} ${access.userId}` : audience;
    let bytes = this.#byAudience.get(key);
    if (bytes === undefined) {
      bytes = this.#select((event) => matches(event, filter) && maySee(event, access), access);
      this.#byAudience.set(key, bytes);
    }
    return bytes;
  }

  #select(isVisible: (event: Event) => boolean, access: Access): Buffer | null {
    const visible = this.#events.flatMap(({ event, frame, reducedFrame }, at) => {
      if (!isVisible(event)) return [];
      return isShownWhole(event, access) ? [{ key: `${at}`, frame }] : [{ key: `${at} reduced`, frame: reducedFrame }];
    });
    if (visible.length === 0) return null;
    const selection = visible.map(({ key }) => key).join();
    const bytes = this.#bySelection.get(selection) ?? Buffer.from(visible.map(({ frame }) => frame).join(""));
    this.#bySelection.set(selection, bytes);
    return bytes;
  }
}

import type { Bus } from "../bus/bus.ts";
import type { Clock } from "../clock.ts";
import { Fault, unauthenticated } from "../fault.ts";
import { encodeFrame, type SseStream } from "../http/sse.ts";
import type { Log } from "../outage.ts";
import type { AccessOf } from "./access.store.ts";
import { type Concerned, concernedBy } from "./access-hint.ts";
import { type Access, audienceOf, type Filter, matches, maySee } from "./audience.ts";
import { EVENTS_TOPIC, type Event, isEvent } from "./event.ts";

/** How long events are gathered, so that two thousand clients cost two thousand writes ten times a second and no more. */
const GATHERED_MS = 100;
/** How often everybody's access is read again, whatever hints may have got lost. */
const REVIEWED_EVERY_MS = 15_000;
const EXPIRY_CHECKED_EVERY_MS = 1_000;
/** What a client may leave lying, beyond what the network holds, before it is cut off. */
const MOST_WAITING_BYTES = 256 * 1024;
/** What one user may have open of each kind, in this process: enough for every window of a person, too few to hurt. */
const MOST_STREAMS = 20;
/** More than this in one go is a flood, or a database that does not answer. */
const MOST_GATHERED = 10_000;

/** Whose reading it is. */
interface Reader {
  readonly sessionId: string;
  readonly userId: string;
  /** When the access token that opened it does. */
  readonly expiresAtMs: number;
}

export interface Subscription extends Reader {
  readonly filter: Filter;
}

interface Subscriber extends Reader {
  readonly kind: "event" | "log";
  access: Access | null;
  /** Whether the reading may go on. */
  readonly mayStay: (access: Access) => boolean;
  end(): void;
  /** Null of one who reads something else than events. */
  listening: Listening | null;
}

interface Listening {
  readonly stream: SseStream;
  readonly filter: Filter;
  audience: string;
}

interface Gathered {
  readonly event: Event;
  readonly frame: string;
}

export interface Broadcast {
  /**
   * Opens the stream once it is known what the session's user may see; throws where the session counts no more, or the
   * user has as many event streams open as there may be.
   */
  join(subscription: Subscription, open: () => SseStream): Promise<void>;
  /**
   * For whoever reads something else for long: calls `end` once the token or the session has ended, or the access no longer
   * suffices. Throws where that is so already, or where the user reads as much at once as there may be; gives back the
   * way to stop watching.
   */
  watch(reader: Reader, mayStay: (access: Access) => boolean, end: () => void): Promise<() => void>;
  /** Ends whatever is still open. */
  stop(): void;
}

interface Ports {
  readonly bus: Bus;
  readonly clock: Clock;
  readonly log: Log;
  readonly accessOf: AccessOf;
}

/**
 * Brings the events of the bus to this process's subscribers. Work is done in rounds: what was gathered meanwhile is
 * written out once for each audience, after the access of whoever a hint has cast doubt on has been read again. Since the
 * bus brings a change of access before whatever happens later, nobody hears what they might no longer see.
 */
export function startBroadcast({ bus, clock, log, accessOf }: Ports): Broadcast {
  const subscribers = new Set<Subscriber>();
  const doubted = new Set<Subscriber>();
  let gathered: Gathered[] = [];
  let round: NodeJS.Timeout | null = null;

  function hear(message: unknown): void {
    if (subscribers.size === 0) return;
    if (!isEvent(message)) {
      log.warn({}, "a message among the events is none; it is dropped");
      return;
    }
    const concerned = concernedBy(message);
    if (concerned) doubt(concerned);
    gathered.push({ event: message, frame: encodeFrame(message.type, message) });
    if (gathered.length > MOST_GATHERED) overflow();
    plan();
  }

  /** A gap would go unnoticed; a stream that ends makes the client read again. */
  function overflow(): void {
    log.warn({ events: gathered.length }, "too many events at once; the streams end");
    gathered = [];
    for (const subscriber of subscribers) if (subscriber.listening) leave(subscriber);
  }

  function doubt(concerned: Concerned): void {
    for (const subscriber of subscribers) {
      if (isConcerned(subscriber, concerned)) doubted.add(subscriber);
    }
  }

  function plan(): void {
    round ??= setTimeout(() => void work(), GATHERED_MS);
  }

  async function work(): Promise<void> {
    const [events, questions] = [gathered, [...doubted]];
    gathered = [];
    doubted.clear();
    try {
      if (questions.length > 0) await review(questions);
      deliver(events);
    } finally {
      round = null;
      if (gathered.length > 0 || doubted.size > 0) plan();
    }
  }

  /** Where the database does not answer nobody knows who may see what: the streams end, and their clients ask again. */
  async function review(questions: readonly Subscriber[]): Promise<void> {
    const sessionIds = [...new Set(questions.map(({ sessionId }) => sessionId))];
    const found = await accessOf(sessionIds, clock()).catch((error: unknown) => {
      log.warn({ err: error }, "what subscribers may see cannot be read; their streams end");
      return new Map<string, Access>();
    });
    for (const subscriber of questions) {
      const access = found.get(subscriber.sessionId);
      if (access) admit(subscriber, access);
      else leave(subscriber);
    }
  }

  function admit(subscriber: Subscriber, access: Access): void {
    subscriber.access = access;
    const { listening } = subscriber;
    if (listening) listening.audience = audienceOf(access, listening.filter);
    if (!subscriber.mayStay(access)) leave(subscriber);
  }

  function leave(subscriber: Subscriber): void {
    subscribers.delete(subscriber);
    subscriber.end();
  }

  function endExpired(): void {
    const now = clock().getTime();
    for (const subscriber of subscribers) if (subscriber.expiresAtMs <= now) leave(subscriber);
  }

  function deliver(events: readonly Gathered[]): void {
    endExpired();
    const writings = new Writings(events);
    for (const { listening, access } of subscribers) {
      if (!listening || !access) continue;
      const { stream, audience, filter } = listening;
      const bytes = writings.for(audience, access, filter);
      if (bytes === null) continue;
      if (stream.waitingBytes > MOST_WAITING_BYTES) stream.cut();
      else stream.write(bytes);
    }
  }

  function requireRoomFor({ userId, kind }: Subscriber): void {
    let open = 0;
    for (const other of subscribers) if (other.userId === userId && other.kind === kind) open++;
    if (open >= MOST_STREAMS) throw tooManyStreams(kind);
  }

  /** Brings what the subscriber may see, or throws. */
  async function enter(subscriber: Subscriber): Promise<Access> {
    requireRoomFor(subscriber);
    // Before the access is read: a hint that comes meanwhile is not to pass it by.
    subscribers.add(subscriber);
    try {
      const read = (await accessOf([subscriber.sessionId], clock())).get(subscriber.sessionId);
      // Where a review was quicker, what it has read is newer.
      if (read && subscriber.access === null) admit(subscriber, read);
      if (!subscriber.access || !subscribers.has(subscriber)) throw unauthenticated();
      return subscriber.access;
    } catch (error) {
      subscribers.delete(subscriber);
      throw error;
    }
  }

  const unsubscribe = bus.subscribe(EVENTS_TOPIC, hear);
  const reviewing = setInterval(() => {
    doubt("anybody");
    if (doubted.size > 0) plan();
  }, REVIEWED_EVERY_MS);
  const expiring = setInterval(endExpired, EXPIRY_CHECKED_EVERY_MS);

  return {
    async join({ filter, ...reader }, open) {
      const end = () => subscriber.listening?.stream.end();
      const subscriber: Subscriber = {
        ...reader,
        kind: "event",
        access: null,
        listening: null,
        mayStay: () => true,
        end,
      };
      const access = await enter(subscriber);
      try {
        const stream = open();
        subscriber.listening = { stream, filter, audience: audienceOf(access, filter) };
        stream.onClose(() => subscribers.delete(subscriber));
      } catch (error) {
        subscribers.delete(subscriber);
        throw error;
      }
    },
    async watch(reader, mayStay, end) {
      const subscriber: Subscriber = { ...reader, kind: "log", access: null, listening: null, mayStay, end };
      await enter(subscriber);
      return () => subscribers.delete(subscriber);
    },
    stop() {
      unsubscribe();
      clearInterval(reviewing);
      clearInterval(expiring);
      if (round) clearTimeout(round);
      for (const subscriber of subscribers) leave(subscriber);
    },
  };
}

const tooManyStreams = (kind: Subscriber["kind"]) =>
  new Fault(
    "rate_limited",
    `You have ${MOST_STREAMS} ${kind} streams open already; close one before you open another.`,
  );

function isConcerned({ sessionId, userId }: Reader, concerned: Concerned): boolean {
  if (concerned === "anybody") return true;
  return "userId" in concerned ? concerned.userId === userId : concerned.sessionId === sessionId;
}

/** The bytes of one round: the same for one audience, and for all audiences that get to hear the same. */
class Writings {
  readonly #events: readonly Gathered[];
  readonly #byAudience = new Map<string, Buffer | null>();
  readonly #bySelection = new Map<string, Buffer>();

  constructor(events: readonly Gathered[]) {
    this.#events = events;
  }

  for(audience: string, access: Access, filter: Filter): Buffer | null {
    let bytes = this.#byAudience.get(audience);
    if (bytes === undefined) {
      bytes = this.#select(({ event }) => matches(event, filter) && maySee(event, access));
      this.#byAudience.set(audience, bytes);
    }
    return bytes;
  }

  #select(isHeard: (gathered: Gathered) => boolean): Buffer | null {
    const heard = this.#events.flatMap((gathered, at) => (isHeard(gathered) ? [at] : []));
    if (heard.length === 0) return null;
    const selection = heard.join();
    const bytes = this.#bySelection.get(selection) ?? Buffer.from(heard.map((at) => this.#events[at]?.frame).join(""));
    this.#bySelection.set(selection, bytes);
    return bytes;
  }
}

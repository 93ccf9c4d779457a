import { EXEC_LIMITS } from "@binnacle/contract";
import { ACCESS_TOPIC, concerns } from "../access/access-change.ts";
import type { Reader } from "../access/caller.ts";
import type { Access } from "../access/role.ts";
import type { AccessOf } from "../access/visibility.store.ts";
import type { Bus } from "../bus/bus.ts";
import type { Clock } from "../clock.ts";
import { unauthenticated } from "../fault.ts";
import { retryHint } from "../http/sse.adapter.ts";
import { encodeFrame } from "../http/sse-frame.ts";
import { type Log, watchOutage } from "../outage.ts";
import { audienceOf } from "./audience.ts";
import { type Broadcast, type EventStream, type Subscriber, tooManyStreams, type WatchEnd } from "./broadcast.ts";
import { EVENTS_TOPIC } from "./event.ts";
import { type EventLog, type Head, hasMissed, PAGE_ROWS, type Page } from "./event-log.ts";
import { personalEvent, replay } from "./replay.runner.ts";
import { type Gathered, gather, idLine, parsed, Round } from "./round.ts";

/** Events are gathered for this long, so that two thousand clients cost at most twenty thousand writes a second. */
const GATHERED_MS = 100;
/** The access of every subscriber is read again this often, because the message of a change may be lost. */
const RECHECKED_EVERY_MS = 15_000;
/** How often ended credentials and events whose hint was lost are looked for. */
const POLLED_EVERY_MS = 1_000;
/** A client that leaves more than this unread, beyond what the network buffers, is cut off. */
const MOST_UNREAD_BYTES = 256 * 1024;
/** The log streams that one user may have open in this process: enough for every window of a person. */
const MOST_LOG_STREAMS = 20;
interface Ports {
  readonly bus: Bus;
  readonly clock: Clock;
  readonly log: Log;
  readonly accessOf: AccessOf;
  readonly eventLog: EventLog;
  /** Of one user in this process. */
  readonly mostEventStreams: number;
}

/**
 * Delivers the events of the log to the subscribers of this process, in rounds. Each round reads what is new in the log, then the
 * access of everybody whose access has changed, and encodes the events once for each audience. A change of access is in
 * the log before whatever happens later, so nobody receives an event that they may no longer see. A message of the bus only
 * says that there is something to read.
 */
export function startBroadcast({ bus, clock, log, accessOf, eventLog, mostEventStreams }: Ports): Broadcast {
  const mostStreams = { event: mostEventStreams, log: MOST_LOG_STREAMS, exec: EXEC_LIMITS.perUser };
  const outage = watchOutage(log, "reading the event log");
  const subscribers = new Set<Subscriber>();
  const toRecheck = new Set<Subscriber>();
  /** What every live stream has got. Null while there are no event streams. */
  let read: Head | null = null;
  let isDue = false;
  let round: NodeJS.Timeout | null = null;

  function receive(): void {
    if (read === null) return;
    isDue = true;
    plan();
  }

  /** Clients would not notice missing events; a stream that ends makes them connect again. */
  function endEventStreams(isConcerned: (access: Access, after: number) => boolean): void {
    for (const subscriber of subscribers) {
      const { events, access } = subscriber;
      if (events && access && isConcerned(access, events.after ?? 0)) close(subscriber, "stopping");
    }
  }

  /** Messages of other processes were lost, and among them may have been a change of access. */
  function missed(): void {
    for (const subscriber of subscribers) toRecheck.add(subscriber);
    if (toRecheck.size > 0) plan();
    receive();
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
    try {
      const page = await readLog();
      const rechecked = [...toRecheck];
      toRecheck.clear();
      if (rechecked.length > 0) await readAccess(rechecked);
      endExpired();
      if (page) deliver(page);
    } finally {
      round = null;
      if (isDue || toRecheck.size > 0) plan();
    }
  }

  /** Null where there is nothing to deliver. What cannot be read now is read later: it stays in the log. */
  async function readLog(): Promise<Page | null> {
    if (!isDue || read === null) return null;
    isDue = false;
    const asked = read;
    try {
      const page = await eventLog.readAfter(asked.position);
      outage.recovered();
      // All streams were closed meanwhile.
      if (read !== asked) return null;
      for (const { topic, message } of page.entries) if (topic === ACCESS_TOPIC) recheck(parsed(message));
      isDue ||= page.entries.length === PAGE_ROWS;
      return page;
    } catch (error) {
      outage.failed(error);
      return null;
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
    if (subscriber.events) admitEvents(subscriber.events, access, clock());
    if (!subscriber.mayStay(access)) close(subscriber, "access");
  }

  function close(subscriber: Subscriber, why: WatchEnd): void {
    leave(subscriber);
    subscriber.end(why);
  }

  function leave(subscriber: Subscriber): void {
    subscribers.delete(subscriber);
    toRecheck.delete(subscriber);
    for (const { kind } of subscribers) if (kind === "event") return;
    read = null;
  }

  function endExpired(): void {
    const now = clock().getTime();
    for (const subscriber of subscribers) if (subscriber.expiresAtMs <= now) close(subscriber, "credential");
  }

  function deliver({ head, entries, upTo, pruned }: Page): void {
    const before = read;
    if (before === null) return;
    if (head.logId !== before.logId || head.position < before.position) {
      // The database is another one than before: a backup, or a replica that did not have everything.
      read = head;
      endEventStreams(() => true);
      return;
    }
    if (pruned.length > 0) endEventStreams((access, after) => hasMissed(pruned, access, after));
    read = { ...head, position: upTo };
    const events = entries.filter(({ topic }) => topic === EVENTS_TOPIC).flatMap((entry) => gather(entry) ?? dropped());
    if (events.length === 0) return;
    send(new Round(events, head.logId), subscribers);
  }

  function dropped(): Gathered[] {
    log.warn({}, "an entry of the event log is not an event; it is dropped");
    return [];
  }

  /** The client has its stream already, so that a failure can only end it: the client connects again. */
  async function begin(
    subscriber: Subscriber,
    events: EventStream,
    lastEventId: string | undefined,
    head: Head,
  ): Promise<void> {
    if (!events.isResumable) return;
    if (lastEventId === undefined) return events.stream.write(`${idLine(head.logId, head.position)}\n`);
    events.after = null;
    const access = () => (subscribers.has(subscriber) ? subscriber.access : null);
    const resumed = { reader: subscriber, stream: events.stream, filter: events.filter, access };
    const livePosition = () => read?.position ?? 0;
    try {
      events.after = await replay({ eventLog, clock, livePosition }, resumed, lastEventId, head);
    } catch (error) {
      outage.failed(error);
      close(subscriber, "stopping");
    }
  }

  /** Throws unless the credential is valid and the subscriber may stay. */
  async function enter(subscriber: Subscriber): Promise<Access> {
    requireRoomFor(subscriber, subscribers, mostStreams[subscriber.kind]);
    // Before the access is read, so that a change that comes meanwhile is not missed.
    subscribers.add(subscriber);
    try {
      const read = (await accessOf([subscriber.credentialId], clock())).get(subscriber.credentialId);
      // The access that a round has read meanwhile is newer.
      if (read && subscriber.access === null) admit(subscriber, read);
      if (!subscriber.access || !subscribers.has(subscriber)) throw unauthenticated();
      return subscriber.access;
    } catch (error) {
      leave(subscriber);
      throw error;
    }
  }

  // Access first: an event must never arrive while changes of access do not.
  const unsubscribes = [
    bus.subscribe(ACCESS_TOPIC, recheck),
    bus.subscribe(EVENTS_TOPIC, receive),
    bus.onMissed(missed),
  ];
  const reviewing = setInterval(() => {
    for (const subscriber of subscribers) toRecheck.add(subscriber);
    if (toRecheck.size > 0) plan();
    if (read) tellPositions(subscribers, read);
  }, RECHECKED_EVERY_MS);
  const polling = setInterval(() => {
    endExpired();
    receive();
  }, POLLED_EVERY_MS);

  return {
    async join({ filter, isResumable, lastEventId, ...reader }, open) {
      const subscriber = eventSubscriber(reader);
      await enter(subscriber);
      try {
        const head = await eventLog.head();
        if (!subscriber.access || !subscribers.has(subscriber)) throw unauthenticated();
        read ??= head;
        const stream = open();
        const audience = audienceOf(subscriber.access, filter);
        const { position } = head;
        subscriber.events = { stream, filter, isResumable, audience, after: position, toldPosition: position };
        stream.onClose(() => leave(subscriber));
        await begin(subscriber, subscriber.events, lastEventId, head);
      } catch (error) {
        leave(subscriber);
        throw error;
      }
    },
    async watch(reader, mayStay, end, { kind = "log", isCounted } = { isCounted: true }) {
      const subscriber: Subscriber = { ...reader, kind, isCounted, access: null, events: null, mayStay, end };
      await enter(subscriber);
      return () => leave(subscriber);
    },
    count: () => subscribers.size,
    stop() {
      for (const unsubscribe of unsubscribes) unsubscribe();
      clearInterval(reviewing);
      clearInterval(polling);
      if (round) clearTimeout(round);
      for (const subscriber of subscribers) close(subscriber, "stopping");
    },
  };
}

function eventSubscriber(reader: Reader): Subscriber {
  const subscriber: Subscriber = {
    ...reader,
    kind: "event",
    isCounted: true,
    access: null,
    events: null,
    mayStay: () => true,
    end(why) {
      if (why === "stopping") subscriber.events?.stream.write(retryHint());
      subscriber.events?.stream.end();
    },
  };
  return subscriber;
}

function send(frames: Round, subscribers: Iterable<Subscriber>): void {
  for (const { events, access } of subscribers) {
    if (!events || !access || events.after === null) continue;
    const bytes = frames.for({ ...events, after: events.after, access });
    if (bytes === null) continue;
    if (events.stream.waitingBytes > MOST_UNREAD_BYTES) events.stream.cut();
    else events.stream.write(bytes);
  }
}

/** What a client shows may no longer be what it would be answered, and no event of a place that it has lost reaches it. */
function admitEvents(events: EventStream, access: Access, now: Date): void {
  const audience = audienceOf(access, events.filter);
  if (audience === events.audience) return;
  events.audience = audience;
  if (events.filter.resource_type !== "all") return;
  events.stream.write(encodeFrame("access", personalEvent("access", access.userId, now)));
}

/** A stream without events for it goes on too, so that it need not read anew because its last event is no longer kept. */
function tellPositions(subscribers: Iterable<Subscriber>, read: Head): void {
  for (const { events } of subscribers) {
    if (!events?.isResumable || events.after === null) continue;
    const position = Math.max(events.after, read.position);
    if (position > events.toldPosition) events.stream.write(`${idLine(read.logId, position)}\n`);
    events.toldPosition = position;
  }
}

function requireRoomFor({ userId, kind, isCounted }: Subscriber, among: Iterable<Subscriber>, most: number): void {
  if (!isCounted) return;
  let open = 0;
  for (const other of among) if (other.userId === userId && other.kind === kind && other.isCounted) open++;
  if (open >= most) throw tooManyStreams(kind, most);
}

import { ACCESS_TOPIC, concerns } from "../access/access-change.ts";
import type { Reader } from "../access/caller.ts";
import type { Access } from "../access/role.ts";
import type { Clock } from "../clock.ts";
import type { SseStream } from "../http/sse.adapter.ts";
import { encodeFrame } from "../http/sse-frame.ts";
import { newId } from "../id.adapter.ts";
import type { Filter } from "./audience.ts";
import type { Event } from "./event.ts";
import { type Entry, type EventLog, type Head, isTooMuch, orgsOf, PAGE_ROWS, parseCursor } from "./event-log.ts";
import { frameFor, gather, idLine, parsed } from "./round.ts";

interface Ports {
  readonly eventLog: EventLog;
  readonly clock: Clock;
  /** How far the rounds are that the stream does not take part in meanwhile. */
  readonly livePosition: () => number;
}

interface Resumed {
  readonly reader: Reader;
  readonly stream: SseStream;
  readonly filter: Filter;
  /** As it is now; null when the stream is closed. */
  readonly access: () => Access | null;
}

/**
 * Sends what a stream has missed, page by page and as fast as its client reads. Where that is not kept, or is too much, it
 * sends one event that says so. Returns the position after which the stream takes part in the rounds.
 */
export async function replay(ports: Ports, resumed: Resumed, lastEventId: string, head: Head): Promise<number> {
  const { eventLog, clock, livePosition } = ports;
  const { reader, stream, access } = resumed;
  const orgs = () => orgsOf(access());
  const asked = parseCursor(lastEventId);
  const isKnown = asked !== null && asked.logId === head.logId && asked.position <= head.position;
  if (!isKnown || isTooMuch(await eventLog.missedSince(asked.position, head.position, orgs()))) {
    const position = Math.max(head.position, livePosition());
    stream.write(idLine(head.logId, position) + encodeFrame("reset", personalEvent("reset", reader.userId, clock())));
    return position;
  }
  let [at, upTo] = [asked.position, Math.max(head.position, livePosition())];
  while (at < upTo && access() !== null) {
    const entries = await eventLog.readRange(at, upTo, orgs());
    stream.write(framesOf(entries, resumed, head.logId, clock()));
    at = (entries.length === PAGE_ROWS ? entries.at(-1)?.position : undefined) ?? upTo;
    await stream.drained();
    upTo = Math.max(upTo, livePosition());
  }
  return at;
}

function framesOf(entries: readonly Entry[], { reader, filter, access }: Resumed, logId: string, now: Date): string {
  const current = access();
  if (current === null) return "";
  const frames = entries.map((entry) => {
    const frame = entry.topic === ACCESS_TOPIC ? accessFrame(entry) : eventFrame(entry, current);
    return frame === null ? "" : idLine(logId, entry.position) + frame;
  });
  return frames.join("");

  function accessFrame({ message }: Entry): string | null {
    const isSent = filter.resource_type === "all" && concerns(parsed(message), reader);
    return isSent ? encodeFrame("access", personalEvent("access", reader.userId, now)) : null;
  }

  function eventFrame(entry: Entry, seenBy: Access): string | null {
    const gathered = gather(entry);
    return gathered && frameFor(gathered, seenBy, filter);
  }
}

/** An event about what one reader gets, and for nobody else. */
export const personalEvent = (type: "access" | "reset", userId: string, now: Date): Event => ({
  id: newId(),
  type,
  time: now.toISOString(),
  org_id: null,
  user_id: userId,
  resource: { type: "user", id: userId, name: null },
});

import type { Access } from "../access/role.ts";
import { encodeFrame } from "../http/sse-frame.ts";
import { type Filter, isShownWhole, matches, maySee, withoutAddress } from "./audience.ts";
import { type Event, isEvent } from "./event.ts";
import { cursorOf, type Entry } from "./event-log.ts";

/** An event of the log, encoded. */
export interface Gathered {
  readonly position: number;
  readonly event: Event;
  readonly frame: string;
  /** The frame for those who may not read the audit log. */
  readonly reducedFrame: string;
}

/** Returns null for what is not an event: the row may have been written by another version. */
export function gather({ position, message }: Entry): Gathered | null {
  const event = parsed(message);
  if (!isEvent(event)) return null;
  const frame = encodeFrame(event.type, event);
  const reducedFrame = event.type === "activity" ? encodeFrame(event.type, withoutAddress(event)) : frame;
  return { position, event, frame, reducedFrame };
}

export function parsed(message: string): unknown {
  try {
    return JSON.parse(message);
  } catch {
    return null;
  }
}

/** The frame for a reader who may see the event, without the id; null for others. */
export function frameFor({ event, frame, reducedFrame }: Gathered, access: Access, filter: Filter): string | null {
  if (!matches(event, filter) || !maySee(event, access)) return null;
  return isShownWhole(event, access) ? frame : reducedFrame;
}

/** A frame of its own moves a quiet stream on, and is not an event. */
export const idLine = (logId: string, position: number): string => `id: ${cursorOf({ logId, position })}\n`;

export interface Listener {
  readonly audience: string;
  readonly access: Access;
  readonly filter: Filter;
  readonly isResumable: boolean;
  /** Only events after this position are for the stream. */
  readonly after: number;
}

/** The encoded frames of one round. Audiences that receive the same events share the same bytes. */
export class Round {
  readonly #events: readonly Gathered[];
  readonly #logId: string;
  /** An event about an account makes every user an audience of their own. Such events are rare. */
  readonly #isPersonal: boolean;
  readonly #byAudience = new Map<string, Buffer | null>();
  readonly #bySelection = new Map<string, Buffer>();

  constructor(events: readonly Gathered[], logId: string) {
    this.#events = events;
    this.#logId = logId;
    this.#isPersonal = events.some(({ event }) => event.user_id !== undefined);
  }

  for(listener: Listener): Buffer | null {
    const { audience, access, isResumable, after } = listener;
    const isLate = after >= (this.#events[0]?.position ?? 0);
    const key = [audience, isResumable, this.#isPersonal ? access.userId : "", isLate ? after : ""].join(" ");
    let bytes = this.#byAudience.get(key);
    if (bytes === undefined) {
      bytes = this.#select(listener);
      this.#byAudience.set(key, bytes);
    }
    return bytes;
  }

  #select({ access, filter, isResumable, after }: Listener): Buffer | null {
    const visible = this.#events.flatMap((gathered) => {
      const frame = gathered.position > after ? frameFor(gathered, access, filter) : null;
      return frame === null ? [] : [{ position: gathered.position, isWhole: frame === gathered.frame, frame }];
    });
    if (visible.length === 0) return null;
    const selection = `${isResumable} ${visible.map(({ position, isWhole }) => (isWhole ? position : -position)).join()}`;
    const text = ({ position, frame }: (typeof visible)[number]) =>
      isResumable ? idLine(this.#logId, position) + frame : frame;
    const bytes = this.#bySelection.get(selection) ?? Buffer.from(visible.map(text).join(""));
    this.#bySelection.set(selection, bytes);
    return bytes;
  }
}

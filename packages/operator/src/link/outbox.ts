import { canonicalJson, type DesiredKind, LONGEST_COMPONENT_MESSAGE, type Reports, safeText } from "@binnacle/contract";
import type { OutgoingFrame, OutgoingFrameOf } from "./frames.ts";
import type { EventSink, SampleEvent, StatusSink, Subject } from "./ports.ts";

/** More than these are not on their way at a time: a hub that is slow gets the newest later, not everything at once. */
const MOST_UNCONFIRMED = 256;

interface Entry {
  subject: Subject;
  readonly report: Reports[DesiredKind];
  /** The same text again is not news. */
  readonly text: string;
  /** The frame it was sent with. */
  sentAs: string | null;
  isConfirmed: boolean;
}

/** Keeps the newest report of each key until the hub has it on record, and longer, to know what is not news. */
export interface StatusOutbox extends StatusSink {
  /** Called whenever there is something to send. */
  onDue: () => void;
  /** The next frame to send; null when there is none, or enough are on their way. */
  next(): OutgoingFrameOf<"status"> | null;
  /** These frames are on record. */
  confirmed(frameIds: readonly string[]): void;
  /** The session has ended, so unconfirmed frames may be lost. */
  lost(): void;
  /** Everything again. */
  resync(): void;
}

export function createStatusOutbox(newId: () => string): StatusOutbox {
  const entries = new Map<string, Entry>();
  /** Keys to be sent, oldest news first. */
  const due = new Set<string>();
  /** By the id of the frame. */
  const onTheWay = new Map<string, string>();

  function makeDue(key: string, entry: Entry): void {
    entry.sentAs = null;
    entry.isConfirmed = false;
    due.add(key);
  }

  const outbox: StatusOutbox = {
    onDue: () => undefined,

    report(_kind, { key, resource_id, generation, traceparent }, seen) {
      const report = safeReport(seen);
      // Without its trace and times: the same report in another trace, or of another moment, is not news.
      const text = canonicalJson({ resource_id, generation, report: withoutTimes(report) });
      if (entries.get(key)?.text === text) return;
      const subject = { key, resource_id, generation, ...(traceparent ? { traceparent } : {}) };
      entries.set(key, { subject, report, text, sentAs: null, isConfirmed: false });
      due.add(key);
      outbox.onDue();
    },

    next() {
      if (onTheWay.size >= MOST_UNCONFIRMED) return null;
      const [key] = due;
      const entry = key === undefined ? undefined : entries.get(key);
      if (key === undefined || !entry) return null;
      due.delete(key);
      const id = newId();
      entry.sentAs = id;
      onTheWay.set(id, key);
      return { type: "status", id, ...entry.subject, report: entry.report };
    },

    confirmed(frameIds) {
      for (const id of frameIds) {
        const key = onTheWay.get(id) ?? "";
        onTheWay.delete(id);
        const entry = entries.get(key);
        if (entry?.sentAs !== id) continue;
        entry.isConfirmed = true;
        // Sent again by a resync, it is not the outcome of that change any more.
        const { traceparent: _, ...subject } = entry.subject;
        entry.subject = subject;
        // No report follows, also when another resource gets the same key.
        if ("state" in entry.report && entry.report.state === "gone") entries.delete(key);
      }
      if (due.size > 0) outbox.onDue();
    },

    lost() {
      onTheWay.clear();
      for (const [key, entry] of entries) if (entry.sentAs !== null && !entry.isConfirmed) makeDue(key, entry);
    },

    resync() {
      for (const [key, entry] of entries) makeDue(key, entry);
      if (due.size > 0) outbox.onDue();
    },
  };
  return outbox;
}

/** The limit of builds that wait to be sent; beyond it the oldest is dropped. */
const MOST_BUILDS = 1_000;

export interface EventOutbox extends EventSink {
  /** Called whenever there is something to send. */
  onDue: () => void;
  next(): OutgoingFrame | null;
  /** The hub is away. */
  lost(): void;
}

export function createEventOutbox(): EventOutbox {
  const builds = new Map<string, OutgoingFrameOf<"build">>();
  let samples: SampleEvent | null = null;

  const outbox: EventOutbox = {
    onDue: () => undefined,

    build(events) {
      const name = `${events.source}/${events.namespace}/${events.name}`;
      // The newest goes to the end, so that the oldest is dropped first.
      builds.delete(name);
      builds.set(name, { type: "build", ...events });
      const [oldest] = builds.keys();
      if (builds.size > MOST_BUILDS && oldest !== undefined) builds.delete(oldest);
      outbox.onDue();
    },

    samples(events) {
      samples = events;
      outbox.onDue();
    },

    next() {
      const [build] = builds;
      if (build) {
        builds.delete(build[0]);
        return build[1];
      }
      if (!samples) return null;
      const frame: OutgoingFrameOf<"samples"> = { type: "samples", ...samples };
      samples = null;
      return frame;
    },

    lost() {
      samples = null;
    },
  };
  return outbox;
}

const TIMES: ReadonlySet<string> = new Set(["phase_since", "detected_at", "started_at"]);

const withoutTimes = (report: unknown): unknown =>
  JSON.parse(JSON.stringify(report, (name, value: unknown) => (TIMES.has(name) ? undefined : value)));

const safeComponent = <C extends { readonly message: string | null }>(component: C): C =>
  component.message === null
    ? component
    : { ...component, message: safeText(component.message).slice(0, LONGEST_COMPONENT_MESSAGE) };

/** A report whose texts may be shown to people. The hub ends the session of an operator that sends others. */
function safeReport<R extends Reports[DesiredKind]>(report: R): R {
  const { message, drift, components_status } = report as {
    message?: string | null;
    drift?: { summary: string | null };
    components_status?: readonly { readonly message: string | null }[];
  };
  return {
    ...report,
    ...(components_status ? { components_status: components_status.map(safeComponent) } : {}),
    ...(message ? { message: safeText(message) } : {}),
    ...(drift?.summary ? { drift: { ...drift, summary: safeText(drift.summary) } } : {}),
  };
}

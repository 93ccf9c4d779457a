import { canonicalJson, type DesiredKind, type Reports } from "@binnacle/contract";
import { safeReport } from "./safe-report.ts";
import type { StatusSink, Subject } from "./status-sink.ts";
import type { UnsentOf } from "./unsent.ts";

/** More than these are not on their way at a time: a hub that is slow gets the newest later, not everything at once. */
const MOST_UNNOTED = 256;

interface Entry {
  readonly subject: Subject;
  readonly report: Reports[DesiredKind];
  /** The same text again is no news. */
  readonly text: string;
  /** The frame it was sent with. */
  sentAs: string | null;
  isNoted: boolean;
}

/** Keeps the newest report of each key until the hub has it on record, and longer, to know what is no news. */
export interface StatusOutbox extends StatusSink {
  /** Called whenever there is something to send. */
  onDue: () => void;
  /** The next frame to send; null when there is none, or enough are on their way. */
  next(): UnsentOf<"status"> | null;
  /** These frames are on record. */
  noted(frameIds: readonly string[]): void;
  /** What was on its way may not have arrived. */
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
    entry.isNoted = false;
    due.add(key);
  }

  const outbox: StatusOutbox = {
    onDue: () => undefined,

    report(_kind, { key, resource_id, generation }, seen) {
      const report = safeReport(seen);
      const text = canonicalJson({ resource_id, generation, report });
      if (entries.get(key)?.text === text) return;
      entries.set(key, { subject: { key, resource_id, generation }, report, text, sentAs: null, isNoted: false });
      due.add(key);
      outbox.onDue();
    },

    next() {
      if (onTheWay.size >= MOST_UNNOTED) return null;
      const [key] = due;
      const entry = key === undefined ? undefined : entries.get(key);
      if (key === undefined || !entry) return null;
      due.delete(key);
      const id = newId();
      entry.sentAs = id;
      onTheWay.set(id, key);
      return { type: "status", id, ...entry.subject, report: entry.report };
    },

    noted(frameIds) {
      for (const id of frameIds) {
        const key = onTheWay.get(id) ?? "";
        onTheWay.delete(id);
        const entry = entries.get(key);
        if (entry?.sentAs !== id) continue;
        entry.isNoted = true;
        // Nothing more is to be said of it, also when another resource takes its place.
        if ("state" in entry.report && entry.report.state === "gone") entries.delete(key);
      }
      if (due.size > 0) outbox.onDue();
    },

    lost() {
      onTheWay.clear();
      for (const [key, entry] of entries) if (entry.sentAs !== null && !entry.isNoted) makeDue(key, entry);
    },

    resync() {
      for (const [key, entry] of entries) makeDue(key, entry);
      if (due.size > 0) outbox.onDue();
    },
  };
  return outbox;
}

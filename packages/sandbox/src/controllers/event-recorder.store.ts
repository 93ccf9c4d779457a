import type { KubeObject } from "../store/kube-object.ts";
import type { Store } from "../store/store.ts";
import type { EventDraft } from "./control.ts";
import { numberOf } from "./fingerprint.ts";
import { msOf, present, stampOf } from "./writes.ts";

const KEPT_MS = 3_600_000;
/** Events that repeat faster are not written. */
const REPEAT_MS = 5_000;

export interface EventLimits {
  readonly mostEvents: number;
  readonly normalEvents: boolean;
}

interface StoredEvent extends KubeObject {
  readonly count?: number;
  readonly lastTimestamp?: string;
}

/** Writes events as a cluster does: what repeats is counted, and what is old goes when something new comes. */
export class EventRecorder {
  readonly #store: Store;
  readonly #limits: EventLimits;
  /** In the order in which they came. */
  readonly #known = new Map<string, { readonly name: string; readonly namespace: string; readonly atMs: number }>();

  constructor(store: Store, limits: EventLimits) {
    this.#store = store;
    this.#limits = limits;
    const stored = store.list("events").map((event) => ({ event, atMs: msOf(event["lastTimestamp"]) ?? 0 }));
    for (const { event, atMs } of stored.sort((a, b) => a.atMs - b.atMs)) {
      this.#note(event.metadata.name, event.metadata.namespace ?? "", atMs);
    }
  }

  record(draft: EventDraft, nowMs: number): void {
    if (draft.type === "Normal" && !this.#limits.normalEvents) return;
    const { about } = draft;
    const namespace = about.metadata.namespace ?? "default";
    const name = nameOf(draft);
    const known = this.#store.get("events", name, namespace) as StoredEvent | null;
    if (known && nowMs - (msOf(known.lastTimestamp) ?? 0) < REPEAT_MS) return;
    if (known) {
      const patch = { count: (known.count ?? 1) + 1, lastTimestamp: stampOf(nowMs) };
      this.#store.patch("events", name, namespace, patch, { manager: draft.source });
    } else {
      this.#store.create("events", eventOf(draft, name, namespace, nowMs), { manager: draft.source });
    }
    this.#note(name, namespace, nowMs);
    this.#prune(nowMs);
  }

  /** An event that others have written goes like one of ours. */
  noted({ metadata: { name, namespace = "" } }: KubeObject, nowMs: number): void {
    // One of ours may have gone again before its change is told.
    if (this.#known.has(`${namespace}/${name}`) || !this.#store.get("events", name, namespace)) return;
    this.#note(name, namespace, nowMs);
    this.#prune(nowMs);
  }

  #note(name: string, namespace: string, atMs: number): void {
    const key = `${namespace}/${name}`;
    this.#known.delete(key);
    this.#known.set(key, { name, namespace, atMs });
  }

  #prune(nowMs: number): void {
    for (const [key, { name, namespace, atMs }] of this.#known) {
      if (this.#known.size <= this.#limits.mostEvents && nowMs - atMs < KEPT_MS) return;
      this.#known.delete(key);
      this.#store.delete("events", name, namespace);
    }
  }
}

/** The same for the same news, so that the event that there is can be found. */
function nameOf({ about, reason, message }: EventDraft): string {
  const text = `${about.metadata.uid}/${reason}/${message}`;
  const hex = [text, `${text}/2`].map((part) => numberOf(part).toString(16).padStart(8, "0")).join("");
  return `${about.metadata.name}.${hex}`;
}

function eventOf({ about, type, reason, message, source }: EventDraft, name: string, namespace: string, nowMs: number) {
  const { apiVersion, kind, metadata } = about;
  const at = stampOf(nowMs);
  return {
    apiVersion: "v1",
    kind: "Event",
    metadata: { name, namespace },
    involvedObject: present({
      apiVersion,
      kind,
      name: metadata.name,
      namespace: metadata.namespace,
      uid: metadata.uid,
      resourceVersion: metadata.resourceVersion,
    }),
    type,
    reason,
    message,
    source: { component: source },
    reportingComponent: source,
    reportingInstance: "",
    firstTimestamp: at,
    lastTimestamp: at,
    count: 1,
  };
}

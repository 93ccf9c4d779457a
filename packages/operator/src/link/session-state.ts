import { canonicalJson, type LinkSettings } from "@binnacle/contract";
import type { DesiredStore } from "../desired/desired-state.ts";
import type { Clock } from "../kube/work-queue.ts";
import type { LinkLog } from "./ports.ts";

/** A busy hub ends a sync many times a second; losing the last of them costs nothing but a longer resume. */
const WRITE_EVERY_MS = 5_000;

export interface Memory {
  readonly revision: number | null;
  readonly settings: LinkSettings;
}

/** State for the next session, written at intervals. */
export interface SessionState {
  /** With what is not written yet. Read from the cluster once. */
  known(): Promise<Memory>;
  /** A revision never falls, so a hub whose database was restored learns how far this cluster had come. */
  note(changes: { readonly revision?: number; readonly settings?: LinkSettings }): void;
  /** Writes what is not written yet. */
  flush(): Promise<void>;
}

export function createSessionState(
  store: Pick<DesiredStore, "memory" | "remember">,
  { clock, log }: { readonly clock: Clock; readonly log: LinkLog },
): SessionState {
  let memory: Memory | null = null;
  let unwritten: { revision?: number; settings?: LinkSettings } = {};
  let stopTimer: (() => void) | null = null;

  async function write(): Promise<void> {
    stopTimer?.();
    stopTimer = null;
    if (Object.keys(unwritten).length === 0) return;
    const writing = unwritten;
    unwritten = {};
    try {
      await store.remember(writing);
    } catch (err) {
      unwritten = { ...writing, ...unwritten };
      log.warn({ err }, "the session state could not be written; it is retried");
      writeLater();
    }
  }

  function writeLater(): void {
    stopTimer ??= clock.after(WRITE_EVERY_MS, () => void write());
  }

  return {
    async known() {
      memory ??= await store.memory();
      return memory;
    },
    note({ revision, settings }) {
      if (!memory) return;
      const isAhead = revision !== undefined && revision > (memory.revision ?? -1);
      const isOther = settings !== undefined && canonicalJson(settings) !== canonicalJson(memory.settings);
      if (!isAhead && !isOther) return;
      const changes = { ...(isAhead ? { revision } : {}), ...(isOther ? { settings } : {}) };
      memory = { ...memory, ...changes };
      unwritten = { ...unwritten, ...changes };
      writeLater();
    },
    flush: write,
  };
}

import { type ReactNode, useSyncExternalStore } from "react";
import { ago } from "../status/status.ts";

const TICK_MS = 1_000;

/** All relative times of a page move together, by one timer. */
let now = Date.now();
const listeners = new Set<() => void>();
let timer: ReturnType<typeof setInterval> | null = null;

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  timer ??= setInterval(() => {
    now = Date.now();
    for (const each of listeners) each();
  }, TICK_MS);
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0 || timer === null) return;
    clearInterval(timer);
    timer = null;
  };
}

/** The time of the last tick. While nothing on screen showed a time there was none, so an old one is not used. */
function current(): number {
  const time = Date.now();
  if (time - now >= TICK_MS) now = time;
  return now;
}

export function useNow(): number {
  return useSyncExternalStore(subscribe, current);
}

/** A text that depends on the time. It is drawn again when it reads differently, and not at every tick. */
export function useTimeText(text: (now: number) => string): string {
  return useSyncExternalStore(subscribe, () => text(current()));
}

const ABSOLUTE = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });
export const absoluteTime = (at: string): string => ABSOLUTE.format(new Date(at));

/** A time relative to now, with the absolute time on hover. */
export function Moment({ at, children }: { readonly at: string; readonly children?: ReactNode }) {
  return (
    <time dateTime={at} title={absoluteTime(at)} style={{ whiteSpace: "nowrap" }}>
      {children ?? <Relative at={at} />}
    </time>
  );
}

function Relative({ at }: { readonly at: string }) {
  return useTimeText((time) => ago(at, time));
}

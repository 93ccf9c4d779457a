import { Tooltip } from "@mantine/core";
import { type ReactNode, useSyncExternalStore } from "react";
import { ago } from "../status/status.ts";

/** All relative times of a page move together, by one timer. */
let now = Date.now();
const listeners = new Set<() => void>();
let timer: ReturnType<typeof setInterval> | null = null;

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  timer ??= setInterval(() => {
    now = Date.now();
    for (const each of listeners) each();
  }, 1_000);
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0 || timer === null) return;
    clearInterval(timer);
    timer = null;
  };
}

export function useNow(): number {
  return useSyncExternalStore(subscribe, () => now);
}

const ABSOLUTE = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });
export const absoluteTime = (at: string): string => ABSOLUTE.format(new Date(at));

/** A time relative to now, with the absolute time on hover. */
export function Moment({ at, children }: { readonly at: string; readonly children?: ReactNode }) {
  return (
    <Tooltip label={absoluteTime(at)}>
      <time dateTime={at} style={{ whiteSpace: "nowrap" }}>
        {children ?? <Relative at={at} />}
      </time>
    </Tooltip>
  );
}

function Relative({ at }: { readonly at: string }) {
  return ago(at, useNow());
}

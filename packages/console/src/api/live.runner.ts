import { type Event, Unauthenticated } from "@binnacle/client";
import type { QueryClient } from "@tanstack/react-query";
import { isOutdated, type ReadKey } from "./live.ts";
import { client } from "./session.adapter.ts";

export type Connection = "connecting" | "live" | "reconnecting" | "offline";

/** Events of one burst cause one read. */
const GATHER_MS = 150;
/** A list that changes all the time is read again at most this often. */
const LEAST_BETWEEN_READS_MS = 500;

let connection: Connection = "connecting";
const listeners = new Set<() => void>();

function setConnection(next: Connection): void {
  if (connection === next) return;
  connection = next;
  for (const listener of listeners) listener();
}

export const liveConnection = {
  get state(): Connection {
    return connection;
  },
  subscribe(listener: () => void): () => void {
    listeners.add(listener);
    return () => listeners.delete(listener);
  },
};

/** Follows the event stream of this tab and has outdated answers read again. Returns a function that ends it. */
export function followEvents(cache: QueryClient): () => void {
  const leaving = new AbortController();
  const pending: Event[] = [];
  let timer: ReturnType<typeof setTimeout> | null = null;
  let lastRead = 0;

  function readAgain(): void {
    timer = null;
    lastRead = performance.now();
    const events = pending.splice(0);
    void cache.invalidateQueries({
      predicate: ({ queryKey }) => events.some((event) => isOutdated(queryKey as unknown as ReadKey, event)),
    });
  }

  function add(event: Event): void {
    pending.push(event);
    const wait = Math.max(GATHER_MS, lastRead + LEAST_BETWEEN_READS_MS - performance.now());
    timer ??= setTimeout(readAgain, wait);
  }

  async function follow(): Promise<void> {
    const onDisconnect = () => setConnection(navigator.onLine ? "reconnecting" : "offline");
    const onReconnect = () => setConnection("live");
    const options = { signal: leaving.signal, onDisconnect, onReconnect };
    for await (const item of client.stream("streamEvents", {}, options)) {
      setConnection("live");
      if (item.type === "event") add(item.data);
      // Something may have been missed, so everything on screen is read again.
      else if (item.type === "gap") void cache.invalidateQueries();
    }
  }

  async function keepFollowing(): Promise<void> {
    while (!leaving.signal.aborted) {
      try {
        await follow();
      } catch (error) {
        if (error instanceof Unauthenticated) return;
      }
      if (leaving.signal.aborted) return;
      setConnection(navigator.onLine ? "reconnecting" : "offline");
      await new Promise((resolve) => setTimeout(resolve, 2_000));
    }
  }

  const onOffline = () => setConnection("offline");
  const onOnline = () => setConnection("reconnecting");
  window.addEventListener("offline", onOffline);
  window.addEventListener("online", onOnline);
  void keepFollowing();
  return () => {
    leaving.abort();
    if (timer) clearTimeout(timer);
    window.removeEventListener("offline", onOffline);
    window.removeEventListener("online", onOnline);
    setConnection("connecting");
  };
}

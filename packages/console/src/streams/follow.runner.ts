import type { FollowOptions, StreamData, StreamItem, StreamName } from "@binnacle/client";
import { useEffect, useState } from "react";

export type StreamState = "opening" | "live" | "reconnecting" | "ended" | "failed";

/** What comes in a stream, and places where something is missing. The number is null where nobody knows it. */
export type Received<N extends StreamName> = StreamData<N> | { readonly dropped: number | null };

/** Keeps what a stream brings. */
export interface Keeper<N extends StreamName> {
  append(items: readonly Received<N>[]): void;
  /** Forgets everything, because another stream begins. */
  begin(): void;
}

/** What comes within this time is drawn together. It is a timer, because a window that is hidden draws no frames. */
const DRAW_MS = 100;

/** Follows a stream into what keeps it, from its beginning whenever `source` changes and when it is opened again. */
export function useFollowed<N extends StreamName>(
  source: string,
  open: (options: FollowOptions) => AsyncIterable<StreamItem<N>>,
  keeper: Keeper<N>,
) {
  const [state, setState] = useState<StreamState>("opening");
  const [error, setError] = useState<unknown>(null);
  const [attempt, setAttempt] = useState(0);

  // biome-ignore lint/correctness/useExhaustiveDependencies: the source stands for the functions, which are new at each render.
  useEffect(() => {
    const leaving = new AbortController();
    let waiting: Received<N>[] = [];
    let timer: ReturnType<typeof setTimeout> | null = null;
    function draw(): void {
      timer = null;
      const items = waiting;
      waiting = [];
      keeper.append(items);
    }
    function add(item: Received<N>): void {
      waiting.push(item);
      timer ??= setTimeout(draw, DRAW_MS);
    }

    async function follow(): Promise<void> {
      let isLive = false;
      const onDisconnect = () => {
        isLive = false;
        setState("reconnecting");
      };
      for await (const item of open({ signal: leaving.signal, onDisconnect })) {
        if (!isLive) setState("live");
        isLive = true;
        if (item.type === "event") add(item.data);
        else if (item.type === "gap" && (item.reason === "dropped" || item.count !== null))
          add({ dropped: item.count });
      }
    }

    keeper.begin();
    setState("opening");
    setError(null);
    follow().then(
      () => {
        if (!leaving.signal.aborted) setState("ended");
      },
      (failure: unknown) => {
        if (leaving.signal.aborted) return;
        setError(failure);
        setState("failed");
      },
    );
    return () => {
      leaving.abort();
      if (timer) clearTimeout(timer);
    };
  }, [source, attempt]);

  return { state, error, reopen: () => setAttempt((count) => count + 1) };
}

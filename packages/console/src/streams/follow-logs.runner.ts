import type { App, LogLine } from "@binnacle/client";
import { useEffect, useRef, useState } from "react";
import { client } from "../api/session.adapter.ts";
import { LogBuffer } from "./log-lines.ts";

export interface LogSource {
  readonly app: Pick<App, "namespace" | "name" | "project_id">;
  readonly component: string;
  readonly previous: boolean;
  readonly tailLines: number;
}

export type LogState = "opening" | "live" | "reconnecting" | "ended" | "failed";

/** Lines that come within this time are drawn together. */
const DRAW_MS = 100;

/** Follows the logs of a component into a buffer. `version` changes when the buffer has. */
export function useLogs({ app, component, previous, tailLines }: LogSource) {
  const buffer = useRef(new LogBuffer());
  const [version, setVersion] = useState(0);
  const [state, setState] = useState<LogState>("opening");
  const [error, setError] = useState<unknown>(null);
  const [attempt, setAttempt] = useState(0);
  const { namespace, name, project_id } = app;

  // biome-ignore lint/correctness/useExhaustiveDependencies: another attempt opens the stream again.
  useEffect(() => {
    const leaving = new AbortController();
    let waiting: (LogLine | { dropped: number | null })[] = [];
    let timer: ReturnType<typeof setTimeout> | null = null;
    function draw(): void {
      timer = null;
      const items = waiting;
      waiting = [];
      buffer.current.append(items);
      setVersion(buffer.current.version);
    }
    function add(item: (typeof waiting)[number]): void {
      waiting.push(item);
      timer ??= setTimeout(draw, DRAW_MS);
    }

    async function follow(): Promise<void> {
      const input = { namespace, name, component, project_id, tail_lines: tailLines, follow: !previous, previous };
      const options = { signal: leaving.signal, onDisconnect: () => setState("reconnecting") };
      for await (const item of client.stream("streamComponentLogs", input, options)) {
        setState("live");
        if (item.type === "event") add(item.data);
        else if (item.type === "gap" && (item.reason === "dropped" || item.count !== null))
          add({ dropped: item.count });
      }
    }

    buffer.current.clear();
    setVersion(buffer.current.version);
    setState("opening");
    setError(null);
    follow().then(
      () => setState("ended"),
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
  }, [namespace, name, project_id, component, previous, tailLines, attempt]);

  return { buffer: buffer.current, version, state, error, reopen: () => setAttempt((count) => count + 1) };
}

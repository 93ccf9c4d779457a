import { useEffect, useState } from "react";
import { client } from "../api/session.adapter.ts";

type State = "opening" | "live" | "reconnecting" | "ended" | "failed";

/** More lines than this make a page slow; the end is what people look at. */
const MOST_LINES = 5_000;
/** Lines that come within this time are drawn together. */
const DRAW_MS = 100;

/** Follows the output of a job. Another attempt of the job, which has ended its output once, opens it again. */
export function useJobLog(jobId: string, attempts: number) {
  const [shown, setShown] = useState({ text: "", cut: 0 });
  const [state, setState] = useState<State>("opening");
  const [error, setError] = useState<unknown>(null);
  const [opened, setOpened] = useState(0);

  // biome-ignore lint/correctness/useExhaustiveDependencies: another attempt opens the stream again.
  useEffect(() => {
    const leaving = new AbortController();
    let lines: string[] = [];
    let cut = 0;
    let timer: ReturnType<typeof setTimeout> | null = null;
    function draw(): void {
      timer = null;
      cut += Math.max(0, lines.length - MOST_LINES);
      lines = lines.slice(-MOST_LINES);
      setShown({ text: lines.join("\n"), cut });
    }

    async function follow(): Promise<void> {
      const options = { signal: leaving.signal, onDisconnect: () => setState("reconnecting") };
      for await (const item of client.stream("getProvisioningLogs", { id: jobId }, options)) {
        setState("live");
        if (item.type !== "event") continue;
        lines.push(item.data.line);
        timer ??= setTimeout(draw, DRAW_MS);
      }
    }

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
  }, [jobId, attempts, opened]);

  return { ...shown, state, error, reopen: () => setOpened((count) => count + 1) };
}

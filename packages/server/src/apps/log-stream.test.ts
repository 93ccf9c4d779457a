import type { LogLine } from "@binnacle/contract";
import { describe, expect, test } from "vitest";
import { WEB, workload } from "./app.fixture.ts";
import { logTarget, pumpLogs } from "./log-stream.runner.ts";

const line = (text: string): LogLine => ({
  component: "web",
  pod: "web-0",
  container: "web",
  time: "2026-01-31T09:30:00.000Z",
  line: text,
});

async function* lines(...texts: string[]) {
  yield* texts.map(line);
}

/** A reader that has taken everything, unless a test makes it busy. */
function reader(drained: () => Promise<void> = async () => undefined) {
  const written: string[] = [];
  let ended = 0;
  return {
    written,
    drained,
    write: (frame: Uint8Array | string) => void written.push(String(frame)),
    end: () => void ended++,
    get ended() {
      return ended;
    },
  };
}

const names = ({ written }: { written: string[] }) => written.map((frame) => /^event: (\w+)/.exec(frame)?.[1]);

describe("a stream of logs", () => {
  test("[AP49] a log stream has an event for each line and ends with the event end", async () => {
    const stream = reader();
    await pumpLogs(lines("one", "two\nthree"), stream);
    expect(names(stream)).toEqual(["log", "log", "end"]);
    expect(stream.written[1]).toBe(`event: log\ndata: ${JSON.stringify(line("two\nthree"))}\n\n`);
    expect(stream.ended).toBe(1);
  });

  test("[RQ5] a log stream takes the next line from the operator when its reader has room for it", async () => {
    const room = Promise.withResolvers<void>();
    const stream = reader(() => room.promise);
    const pumping = pumpLogs(lines("1", "2"), stream);
    await new Promise(setImmediate);
    expect(names(stream)).toEqual(["log"]);
    room.resolve();
    await pumping;
    expect(names(stream)).toEqual(["log", "log", "end"]);
  });

  test("[AP49] a log stream ends with an error when its source breaks off", async () => {
    const stream = reader();
    async function* broken() {
      yield line("one");
      throw new Error("the hub is gone");
    }
    await expect(pumpLogs(broken(), stream)).rejects.toThrow("the hub is gone");
    expect(names(stream)).toEqual(["log", "end"]);
    expect(stream.written.at(-1)).toBe('event: end\ndata: {"error":"The logs broke off."}\n\n');
    expect(stream.ended).toBe(1);
  });

  test("[AP49] a log stream says how many lines were lost", async () => {
    const stream = reader();
    async function* leaky() {
      yield { dropped: 3 };
      yield line("one");
    }
    await pumpLogs(leaky(), stream);
    expect(stream.written[0]).toBe('event: dropped\ndata: {"count":3}\n\n');
  });
});

describe("whose logs are meant", () => {
  const chart = { name: "cache", type: "chart", chart_spec: { repo: "https://x", name: "redis" } } as const;

  test("[AP45] without a name logs are of the only workload, or of the only component", () => {
    expect(logTarget({ components: [WEB, chart] }, undefined)).toBe("web");
    expect(logTarget({ components: [WEB, workload("worker")] }, undefined)).toMatchObject({ kind: "invalid" });
    expect(logTarget({ components: [chart] }, undefined)).toBe("cache");
    expect(logTarget({ components: [chart, { ...chart, name: "queue" }] }, undefined)).toMatchObject({
      kind: "invalid",
    });
  });

  test("[AP44] logs are of the named component, and an unknown one is a 404", () => {
    expect(logTarget({ components: [WEB, chart] }, "cache")).toBe("cache");
    expect(logTarget({ components: [WEB] }, "cache")).toMatchObject({ kind: "not_found" });
  });
});

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

/** A reader that takes nothing while it is busy. */
function reader(waiting: (written: number) => number) {
  const written: string[] = [];
  let ended = 0;
  return {
    written,
    get waitingBytes() {
      return waiting(written.length);
    },
    write: (frame: Uint8Array | string) => void written.push(String(frame)),
    end: () => void ended++,
    get ended() {
      return ended;
    },
  };
}

const names = ({ written }: { written: string[] }) => written.map((frame) => /^event: (\w+)/.exec(frame)?.[1]);

describe("a stream of logs", () => {
  test("[AP49] has a frame for each line and ends with one that says so", async () => {
    const stream = reader(() => 0);
    await pumpLogs(lines("one", "two\nthree"), stream);
    expect(names(stream)).toEqual(["log", "log", "end"]);
    expect(stream.written[1]).toBe(`event: log\ndata: ${JSON.stringify(line("two\nthree"))}\n\n`);
    expect(stream.ended).toBe(1);
  });

  test("[AP49] loses lines of a slow reader and says how many", async () => {
    let looks = 0;
    const stream = reader(() => (++looks === 2 || looks === 3 ? 2 ** 21 : 0));
    await pumpLogs(lines("1", "2", "3", "4"), stream);
    expect(names(stream)).toEqual(["log", "dropped", "log", "end"]);
    expect(stream.written[1]).toBe('event: dropped\ndata: {"count":2}\n\n');
  });

  test("[AP49] ends also when its source breaks off", async () => {
    const stream = reader(() => 0);
    async function* broken() {
      yield line("one");
      throw new Error("the hub is gone");
    }
    await expect(pumpLogs(broken(), stream)).rejects.toThrow("the hub is gone");
    expect(names(stream)).toEqual(["log", "end"]);
    expect(stream.written.at(-1)).toBe('event: end\ndata: {"error":"The logs broke off."}\n\n');
    expect(stream.ended).toBe(1);
  });

  test("[AP49] tells what was lost on the way beside what its own reader loses", async () => {
    const stream = reader(() => 0);
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

  test("[AP45] the only workload, whatever else the app has, or the only component", () => {
    expect(logTarget({ components: [WEB, chart] }, undefined)).toBe("web");
    expect(logTarget({ components: [WEB, workload("worker")] }, undefined)).toMatchObject({ kind: "invalid" });
    expect(logTarget({ components: [chart] }, undefined)).toBe("cache");
    expect(logTarget({ components: [chart, { ...chart, name: "queue" }] }, undefined)).toMatchObject({
      kind: "invalid",
    });
  });

  test("[AP44] the one named, if it is there", () => {
    expect(logTarget({ components: [WEB, chart] }, "cache")).toBe("cache");
    expect(logTarget({ components: [WEB] }, "cache")).toMatchObject({ kind: "not_found" });
  });
});

import fc from "fast-check";
import { expect, test } from "vitest";
import { LogCursor, type LogLine } from "./log-cursor.ts";

const line = (ms: number, text: string, pod = "web-0"): LogLine => ({
  component: "web",
  pod,
  container: "web",
  time: new Date(Date.UTC(2026, 0, 1) + ms).toISOString(),
  line: text,
});

test("[CN24] wherever a stream is interrupted, each line is passed on once and none is lost", () => {
  const output = fc
    .array(fc.record({ step: fc.integer({ min: 0, max: 2 }), pod: fc.constantFrom("a", "b") }), { maxLength: 40 })
    .map((steps) => {
      let ms = 0;
      return steps.map(({ step, pod }, index) => {
        ms += step;
        return line(ms, `line ${index}`, pod);
      });
    });
  fc.assert(
    fc.property(output, fc.array(fc.nat(40), { maxLength: 4 }), (lines, breaks) => {
      const cursor = new LogCursor(0);
      const passed: LogLine[] = [];
      for (const end of [...breaks.sort((a, b) => a - b), lines.length]) {
        // Each connection brings everything again, as far as it gets.
        for (const it of lines.slice(0, end)) if (cursor.take(it, 0)) passed.push(it);
        cursor.resume(0);
      }
      expect(passed).toEqual(lines);
    }),
  );
});

test("[CN24] after a break the lines since the last one are requested again, and a few seconds more", () => {
  const cursor = new LogCursor(0);
  expect(cursor.resume(2_000)).toEqual({ since_seconds: 7, tail_lines: 10_000 });
  cursor.take(line(0, "x"), 60_000);
  expect(cursor.resume(61_500)).toEqual({ since_seconds: 7, tail_lines: 10_000 });
  expect(cursor.resume(0)).toEqual({ since_seconds: 5, tail_lines: 10_000 });
});

test("[CN24] a line with a time before the last one is passed on while the stream goes on", () => {
  const cursor = new LogCursor(0);
  expect([cursor.take(line(5, "a"), 0), cursor.take(line(3, "b"), 0)]).toEqual([true, true]);
});

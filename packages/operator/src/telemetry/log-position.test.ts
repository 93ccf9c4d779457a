import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createLogPosition, shortened, timedLineOf } from "./log-position.ts";

const nowMs = () => Date.parse("2026-01-31T12:00:00.000Z");

test.each([
  ["2026-01-31T09:30:00.000000001Z hello", "2026-01-31T09:30:00.000000001Z", "hello"],
  ["2026-01-31T09:30:00.5Z  indented", "2026-01-31T09:30:00.500000000Z", " indented"],
  ["2026-01-31T09:30:00Z", "2026-01-31T09:30:00.000000000Z", ""],
  ["2026-02-01T00:15:00.25+02:00 abroad", "2026-01-31T22:15:00.250000000Z", "abroad"],
])("[TE2] the time before a log line is read: %s", (raw, instant, text) => {
  expect(timedLineOf(raw)).toEqual({ instant, text });
});

test.each(["hello", "", "2026-01-31 09:30:00 hello", "2026-13-41T09:30:00Z hello", "2026-01-31T09:30:00.1 hello"])(
  "[TE2] a log line without a time before it is recognized: %s",
  (raw) => expect(timedLineOf(raw)).toBeNull(),
);

test("[TE2] a log line is not cut within a character", () => {
  const cut = shortened(`${"x".repeat(16 * 1024 - 2)}😀😀`);
  expect(cut).toBe(`${"x".repeat(16 * 1024 - 2)}…`);
  expect(shortened("😀")).toBe("😀");
});

describe("a position", () => {
  test("[TE2] a message of the node in place of a log is shown once, and a long line is cut", () => {
    const position = createLogPosition({ first: {}, nowMs });
    position.open();
    expect(position.take("unable to retrieve container logs")).toEqual({
      instant: "2026-01-31T12:00:00.000000000Z",
      text: "unable to retrieve container logs",
    });
    expect(position.take("unable to retrieve container logs")).toBeNull();
    expect(position.take(`2026-01-31T09:30:00Z ${"x".repeat(20_000)}`)?.text).toHaveLength(16 * 1024);
    expect(position.take("the rest of it")).toBeNull();
    expect(position.take("2026-01-31T09:30:01Z next")?.text).toBe("next");
  });

  test("[TE5] a log is requested as asked for until a line came, and from the second of that line afterwards", () => {
    const position = createLogPosition({ first: { tailLines: 0 }, again: { sinceTime: "t" }, nowMs });
    expect(position.open()).toEqual({ tailLines: 0 });
    expect(position.open()).toEqual({ tailLines: 0 });
    position.answered();
    expect(position.open()).toEqual({ sinceTime: "t" });
    position.take("2026-01-31T09:30:01.9Z one");
    position.take("2026-01-31T09:30:01.8Z written a little earlier");
    expect(position.open()).toEqual({ sinceTime: "2026-01-31T09:30:01Z" });
  });

  test("[TE5] lines of a second are recognized by their time, even if they are more than are remembered", () => {
    const position = createLogPosition({ first: {}, nowMs });
    const lines = Array.from({ length: 12_000 }, (_, i) => `2026-01-31T09:30:00.${String(i).padStart(9, "0")}Z ${i}`);
    position.open();
    for (const line of lines) expect(position.take(line)).not.toBeNull();
    position.open();
    expect(lines.filter((line) => position.take(line) !== null)).toEqual([]);
    expect(position.take("2026-01-31T09:30:00.999Z new")?.text).toBe("new");
  });

  test("[TE5] every log line is delivered once, in its order, wherever connections break", () => {
    const log = fc.array(
      fc.record({ gapMs: fc.constantFrom(0, 0, 1, 300, 2_500), text: fc.constantFrom("a", "b", "") }),
      {
        maxLength: 60,
      },
    );
    const breaks = fc.array(fc.nat(30), { maxLength: 8 });
    fc.assert(
      fc.property(log, breaks, (entries, lengths) => {
        let ms = Date.parse("2026-01-31T09:30:00Z");
        const lines = entries.map(({ gapMs, text }) => {
          ms += gapMs;
          return `${new Date(ms).toISOString()} ${text}`;
        });
        const position = createLogPosition({ first: {}, nowMs });
        const got: string[] = [];
        for (const length of [...lengths, lines.length]) {
          const { sinceTime = "" } = position.open();
          const offered = lines.filter((line) => line >= sinceTime.slice(0, 19));
          for (const raw of offered.slice(0, length)) {
            const line = position.take(raw);
            if (line) got.push(`${line.instant.slice(0, 23)}Z ${line.text}`);
          }
        }
        expect(got).toEqual(lines);
      }),
    );
  });
});

import type { LogLine } from "@binnacle/client";
import { expect, test } from "vitest";
import { compileLinePattern } from "./line-pattern.ts";
import {
  downloadOf,
  type Entry,
  emptyText,
  indexAt,
  isGap,
  LogBuffer,
  levelOf,
  matcherOf,
  NO_FILTER,
  plainText,
} from "./log-lines.ts";

const line = (text: string, more: Partial<LogLine> = {}): LogLine => ({
  component: "web",
  pod: "web-1",
  container: "web",
  time: "2026-01-31T09:30:00.000Z",
  line: text,
  ...more,
});
const textsOf = (entries: readonly Entry[]) =>
  entries.map((entry) => (isGap(entry) ? `gap ${entry.dropped}` : entry.text));

test.each([
  ["\u001b[31mred\u001b[0m plain", "red plain"],
  ["\u001b]8;;https://evil.example\u0007link\u001b]8;;\u0007", "link"],
  ["\u001b[2J\u001b[Hcleared", "cleared"],
  ["user\u202Egnp.exe", "user␦gnp.exe"],
  ["bell\u0007", "bell␦"],
  ["no\u200B\u200D\uFEFF\u00AD\u061Cgap", "no␦␦␦␦␦gap"],
  ["\u009B31mC1\u0085", "␦31mC1␦"],
  ["one\u2028two\u2029", "one␦two␦"],
  ["tags\u{E0041}\u{E007F}", "tags␦␦"],
  ["tab\tstays", "tab\tstays"],
  ["<img src=x onerror=alert(1)>", "<img src=x onerror=alert(1)>"],
])("[WC100] the log line %j is shown as %j", (raw, shown) => {
  expect(plainText(raw)).toBe(shown);
});

test.each([
  ["level=error msg=x", "error"],
  ['{"level":"warn","msg":"no error here"}', "warning"],
  ["2026-01-31 INFO started", "info"],
  ["[debug] x", "debug"],
  ["FATAL: role does not exist", "error"],
  ["GET /errors 200", null],
  ["plain", null],
])("[WC101] the level of the log line %j is %s", (text, level) => {
  expect(levelOf(text)).toBe(level);
});

test("[WC102] a filter of the log by text, pattern, pod and level hides the other lines, and never a gap", () => {
  const buffer = new LogBuffer();
  buffer.append([line("one error"), { dropped: 3 }, line("two", { pod: "web-2" }), line("three")]);
  const shownBy = (filter: Partial<typeof NO_FILTER>) => {
    const matches = matcherOf({ ...NO_FILTER, ...filter }, compileLinePattern);
    if (matches instanceof Error) return matches.message;
    buffer.filter(matches);
    return textsOf(buffer.shown);
  };
  expect(shownBy({})).toEqual(["one error", "gap 3", "two", "three"]);
  expect(shownBy({ text: "T" })).toEqual(["gap 3", "two", "three"]);
  expect(shownBy({ text: "^t.o$", isPattern: true })).toEqual(["gap 3", "two"]);
  expect(shownBy({ pod: "web-2" })).toEqual(["gap 3", "two"]);
  expect(shownBy({ level: "error" })).toEqual(["one error", "gap 3"]);
  expect(shownBy({ text: "(", isPattern: true })).toMatch(/regular expression/);
});

test.each(["^(([^\\x00])+)+\\x00$", "(x+x+)+y", "(.*)*z"])(
  "[WC161] the pattern %j is matched in bounded time, which a backtracking engine would not finish",
  (pattern) => {
    const matches = compileLinePattern(pattern);
    if (matches instanceof Error) throw matches;
    expect(matches("x".repeat(10_000))).toBe(false);
  },
);

test.each([
  ["x".repeat(501), /too long/],
  ["x{1000}y{1000}", /too large/],
  ["(?=x)", /Not a regular expression: invalid or unsupported/],
])("[WC161] the pattern %j is refused as a filter of lines", (pattern, reason) => {
  expect(compileLinePattern(pattern)).toEqual(expect.objectContaining({ message: expect.stringMatching(reason) }));
});

test("[WC102] new log lines pass the filter that is set", () => {
  const buffer = new LogBuffer();
  buffer.filter((entry) => !isGap(entry) && entry.text === "yes");
  buffer.append([line("no"), line("yes")]);
  expect(textsOf(buffer.shown)).toEqual(["yes"]);
  expect([buffer.received, buffer.kept]).toEqual([2, 2]);
});

test("[WC2913] the count of log lines begins anew with another stream, keeps what was cleared, and has no gaps in it", () => {
  const buffer = new LogBuffer();
  const counts = () => [buffer.shownLines, buffer.received];
  buffer.append([line("one"), { dropped: 3 }, line("two")]);
  expect(counts()).toEqual([2, 2]);
  buffer.filter((entry) => isGap(entry) || entry.text === "two");
  expect(counts()).toEqual([1, 2]);
  buffer.clear();
  expect(counts()).toEqual([0, 2]);
  buffer.begin();
  buffer.append([line("two")]);
  expect(counts()).toEqual([1, 1]);
});

test("[WC103] the log keeps no more lines than the limit allows, and keeps the newest", () => {
  const buffer = new LogBuffer(1_000);
  for (let i = 0; i < 300; i++) buffer.append(Array.from({ length: 100 }, (_, j) => line(`${i * 100 + j}`)));
  expect(buffer.received).toBe(30_000);
  expect(buffer.kept).toBeLessThanOrEqual(11_000);
  expect(buffer.shown.length).toBe(buffer.kept);
  expect(textsOf(buffer.shown.slice(-1))).toEqual(["29999"]);
});

test("[WC104] a time leads to the first line after it, and the download has the lines that are shown", () => {
  const buffer = new LogBuffer();
  buffer.append([line("a", { time: "2026-01-31T09:00:00.000Z" }), { dropped: null }, line("b")]);
  expect(indexAt(buffer.shown, "2026-01-31T09:10:00.000Z")).toBe(2);
  expect(indexAt(buffer.shown, "2027-01-01T00:00:00.000Z")).toBe(2);
  expect(downloadOf(buffer.shown)).toBe(
    "2026-01-31T09:00:00.000Z web-1/web a\n--- some lines dropped ---\n2026-01-31T09:30:00.000Z web-1/web b\n",
  );
});

test.each([
  [{}, "Nothing has been written yet. Lines are shown as they come."],
  [{ state: "reconnecting" }, "Nothing has been written yet. Lines are shown as they come."],
  [{ state: "ended" }, "Nothing was written."],
  [{ state: "ended", isPrevious: true }, "Nothing is kept from before the last restart."],
  [{ kept: 3, received: 3 }, "No line passes the filters."],
  [{ received: 3 }, "Cleared. Lines are shown as they come."],
  [{ state: "opening" }, null],
  [{ state: "failed" }, null],
] as const)("[WC102] a log view without lines says why: %j", (given, words) => {
  expect(emptyText({ state: "live", kept: 0, received: 0, isPrevious: false, ...given })).toBe(words);
});

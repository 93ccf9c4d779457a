import fc from "fast-check";
import { expect, test } from "vitest";
import { type Frame, FrameReader } from "./sse.ts";

const readAll = (...pieces: string[]): Frame[] => {
  const reader = new FrameReader();
  return pieces.flatMap((piece) => reader.push(piece));
};
const data = (...pieces: string[]) => readAll(...pieces).map((frame) => frame.data);

test("[CN26] frames of server-sent events are read as the standard says", () => {
  expect(
    readAll("\uFEFFevent: app\r\nid: 7\r\ndata:  one\r\ndata: two\r\n\r\n: comment\n\ndata\n\nretry: 5\n\n"),
  ).toEqual([
    { event: "app", id: "7", data: " one\ntwo" },
    { event: "message", id: "7", data: "" },
  ]);
  expect(data("data: a\rdata: b\r\r")).toEqual(["a\nb"]);
  expect(data("event: app\n\ndata: unfinished\n")).toEqual([]);
});

test("[CN26] the frames of a text are the same, however the text is cut into pieces", () => {
  const line = fc.oneof(
    fc.constantFrom("data: x", "data:", "event: app", "id: 1", ": c", "", "data: ä€😀", "nonsense"),
    fc.string().map((text) => `data: ${text.replace(/[\r\n\uFEFF]/g, "")}`),
  );
  const text = fc
    .array(fc.tuple(line, fc.constantFrom("\n", "\r\n", "\r")))
    .map((lines) => lines.map(([content, end]) => content + end).join(""));
  fc.assert(
    fc.property(text, fc.array(fc.nat(200)), (whole, cuts) => {
      const places = [...new Set(cuts.map((cut) => Math.min(cut, whole.length)))].sort((a, b) => a - b);
      const pieces = [...places, whole.length].map((place, index) =>
        whole.slice(index === 0 ? 0 : places[index - 1], place),
      );
      expect(readAll(...pieces)).toEqual(readAll(whole));
    }),
  );
});

test("[CN25] a frame that never ends is refused, whether it is one line or many", () => {
  const long = "x".repeat(1024 * 1024);
  expect(() => data(`data: ${long}`, long, long, long)).toThrow("too long");
  expect(() => data(...Array.from({ length: 5 }, () => `data: ${long}\n`))).toThrow("too long");
  expect(data(...Array.from({ length: 9 }, () => `data: ${long}\n\n`))).toHaveLength(9);
});

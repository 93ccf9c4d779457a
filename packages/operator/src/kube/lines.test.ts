import fc from "fast-check";
import { expect, test } from "vitest";
import { linesOf } from "./client-streams.adapter.ts";
import { gathered } from "./gathered.fixture.ts";

async function* chunked(text: string, size: number) {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

test("[KU16] a stream is split into the lines of its text, wherever the chunks were cut", async () => {
  const text = fc
    .array(fc.constantFrom("a", "ä", "€", "😀", "\n", "\r", "long word"), { maxLength: 40 })
    .map((parts) => parts.join(""));
  await fc.assert(
    fc.asyncProperty(text, fc.integer({ min: 1, max: 9 }), async (given, size) => {
      const expected = given.split("\n");
      if (expected.at(-1) === "") expected.pop();
      expect(await gathered(linesOf(chunked(given, size)))).toEqual(expected);
    }),
  );
});

test("[KU16] a line that is too long is delivered in pieces, and nothing is lost", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.string({ unit: fc.constantFrom("a", "b", "\n"), maxLength: 60 }),
      fc.integer({ min: 1, max: 9 }),
      async (given, size) => {
        const lines = await gathered(linesOf(chunked(given, size), 5));
        expect(lines.every(({ length }) => length <= 5)).toBe(true);
        expect(lines.join("")).toBe(given.replaceAll("\n", ""));
      },
    ),
  );
});

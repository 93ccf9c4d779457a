import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readItems } from "./list-items.ts";

async function* inPieces(text: string, size: number): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function read(text: string, size = 7) {
  const items: unknown[] = [];
  const around = await readItems(inPieces(text, size), (item) => items.push(item));
  return { items, around };
}

describe("the items of a list", () => {
  test("[KU9] the items of a list are parsed one by one, however the network cuts the text", async () => {
    const item = fc.dictionary(fc.string(), fc.jsonValue());
    const list = fc.record({ metadata: fc.dictionary(fc.string(), fc.jsonValue()), items: fc.array(item) });
    await fc.assert(
      fc.asyncProperty(list, fc.integer({ min: 1, max: 64 }), fc.boolean(), async (value, size, isSpaced) => {
        const text = isSpaced ? `${JSON.stringify(value, null, 2)}\n` : JSON.stringify(value);
        const { items, around } = await read(text, size);
        const plain = JSON.parse(text);
        expect(items).toEqual(plain.items);
        expect(around).toEqual({ ...plain, items: [] });
      }),
    );
  });

  test("[KU9] an empty list of metadata, whose items are null, has no items", async () => {
    const text = '{"kind":"PartialObjectMetadataList","metadata":{"resourceVersion":"7"},"items":null}';
    expect(await read(text)).toMatchObject({ items: [], around: { metadata: { resourceVersion: "7" } } });
  });

  test.each(["", "<h1>Hello</h1>", '{"items":[{"a":1},{"b"', '{"items":[{"a":1}]', '{"items":[{"a":]}'])(
    "[KU6] a list that ends early or cannot be parsed, like %j, is an error",
    async (text) => {
      await expect(read(text)).rejects.toBeInstanceOf(SyntaxError);
    },
  );
});

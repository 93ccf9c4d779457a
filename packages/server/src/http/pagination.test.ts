import { DEFAULT_ITEMS_PER_PAGE, MAX_ITEMS_PER_PAGE } from "@binnacle/contract";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { pageAnswer } from "./page-answer.adapter.ts";
import { type Envelope, envelope, type Page, pageOf } from "./pagination.ts";

/** Answers as a list endpoint does: the database applies limit and offset. */
function list<Row>(table: readonly Row[], page: Page): Envelope<Row> {
  const { limit, offset } = pageOf(page);
  return envelope(table.slice(offset, offset + limit), table.length, page);
}

const table = fc.nat({ max: 350 }).map((size) => Array.from({ length: size }, (_, index) => index));
const items_per_page = fc.integer({ min: 1, max: MAX_ITEMS_PER_PAGE });

describe("pagination", () => {
  test("[PG1] pages are counted from 1", () => {
    expect(pageOf({ page: 1, items_per_page: 10 })).toEqual({ limit: 10, offset: 0 });
    expect(pageOf({ page: 3, items_per_page: 25 })).toEqual({ limit: 25, offset: 50 });
  });

  test("[PG2] a page has 10 items by default and 100 at most", () => {
    expect([DEFAULT_ITEMS_PER_PAGE, MAX_ITEMS_PER_PAGE]).toEqual([10, 100]);
  });

  test("[PG3] the answer wraps the rows with the count of all of them and the page asked for", () => {
    expect(envelope(["c", "d"], 5, { page: 2, items_per_page: 2 })).toEqual({
      data: ["c", "d"],
      total_count: 5,
      page: 2,
      items_per_page: 2,
      has_more: true,
      next_cursor: "4",
    });
  });

  test("[PG3] walking while there is more yields every row exactly once and in order", () => {
    fc.assert(
      fc.property(table, items_per_page, (rows, perPage) => {
        const walked: number[] = [];
        let answer: Envelope<number>;
        let page = 0;
        do {
          page += 1;
          answer = list(rows, { page, items_per_page: perPage });
          walked.push(...answer.data);
        } while (answer.has_more);
        expect(walked).toEqual(rows);
        expect(page).toBe(Math.max(1, Math.ceil(rows.length / perPage)));
      }),
    );
  });

  test("[PG4] has_more is true exactly when the next page has rows", () => {
    expect(list([1, 2, 3, 4], { page: 2, items_per_page: 2 }).has_more).toBe(false);
    expect(list([1, 2, 3, 4, 5], { page: 2, items_per_page: 2 }).has_more).toBe(true);
    fc.assert(
      fc.property(table, items_per_page, fc.integer({ min: 1, max: 400 }), (rows, perPage, page) => {
        const next = list(rows, { page: page + 1, items_per_page: perPage });
        expect(list(rows, { page, items_per_page: perPage }).has_more).toBe(next.data.length > 0);
      }),
    );
  });

  test("[PG12] [PG13] following the cursor yields every row exactly once, however early the pages end", async () => {
    const rows = fc.array(fc.string({ maxLength: 300 }), { maxLength: 60 });
    const fields = Object.keys(list([], { page: 1 }));
    await fc.assert(
      fc.asyncProperty(rows, items_per_page, fc.integer({ min: 120, max: 900 }), async (texts, perPage, mostBytes) => {
        const walked: string[] = [];
        let cursor: string | undefined;
        do {
          const page = { page: 1, items_per_page: perPage, cursor };
          const text = await pageAnswer(list(texts, page), page, { fields, textOf: JSON.stringify }, mostBytes);
          const answer = JSON.parse(text.toString()) as Envelope<string>;
          expect(text.length <= mostBytes || answer.data.length === 1 || texts.length === 0).toBe(true);
          expect(answer).toMatchObject({ total_count: texts.length, items_per_page: perPage });
          expect(answer.has_more).toBe(answer.next_cursor !== null);
          walked.push(...answer.data);
          cursor = answer.next_cursor ?? undefined;
        } while (cursor !== undefined);
        expect(walked).toEqual(texts);
      }),
    );
  });

  test("[PG20] others are served while a long page is written, and it is as it would be in one step", async () => {
    const rows = Array.from({ length: 30 }, (_, index) => `${index}${"x".repeat(100_000)}`);
    const answer = list(rows, { page: 1, items_per_page: 100 });
    let served = 0;
    const other = () => {
      served += 1;
      next = setImmediate(other);
    };
    let next = setImmediate(other);
    const shape = { fields: Object.keys(answer), textOf: JSON.stringify };
    const text = await pageAnswer(answer, { page: 1, items_per_page: 100 }, shape);
    clearImmediate(next);
    expect(served).toBeGreaterThanOrEqual(9);
    expect(JSON.parse(text.toString())).toEqual(answer);
  });

  test("[PG12] an answer at a cursor says on which page it begins", () => {
    const table = Array.from({ length: 30 }, (_, index) => index);
    const { next_cursor } = list(table, { page: 2, items_per_page: 10 });
    const next = list(table, { page: 7, items_per_page: 10, cursor: next_cursor ?? expect.unreachable() });
    expect(next).toMatchObject({ page: 3, data: table.slice(20), has_more: false, next_cursor: null });
  });

  test("[PG5] a page past the end is empty and still has the total count", () => {
    expect(list(["a"], { page: 9, items_per_page: 10 })).toEqual({
      data: [],
      total_count: 1,
      page: 9,
      items_per_page: 10,
      has_more: false,
      next_cursor: null,
    });
    expect(list([], { page: 1, items_per_page: 10 })).toMatchObject({ data: [], total_count: 0, has_more: false });
  });
});

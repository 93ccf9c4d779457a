/** Pagination. Bounds and defaults are those of the contract's `PageQuery`. */

/** Pages are counted from 1. A cursor is the place of the first item, in base 36, and counts instead of the page. */
export interface Page {
  readonly page: number;
  readonly items_per_page: number;
  readonly cursor?: string | undefined;
}

export interface Envelope<Row> {
  data: Row[];
  total_count: number;
  page: number;
  items_per_page: number;
  has_more: boolean;
  next_cursor: string | null;
}

/** A page ends early where its answer would be larger, after one item at least. */
const MOST_ANSWER_BYTES = 4 * 1024 * 1024;
/** Further rows of a list are not read. Rows come in steps, so it is less than what an answer has room for. */
export const ENOUGH_CHARACTERS = MOST_ANSWER_BYTES / 2;

const CURSOR_BASE = 36;

export function pageOf({ page, items_per_page, cursor }: Page): { limit: number; offset: number } {
  const offset = cursor === undefined ? (page - 1) * items_per_page : Number.parseInt(cursor, CURSOR_BASE);
  return { limit: items_per_page, offset };
}

/** Wraps the rows of a page, which may be fewer than were asked for: what is left out follows at the cursor. */
export function envelope<Row>(rows: Row[], totalCount: number, page: Page): Envelope<Row> {
  const { limit, offset } = pageOf(page);
  const end = offset + rows.length;
  const hasMore = rows.length > 0 && end < totalCount;
  return {
    data: rows,
    total_count: totalCount,
    page: Math.floor(offset / limit) + 1,
    items_per_page: limit,
    has_more: hasMore,
    next_cursor: hasMore ? end.toString(CURSOR_BASE) : null,
  };
}

/** The text of an answer, of which the page ends early if it is too large. */
export function answerText<Row>(
  answer: Envelope<Row>,
  page: Page,
  textOf: (answer: Envelope<Row>) => string,
  mostBytes = MOST_ANSWER_BYTES,
): string {
  const whole = textOf(answer);
  if (Buffer.byteLength(whole) <= mostBytes) return whole;
  const kept: Row[] = [];
  let room = mostBytes;
  for (const row of answer.data) {
    // The fields around the row are counted with each, so that the whole has room for them.
    room -= Buffer.byteLength(textOf({ ...answer, data: [row] }));
    if (room < 0 && kept.length > 0) break;
    kept.push(row);
  }
  return textOf(envelope(kept, answer.total_count, page));
}

/** Pagination. Bounds and defaults are those of the contract's `PageQuery`. */

/**
 * Pages are counted from 1. A cursor is the place of the first item, in base 36, and counts instead of the page. A list without
 * pages is asked for with a cursor alone.
 */
export interface Page {
  readonly page?: number;
  readonly items_per_page?: number;
  readonly cursor?: string | undefined;
}

export interface Envelope<Row> {
  data: Row[];
  total_count: number;
  page: number;
  items_per_page: number;
  has_more: boolean;
  next_cursor: string | null;
  /** The same with so many rows, where that takes more than the number. It is not part of the answer. */
  readonly cut?: (kept: number) => Envelope<Row>;
}

/** A page ends early where its answer would be larger, after one item at least. */
export const MOST_ANSWER_BYTES = 4 * 1024 * 1024;
/** Further rows of a list are not read. Rows come in steps, so it is less than what an answer has room for. */
export const ENOUGH_CHARACTERS = MOST_ANSWER_BYTES / 2;

const CURSOR_BASE = 36;
const ID_DIGITS = 32;

interface Window {
  readonly limit: number;
  readonly offset: number;
}

export function pageOf({ page = 1, items_per_page = Number.MAX_SAFE_INTEGER, cursor }: Page): Window {
  const offset = cursor === undefined ? (page - 1) * items_per_page : Number.parseInt(cursor, CURSOR_BASE);
  return { limit: items_per_page, offset };
}

/** A page behind the row with this id, or at the offset. The cursor has the digits of the id and its place behind them. */
export function pageBehind({ cursor, ...page }: Page): Window & { readonly behind: string | null } {
  if (cursor === undefined || cursor.length <= ID_DIGITS) return { ...pageOf({ ...page, cursor }), behind: null };
  return { ...pageOf({ ...page, cursor: cursor.slice(ID_DIGITS) }), behind: cursor.slice(0, ID_DIGITS) };
}

/** Wraps the rows of such a page, of which one more was read than it shows. */
export function envelopeBehind<Row extends { readonly id: string }>(
  rows: readonly Row[],
  totalCount: number,
  page: Page,
): Envelope<Row> {
  const { limit, offset } = pageBehind(page);
  const cut = (kept: number): Envelope<Row> => {
    const shown = rows.slice(0, kept);
    const end = (offset + shown.length).toString(CURSOR_BASE);
    const last = kept < rows.length ? shown.at(-1) : undefined;
    return {
      data: shown,
      total_count: totalCount,
      page: Math.floor(offset / limit) + 1,
      items_per_page: limit,
      has_more: last !== undefined,
      next_cursor: last ? last.id.replaceAll("-", "") + end : null,
      cut,
    };
  };
  return cut(limit);
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

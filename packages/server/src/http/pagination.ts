/** Pagination. Bounds and defaults are those of the contract's `PageQuery`. */

/** Pages are counted from 1. */
export interface Page {
  readonly page: number;
  readonly items_per_page: number;
}

export interface Envelope<Row> {
  data: Row[];
  total_count: number;
  page: number;
  items_per_page: number;
  has_more: boolean;
}

export function pageOf({ page, items_per_page }: Page): { limit: number; offset: number } {
  return { limit: items_per_page, offset: (page - 1) * items_per_page };
}

export function envelope<Row>(rows: Row[], totalCount: number, { page, items_per_page }: Page): Envelope<Row> {
  return {
    data: rows,
    total_count: totalCount,
    page,
    items_per_page,
    has_more: page * items_per_page < totalCount,
  };
}

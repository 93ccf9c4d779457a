import Type, { type TSchema } from "typebox";

export const DEFAULT_ITEMS_PER_PAGE = 10;
export const MAX_ITEMS_PER_PAGE = 100;

/** So far that its offset is still a whole number: a page past the end is an empty one and no mistake. */
const LAST_PAGE = Math.floor(Number.MAX_SAFE_INTEGER / 1_000);

export function pageFields(defaultItems = DEFAULT_ITEMS_PER_PAGE, maxItems = MAX_ITEMS_PER_PAGE) {
  return {
    page: Type.Integer({ minimum: 1, maximum: LAST_PAGE, default: 1, description: "From 1." }),
    items_per_page: Type.Integer({ minimum: 1, maximum: maxItems, default: defaultItems }),
  };
}

export const PageQuery = Type.Object(pageFields());

export function Page<T extends TSchema>(item: T) {
  return Type.Object({
    data: Type.Array(item),
    total_count: Type.Integer({ examples: [1] }),
    page: Type.Integer({ examples: [1] }),
    items_per_page: Type.Integer({ examples: [10] }),
    has_more: Type.Boolean({ examples: [false] }),
  });
}

/** A list that comes whole. */
export function Whole<T extends TSchema>(item: T) {
  return Type.Object({ data: Type.Array(item), total_count: Type.Integer({ examples: [1] }) });
}

import Type, { type TSchema } from "typebox";

export const DEFAULT_ITEMS_PER_PAGE = 10;
export const MAX_ITEMS_PER_PAGE = 100;

export function pageFields(defaultItems = DEFAULT_ITEMS_PER_PAGE, maxItems = MAX_ITEMS_PER_PAGE) {
  return {
    page: Type.Integer({ minimum: 1, maximum: 1_000_000, default: 1, description: "From 1." }),
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

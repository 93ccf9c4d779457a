import type { Caller } from "./caller.ts";

/** A page of the objects that the caller sees, newest first, and how many there are. */
export interface Listed<R> {
  readonly caller: Caller;
  readonly rows: R[];
  readonly total: number;
}

export interface Window {
  readonly limit: number;
  readonly offset: number;
}

/**
 * A statement of a list, without the CTE `caller` that it starts with: $3 is the number of rows, $4 the number of rows before
 * them, and filters follow. Its rows begin with the caller and have a `list_total`.
 */
export interface ListQuery {
  readonly name: string;
  /** `bound` is more than the end of the page, where that is known. */
  readonly text: (bound: number | null) => string;
  /** The page is short enough for the connection that everybody shares. */
  readonly isShort?: true;
}

/** A list with statements of its own. */
export interface QueriedList<R, F> {
  readonly choose: (filter: F) => { readonly query: ListQuery; readonly values: readonly string[] };
  /** Only its type is used. */
  readonly row?: R;
}

/** A column that is the id of the filter, a column that is one of its values, or a text that contains it. */
export type Condition = { readonly is: string } | { readonly among: string } | { readonly contains: string };
export type Conditions<F> = { readonly [name in keyof F]-?: Condition };

/** What is in projects can be listed for an organization, a project or both, for which totals are kept. */
export interface ContentFilter {
  readonly org_id?: string | undefined;
  readonly project_id?: string | undefined;
}

/** A list of what is in projects, and visible with them. */
export interface ContentList<R, F extends ContentFilter> {
  readonly table: string;
  /** The columns of a row `page`. */
  readonly columns: string;
  /** The columns that come from its cluster and project, of which `row` is the alias of what names these. */
  readonly surroundings: (row: string) => string;
  /** The filters besides the places. Rows are counted for them. */
  readonly conditions: Conditions<Omit<F, keyof ContentFilter>>;
  /** Only its type is used. */
  readonly row?: R;
}

export type List<R, F extends object> = QueriedList<R, F> | ContentList<R, F>;

/** Whether one of the conditions is asked for. */
export const isFiltered = (conditions: object, filter: object): boolean =>
  filterValues(conditions, filter).some((value) => value !== "");

/** The values of conditions. An empty one does not filter; several values have commas between them. */
export function filterValues(conditions: object, filter: object): string[] {
  const given = filter as Readonly<Record<string, string | readonly string[] | undefined>>;
  return Object.keys(conditions).map((name) => given[name]?.toString() ?? "");
}

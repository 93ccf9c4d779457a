import { memoized } from "../memoized.ts";
import { type Statement, statement } from "./caller.store.ts";
import {
  type Condition,
  type ContentFilter,
  type ContentList,
  filterValues,
  isFiltered,
  type List,
  type ListQuery,
} from "./list.ts";
import { PROJECT_GRANTS, SEES_ALL, SEES_PROJECT, VISIBLE_PROJECTS } from "./visibility.store.ts";

interface PageSql {
  readonly page: string;
  readonly total: string;
}

interface ListSql {
  /** Further CTEs, which are executed once and only if the caller needs them. */
  readonly ctes?: string;
  /** For callers who see everything. */
  readonly all: PageSql;
  readonly own: PageSql;
  /** The columns of a row of `page`. */
  readonly columns: string;
}

const NEWEST_FIRST = "order by id desc";
export const WINDOW = `${NEWEST_FIRST} limit $3 offset $4`;

/** The rows with this value in this column. There is an index of the column and the ids. */
export interface Scope {
  readonly column: string;
  readonly value: string;
}

/**
 * A filter over the whole table would read all of it for a caller who sees little, so each scope gives its own newest. With
 * an equality PostgreSQL may read the primary key from its end instead of the scope's index, and passes over everything that
 * is newer in other scopes: a range and an order by the column leave it no choice.
 */
export function newest(table: string, scope: Scope | null, bound: number | null): string {
  const order = scope ? `order by ${scope.column}, id desc` : NEWEST_FIRST;
  const where = scope ? `where ${scope.column} between ${scope.value} and ${scope.value}` : "";
  const rows = `select * from ${table} ${where} ${order}`;
  const bounded = bound === null ? rows : `select * from (${rows} limit ${bound}) n ${order}`;
  return `(${bounded} limit $3::bigint + $4::bigint)`;
}

export const WHOLE_RELATION = "('00000000-0000-0000-0000-000000000000'::uuid)";

/** The kept totals of the scopes, or of all of them, added up. */
export const keptTotal = (relation: string, scopes?: string) =>
  `(select coalesce(sum(delta), 0)::bigint from row_counts
    where relation = '${relation}' ${scopes ? `and scope in ${scopes}` : ""})`;

/** A page and a total for which all rows that match are read. */
export const counted = (table: string, where: string): PageSql => ({
  page: `select * from ${table} where ${where} ${WINDOW}`,
  total: `(select count(*) from ${table} where ${where})`,
});

/** Both queries are in one statement, of which only the part that the caller needs is executed. */
export const seenText = ({ ctes, all, own, columns }: ListSql) =>
  `${ctes ? `, ${ctes}` : ""} select caller.*, case when ${SEES_ALL} then ${all.total} else ${own.total} end as list_total, ${columns}
    from caller left join lateral (
      select * from (${all.page}) everything where ${SEES_ALL}
      union all
      select * from (${own.page}) visible where not ${SEES_ALL}
    ) page on true order by page.id desc`;

function matches(condition: Condition, parameter: string): string {
  if ("is" in condition) return `${condition.is} = nullif(${parameter}, '')::uuid`;
  if ("among" in condition) return `${condition.among} = any (string_to_array(${parameter}, ','))`;
  // No character of the text is a wildcard.
  return `strpos(${condition.contains}, lower(${parameter})) > 0`;
}

/** An empty parameter does not filter, so that one statement serves all combinations. */
export const matchesAll = (conditions: object): string =>
  Object.values(conditions as Readonly<Record<string, Condition>>)
    .map((condition, index) => `($${5 + index} = '' or ${matches(condition, `$${5 + index}`)})`)
    .join(" and ");

/** A list with filters for which no totals are kept: the visible rows are read and counted. `project` names that of a row. */
export function filtered(table: string, project: string, conditions: object, columns: string): ListQuery {
  const where = matchesAll(conditions);
  const own = `${project} in (select v.id from ${VISIBLE_PROJECTS} v) and ${where}`;
  const text = seenText({ ctes: PROJECT_GRANTS, all: counted(table, where), own: counted(table, own), columns });
  return { name: `filtered ${table}`, text: () => text };
}

type AnyContentList = ContentList<unknown, ContentFilter>;

/**
 * Totals are kept for each project, so those of the visible ones are added up. The organization, where it is a filter, is $5.
 */
const contents = ({ table, columns, surroundings }: AnyContentList, filter: "org_id" | null): ListQuery => ({
  name: filter ? `${table} of an org` : table,
  text(bound) {
    const among = (visible: string) => `(select v.id from ${visible} v ${filter ? "where v.org_id = $5" : ""})`;
    const seen = among(VISIBLE_PROJECTS);
    const inOrg = filter && { column: "org_id", value: "$5" };
    const inProject = { column: "project_id", value: "seen.id" };
    return seenText({
      ctes: PROJECT_GRANTS,
      all: {
        page: `select * from ${newest(table, inOrg, bound)} c ${WINDOW}`,
        total: keptTotal(table, filter ? among("projects") : undefined),
      },
      own: {
        page: `select c.* from ${seen} seen, lateral ${newest(table, inProject, bound)} c ${WINDOW}`,
        total: keptTotal(table, seen),
      },
      columns: `${columns}, ${surroundings("page")}`,
    });
  },
});

/**
 * The same of one project, whose visibility and surroundings are read once. The project is found before its total: PostgreSQL
 * expects few changes of totals, and with `in` it would look for the project again at each.
 */
const contentsOfProject = (
  { table, columns, surroundings }: AnyContentList,
  places: string,
  matching: string,
): ListQuery => ({
  name: `${table} of ${places}`,
  text: (bound) => `, seen as (
      select seen.id as seen_id, ${surroundings("seen")} from (
        select p.id, p.id as project_id, p.cluster_id from caller, projects p where ${matching} and ${SEES_PROJECT}
      ) seen
    )
    select caller.*, seen.*, ${columns}, (
        select coalesce(sum(delta), 0)::bigint from row_counts
        where relation = '${table}' and scope = (select seen_id from seen)
      ) as list_total
    from caller left join seen on true left join lateral (
      select * from ${newest(table, { column: "project_id", value: "seen.seen_id" }, bound)} c ${WINDOW}
    ) page on true order by page.id desc`,
});

const contentQueries = memoized((list: AnyContentList) => {
  const conditions = { org_id: { is: "org_id" }, project_id: { is: "project_id" }, ...list.conditions };
  return {
    whole: contents(list, null),
    ofOrg: contents(list, "org_id"),
    ofProject: contentsOfProject(list, "a project", "p.id = $5"),
    ofBoth: contentsOfProject(list, "an org and a project", "p.org_id = $5 and p.id = $6"),
    conditions,
    filtered: filtered(list.table, "project_id", conditions, `${list.columns}, ${list.surroundings("page")}`),
  };
});

function contentChoice(list: AnyContentList, filter: ContentFilter) {
  const { whole, ofOrg, ofProject, ofBoth, ...rest } = contentQueries(list);
  if (isFiltered(list.conditions, filter))
    return { query: rest.filtered, values: filterValues(rest.conditions, filter) };
  const { org_id, project_id } = filter;
  const values = [org_id, project_id].filter((id) => id !== undefined);
  if (org_id === undefined) return { query: project_id === undefined ? whole : ofProject, values };
  return { query: project_id === undefined ? ofOrg : ofBoth, values };
}

/** The statement of a list for the filter, and the values of its further parameters. */
export const choiceOf = <R, F extends object>(list: List<R, F>, filter: F) =>
  "choose" in list ? list.choose(filter) : contentChoice(list as AnyContentList, filter);

/**
 * PostgreSQL plans a prepared statement once if that is not expected to cost more than planning it for the values at hand. It
 * expects a tenth of a table for a limit that it does not know, so the first pages have statements with a limit that it knows.
 */
export const FIRST_ROWS = 100;

export const listStatements: (query: ListQuery) => { readonly first: Statement; readonly deep: Statement } = memoized(
  ({ name, text }) => ({
    first: statement(`first ${name}`, text(FIRST_ROWS)),
    deep: statement(name, text(null)),
  }),
);

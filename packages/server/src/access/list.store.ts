import { CONNECTION, SURROUNDINGS } from "../clusters/freshness.store.ts";
import { PROJECT_GRANTS, VIEWER, VISIBLE_PROJECTS } from "./visible.store.ts";

/**
 * The SQL of a list that is read together with the caller: $3 is the number of rows, $4 the number of rows before them, and
 * filters follow. Superusers see everything, so theirs is another query. Both are in one statement, of which only the part
 * that the caller needs is executed. `bound` is more than the end of the page, where that is known.
 */
export type ListSql = (bound: number | null) => {
  readonly all: PageSql;
  readonly own: PageSql;
  /** The columns of a row of `page`. */
  readonly columns?: string;
};

interface PageSql {
  readonly page: string;
  readonly total: string;
}

const NEWEST_FIRST = "order by id desc";
const WINDOW = `${NEWEST_FIRST} limit $3 offset $4`;

/** A filter over the whole table would read all of it for a caller who sees little, so each scope gives its own newest. */
function newest(table: string, where: string, bound: number | null): string {
  const rows = `select * from ${table} where ${where} ${NEWEST_FIRST}`;
  const bounded = bound === null ? rows : `select * from (${rows} limit ${bound}) n ${NEWEST_FIRST}`;
  return `(${bounded} limit $3::bigint + $4::bigint)`;
}

const WHOLE_RELATION = "('00000000-0000-0000-0000-000000000000'::uuid)";

/** The kept totals of the scopes, or of all of them, added up. */
const keptTotal = (relation: string, scopes?: string) =>
  `(select coalesce(sum(delta), 0)::bigint from row_counts
    where relation = '${relation}' ${scopes ? `and scope in ${scopes}` : ""})`;

/** An organization is visible to its members. */
export const ORGS: ListSql = (bound) => ({
  all: { page: `select * from ${newest("orgs", "true", bound)} o ${WINDOW}`, total: keptTotal("orgs") },
  own: {
    page: `select * from orgs where id in (select org_id from memberships where user_id = ${VIEWER}) ${WINDOW}`,
    total: `(select count(*) from memberships where user_id = ${VIEWER})`,
  },
});

const projects =
  (where: string, totalScope: string, scopes: string): ListSql =>
  (bound) => {
    const grants = `with ${PROJECT_GRANTS}, ${scopes}`;
    const inScopes = keptTotal("projects", "(select id from org_scopes union all select id from cluster_scopes)");
    return {
      all: {
        page: `select * from ${newest("projects", where, bound)} p ${WINDOW}`,
        total: keptTotal("projects", totalScope),
      },
      own: {
        page: `${grants} select * from (
            select p.* from org_scopes s, lateral ${newest("projects", "org_id = s.id", bound)} p
            union all
            select p.* from cluster_scopes s, lateral ${newest("projects", "cluster_id = s.id", bound)} p
            union all select * from project_scopes
          ) visible ${WINDOW}`,
        total: `(${grants} select ${inScopes} + (select count(*) from project_scopes))`,
      },
      columns: `page.*, ${CONNECTION}`,
    };
  };

export const PROJECTS = projects(
  "true",
  WHOLE_RELATION,
  `org_scopes as (select id from administered), cluster_scopes as (select id from bound),
    project_scopes as (select * from direct)`,
);

/** $5 is the cluster. Whoever sees its whole organization or the whole cluster sees all of its projects. */
export const PROJECTS_OF_CLUSTER = projects(
  "cluster_id = $5",
  "($5::uuid)",
  `org_scopes as (select id from administered where false),
    cluster_scopes as (select id from clusters where id = $5
      and (org_id in (select id from administered) or id in (select id from bound))),
    project_scopes as (select * from direct where cluster_id = $5)`,
);

export interface ContentFilter {
  readonly org_id?: string | undefined;
  readonly project_id?: string | undefined;
}

/**
 * Apps and addon instances are visible with their project. Totals are kept for each project, so those of the visible ones
 * are added up. The filters are $5 and $6.
 */
export const content =
  (relation: "apps" | "addon_instances", filters: readonly (keyof ContentFilter)[]): ListSql =>
  (bound) => {
    const matching = (columns: Readonly<Record<keyof ContentFilter, string>>) =>
      ["true", ...filters.map((filter, index) => `${columns[filter]} = $${5 + index}`)].join(" and ");
    const among = (visible: string) =>
      `(select v.id from ${visible} v where ${matching({ org_id: "v.org_id", project_id: "v.id" })})`;
    const here = matching({ org_id: "org_id", project_id: "project_id" });
    const seen = among(VISIBLE_PROJECTS);
    return {
      all: {
        page: `select * from ${newest(relation, here, bound)} c ${WINDOW}`,
        total: filters.length === 0 ? keptTotal(relation) : keptTotal(relation, among("projects")),
      },
      own: {
        page: `select c.* from ${seen} seen, lateral ${newest(relation, "project_id = seen.id", bound)} c ${WINDOW}`,
        total: keptTotal(relation, seen),
      },
      // Every answer with an app shows the keys of its secrets.
      columns: `page.*, ${SURROUNDINGS} ${relation === "apps" ? `, ${SECRET_PATHS}` : ""}`,
    };
  };

const SECRET_PATHS = `array(
  select k.component || '/' || k.key from app_secrets k where k.app_id = page.id order by k.component, k.key
) as secret_paths`;

/** The rest of a statement that starts with the CTE `caller`. */
export function listText(list: ListSql, bound: number | null): string {
  const { all, own, columns = "page.*" } = list(bound);
  return `select caller.*, case when caller_is_superuser then ${all.total} else ${own.total} end as list_total, ${columns}
    from caller left join lateral (
      select * from (${all.page}) everything where caller_is_superuser
      union all
      select * from (${own.page}) visible where not caller_is_superuser
    ) page on true order by page.id desc`.replaceAll(VIEWER, "(select caller_id from caller)");
}

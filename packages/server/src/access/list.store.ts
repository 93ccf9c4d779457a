import { connectionOf, surroundingsOf } from "../clusters/freshness.store.ts";
import { columnsOf, SHORT_ADDON_COLUMNS, SHORT_APP_COLUMNS } from "../database/columns.ts";
import { type Statement, statement } from "./caller.store.ts";
import type { Credential } from "./caller.ts";
import {
  VIEWER,
  VIEWER_IS_SUPERUSER,
  VIEWER_ORG,
  VIEWER_PROJECT,
  VISIBILITY,
  type Visibility,
} from "./visible.store.ts";

/**
 * The SQL of a list that is read together with the caller: $3 is the number of rows, $4 the number of rows before them, and
 * filters follow. Superusers see everything unless their CLI token is bound, so theirs is another query. Both are in one statement, of which only the part
 * that the caller needs is executed. `bound` is more than the end of the page, where that is known.
 */
type ListSql = (
  bound: number | null,
  visibility: Visibility,
) => {
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

/** The rows with this value in this column. There is an index of the column and the ids. */
interface Scope {
  readonly column: string;
  readonly value: string;
}

/**
 * A filter over the whole table would read all of it for a caller who sees little, so each scope gives its own newest. With
 * an equality PostgreSQL may read the primary key from its end instead of the scope's index, and passes over everything that
 * is newer in other scopes: a range and an order by the column leave it no choice.
 */
function newest(table: string, scope: Scope | null, bound: number | null): string {
  const order = scope ? `order by ${scope.column}, id desc` : NEWEST_FIRST;
  const where = scope ? `where ${scope.column} between ${scope.value} and ${scope.value}` : "";
  const rows = `select * from ${table} ${where} ${order}`;
  const bounded = bound === null ? rows : `select * from (${rows} limit ${bound}) n ${order}`;
  return `(${bounded} limit $3::bigint + $4::bigint)`;
}

const WHOLE_RELATION = "('00000000-0000-0000-0000-000000000000'::uuid)";

/** The kept totals of the scopes, or of all of them, added up. */
const keptTotal = (relation: string, scopes?: string) =>
  `(select coalesce(sum(delta), 0)::bigint from row_counts
    where relation = '${relation}' ${scopes ? `and scope in ${scopes}` : ""})`;

const projects =
  (scope: Scope | null, totalScope: string, scopes: string): ListSql =>
  (bound, { projectGrants }) => {
    const grants = `with ${projectGrants}, ${scopes}`;
    const inScopes = keptTotal("projects", "(select id from org_scopes union all select id from cluster_scopes)");
    return {
      all: {
        page: `select * from ${newest("projects", scope, bound)} p ${WINDOW}`,
        total: keptTotal("projects", totalScope),
      },
      own: {
        page: `${grants} select * from (
            select p.* from org_scopes s, lateral ${newest("projects", { column: "org_id", value: "s.id" }, bound)} p
            union all
            select p.* from cluster_scopes s, lateral ${newest("projects", { column: "cluster_id", value: "s.id" }, bound)} p
            union all select * from project_scopes
          ) visible ${WINDOW}`,
        total: `(${grants} select ${inScopes} + (select count(*) from project_scopes))`,
      },
      columns: `page.*, ${connectionOf("page")}`,
    };
  };

const PROJECTS = projects(
  null,
  WHOLE_RELATION,
  `org_scopes as (select id from administered), cluster_scopes as (select id from bound),
    project_scopes as (select * from direct)`,
);

/** $5 is the cluster. Whoever sees its whole organization or the whole cluster sees all of its projects. */
const PROJECTS_OF_CLUSTER = projects(
  { column: "cluster_id", value: "$5" },
  "($5::uuid)",
  `org_scopes as (select id from administered where false),
    cluster_scopes as (select id from clusters where id = $5
      and (org_id in (select id from administered) or id in (select id from bound))),
    project_scopes as (select * from direct where cluster_id = $5)`,
);

export interface OrgFilter {
  readonly all: boolean;
}

export interface ProjectListFilter {
  readonly org_id?: string | undefined;
  readonly cluster_id?: string | undefined;
  readonly lifecycle?: readonly string[] | undefined;
  readonly search?: string | undefined;
}

export interface InstanceFilter extends ContentFilter {
  readonly phase?: readonly string[] | undefined;
  readonly search?: string | undefined;
}

export interface ContentFilter {
  readonly org_id?: string | undefined;
  readonly project_id?: string | undefined;
}

type ContentRelation = "apps" | "addon_instances";

/** What a list shows of a row. The long columns are left out, but for the status of its components. */
const LISTED_COLUMNS: Readonly<Record<ContentRelation, string>> = {
  apps: columnsOf("page", [...SHORT_APP_COLUMNS, "component_statuses", "listed_components"]),
  addon_instances: columnsOf("page", [...SHORT_ADDON_COLUMNS, "component_statuses", "exports"]),
};

/**
 * Apps and addon instances are visible with their project. Totals are kept for each project, so those of the visible ones
 * are added up. The organization, where it is a filter, is $5.
 */
const content =
  (relation: ContentRelation, filter: "org_id" | null): ListSql =>
  (bound, { visibleProjects }) => {
    const among = (visible: string) => `(select v.id from ${visible} v ${filter ? "where v.org_id = $5" : ""})`;
    const seen = among(visibleProjects);
    const inOrg = filter && { column: "org_id", value: "$5" };
    const inProject = { column: "project_id", value: "seen.id" };
    return {
      all: {
        page: `select * from ${newest(relation, inOrg, bound)} c ${WINDOW}`,
        total: keptTotal(relation, filter ? among("projects") : undefined),
      },
      own: {
        page: `select c.* from ${seen} seen, lateral ${newest(relation, inProject, bound)} c ${WINDOW}`,
        total: keptTotal(relation, seen),
      },
      columns: `${LISTED_COLUMNS[relation]}, ${surroundingsOf("page")}`,
    };
  };

/**
 * The same of one project, whose visibility and surroundings are read once. The filters are $5 and $6. The project is found
 * before its total: PostgreSQL expects few changes of totals, and with `in` it would look for the project again at each.
 */
const contentOfProject =
  (relation: ContentRelation, filters: readonly (keyof ContentFilter)[]): ListText =>
  (bound, kind) => {
    const columns = { org_id: "p.org_id", project_id: "p.id" };
    const matching = filters.map((filter, index) => `${columns[filter]} = $${5 + index}`).join(" and ");
    const scope = { column: "project_id", value: "seen.seen_id" };
    return withViewer(
      `, seen as (
        select seen.id as seen_id, ${surroundingsOf("seen")} from (
          select p.id, p.id as project_id, p.cluster_id from projects p
          where ${matching} and ${VISIBILITY[kind].seesProject}
        ) seen
      )
      select caller.*, seen.*, ${LISTED_COLUMNS[relation]}, (
          select coalesce(sum(delta), 0)::bigint from row_counts
          where relation = '${relation}' and scope = (select seen_id from seen)
        ) as list_total
      from caller left join seen on true left join lateral (
        select * from ${newest(relation, scope, bound)} c ${WINDOW}
      ) page on true order by page.id desc`,
    );
  };

/** An empty parameter is no filter, so that one statement serves all combinations. Several values have commas between them. */
const unlessEmpty = (parameter: string, condition: string) => `(${parameter} = '' or ${condition})`;
const isId = (column: string, parameter: string) =>
  unlessEmpty(parameter, `${column} = nullif(${parameter}, '')::uuid`);
const isAmong = (column: string, parameter: string) =>
  unlessEmpty(parameter, `${column} = any (string_to_array(${parameter}, ','))`);
/** No character of the text is a wildcard. */
const contains = (text: string, parameter: string) =>
  unlessEmpty(parameter, `strpos(${text}, lower(${parameter})) > 0`);

/** A list with filters for which no totals are kept: the visible rows are read and counted. */
const filtered =
  (table: string, project: string, conditions: readonly string[], columns: string): ListSql =>
  (_bound, { visibleProjects }) => {
    const where = conditions.join(" and ");
    const own = `${project} in (select v.id from ${visibleProjects} v) and ${where}`;
    const select = (matching: string) => ({
      page: `select * from ${table} where ${matching} ${WINDOW}`,
      total: `(select count(*) from ${table} where ${matching})`,
    });
    return { all: select(where), own: select(own), columns };
  };

/** The rest of a statement that starts with the CTE `caller`. */
type ListText = (bound: number | null, kind: Credential["kind"]) => string;

const withViewer = (text: string) =>
  text
    .replaceAll(VIEWER, "(select caller_id from caller)")
    .replaceAll(VIEWER_IS_SUPERUSER, "(select caller_is_superuser from caller)")
    .replaceAll(VIEWER_ORG, "(select caller_org_id from caller)")
    .replaceAll(VIEWER_PROJECT, "(select caller_project_id from caller)");

const listText =
  (sql: ListSql): ListText =>
  (bound, kind) => {
    const { all, own, columns = "page.*" } = sql(bound, VISIBILITY[kind]);
    const seesAll = SEES_ALL[kind];
    return withViewer(`select caller.*, case when ${seesAll} then ${all.total} else ${own.total} end as list_total, ${columns}
      from caller left join lateral (
        select * from (${all.page}) everything where ${seesAll}
        union all
        select * from (${own.page}) visible where not ${seesAll}
      ) page on true order by page.id desc`);
  };

const SEES_ALL = {
  session: "caller_is_superuser",
  cli_token: "(caller_is_superuser and caller_org_id is null and caller_project_id is null)",
} as const;

/**
 * PostgreSQL plans a prepared statement once if that is not expected to cost more than planning it for the values at hand. It
 * expects a tenth of a table for a limit that it does not know, so the first pages have statements with a limit that it knows.
 */
export const FIRST_ROWS = 100;

export interface List {
  readonly first: Statement;
  readonly deep: Statement;
}

const listBy = (name: string, text: ListText): List => ({
  first: statement(`first ${name}`, (kind) => text(FIRST_ROWS, kind)),
  deep: statement(name, (kind) => text(null, kind)),
});

const list = (name: string, sql: ListSql): List => listBy(name, listText(sql));

const ORG_COLUMNS = columnsOf("page", ["id", "name", "slug", "description", "created_at", "updated_at"]);

/** An organization is listed to its members, and to superusers who ask for all. Its settings are not. */
const orgs =
  (which: "own" | "all"): ListText =>
  (bound, kind) => {
    const { memberOrgs } = VISIBILITY[kind];
    const { page, total } =
      which === "all"
        ? { page: `select * from ${newest("orgs", null, bound)} o ${WINDOW}`, total: keptTotal("orgs") }
        : {
            page: `select * from orgs where id in (${memberOrgs}) ${WINDOW}`,
            total: `(select count(*) from (${memberOrgs}) m)`,
          };
    const isListed = which === "all" ? SEES_ALL[kind] : "true";
    return withViewer(`select caller.*, ${total} as list_total, ${ORG_COLUMNS}
      from caller left join lateral (${page}) page on ${isListed} order by page.id desc`);
  };

const contentLists = (relation: ContentRelation) => ({
  whole: list(relation, content(relation, null)),
  ofOrg: list(`${relation} of an org`, content(relation, "org_id")),
  ofProject: listBy(`${relation} of a project`, contentOfProject(relation, ["project_id"])),
  ofBoth: listBy(`${relation} of an org and a project`, contentOfProject(relation, ["org_id", "project_id"])),
});

export const LISTS = {
  orgs: listBy("orgs", orgs("own")),
  /** For superusers. For others it has no rows. */
  allOrgs: listBy("all orgs", orgs("all")),
  projects: list("projects", PROJECTS),
  projectsOfCluster: list("projects of a cluster", PROJECTS_OF_CLUSTER),
  /** $5 is the organization, $6 the cluster, $7 the lifecycles and $8 the text. */
  filteredProjects: list(
    "filtered projects",
    filtered(
      "projects",
      "id",
      [isId("org_id", "$5"), isId("cluster_id", "$6"), isAmong("lifecycle", "$7"), contains("name", "$8")],
      `page.*, ${connectionOf("page")}`,
    ),
  ),
  apps: contentLists("apps"),
  addonInstances: contentLists("addon_instances"),
  /** $5 is the organization, $6 the project, $7 the phases and $8 the text. */
  filteredAddonInstances: list(
    "filtered addon instances",
    filtered(
      "addon_instances",
      "project_id",
      [
        isId("org_id", "$5"),
        isId("project_id", "$6"),
        isAmong("phase", "$7"),
        contains("name || ' ' || namespace", "$8"),
      ],
      `${LISTED_COLUMNS.addon_instances}, ${surroundingsOf("page")}`,
    ),
  ),
};

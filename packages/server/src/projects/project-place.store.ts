import type { BindingRole } from "@binnacle/contract";
import { filtered, keptTotal, newest, type Scope, seenText, WHOLE_RELATION, WINDOW } from "../access/list.store.ts";
import { type Conditions, filterValues, isFiltered, type ListQuery, type QueriedList } from "../access/list.ts";
import type { Place } from "../access/place.ts";
import { PROJECT_GRANTS } from "../access/visibility.store.ts";
import { columnsOf, connectionOf, holdingOf, PROJECT_COLUMNS } from "../database/columns.ts";
import type { ConnectedProject } from "./project.ts";

const columnsIn = (row: string) =>
  `${columnsOf(row, PROJECT_COLUMNS)}, ${connectionOf(row)}, ${holdingOf(`${row}.id`, `${row}.cluster_id`)}`;

/** A project is visible to those who have a role on it or on its cluster, and to administrators of its organization. */
export const projectPlace: Place<"project", ConnectedProject, string, BindingRole | "org_admin"> = {
  key: "project",
  title: "Project",
  table: "projects",
  owners: { org: "org_id", cluster: "cluster_id", project: "id" },
  requirement: (role) => ({ needs: "project_role", role }),
  columns: columnsIn("p"),
};

const COLUMNS = columnsIn("page");

/** Totals are kept for organizations and clusters. Callers see all of some of them, and single projects of others. */
const projects = (name: string, scope: Scope | null, totalScope: string, scopes: string): ListQuery => ({
  name,
  text(bound) {
    const inScopes = keptTotal("projects", "(select id from org_scopes union all select id from cluster_scopes)");
    return seenText({
      ctes: `${PROJECT_GRANTS}, ${scopes}`,
      all: {
        page: `select * from ${newest("projects", scope, bound)} p ${WINDOW}`,
        total: keptTotal("projects", totalScope),
      },
      own: {
        page: `select * from (
            select p.* from org_scopes s, lateral ${newest("projects", { column: "org_id", value: "s.id" }, bound)} p
            union all
            select p.* from cluster_scopes s, lateral ${newest("projects", { column: "cluster_id", value: "s.id" }, bound)} p
            union all select * from project_scopes
          ) visible ${WINDOW}`,
        total: `(select ${inScopes} + (select count(*) from project_scopes))`,
      },
      columns: COLUMNS,
    });
  },
});

const ALL = projects(
  "projects",
  null,
  WHOLE_RELATION,
  `org_scopes as (select id from administered), cluster_scopes as (select id from bound),
    project_scopes as (select * from direct)`,
);

/** $5 is the cluster. Whoever sees its whole organization or the whole cluster sees all of its projects. */
const OF_CLUSTER = projects(
  "projects of a cluster",
  { column: "cluster_id", value: "$5" },
  "($5::uuid)",
  `org_scopes as (select id from administered where false),
    cluster_scopes as (select id from clusters where id = $5
      and (org_id in (select id from administered) or id in (select id from bound))),
    project_scopes as (select * from direct where cluster_id = $5)`,
);

interface ProjectFilter {
  readonly org_id?: string | undefined;
  readonly cluster_id?: string | undefined;
  readonly lifecycle?: readonly string[] | undefined;
  readonly search?: string | undefined;
}

const CONDITIONS: Conditions<ProjectFilter> = {
  cluster_id: { is: "cluster_id" },
  org_id: { is: "org_id" },
  lifecycle: { among: "lifecycle" },
  search: { contains: "name" },
};
const { cluster_id: _, ...UNCOUNTED } = CONDITIONS;
const FILTERED = filtered("projects", "id", CONDITIONS, COLUMNS);

export const projectList: QueriedList<ConnectedProject, ProjectFilter> = {
  choose(filter) {
    if (isFiltered(UNCOUNTED, filter)) return { query: FILTERED, values: filterValues(CONDITIONS, filter) };
    const { cluster_id } = filter;
    return cluster_id === undefined ? { query: ALL, values: [] } : { query: OF_CLUSTER, values: [cluster_id] };
  },
};

import { MOST_RESULTS_OF_A_KIND, SEARCH_KINDS, type SearchResult } from "@binnacle/contract";
import { type RawBuilder, sql } from "kysely";
import type { Caller } from "../access/caller.ts";
import { isIn, seenPlaces, visibleOrgs } from "../access/visibility.store.ts";
import { contains } from "../database/text-search.store.ts";
import type { Queries } from "../database/transaction.ts";
import { visibleTemplates } from "../templates/template.store.ts";

const COLUMNS = "kind, id, name, namespace, project_id, cluster_id, detail";

/** The best of one kind. Each is read on its own, so that a frequent name of one kind does not hide the others. */
const best = (candidates: RawBuilder<unknown>, text: string) => sql`(
  select ${sql.raw(COLUMNS)}, row_number() over (order by not starts_with(lower(name), lower(${text})), lower(name), id) as place
  from (${candidates}) found where strpos(lower(name), lower(${text})) > 0
  order by place limit ${MOST_RESULTS_OF_A_KIND}
)`;

/** Finds by name what the caller sees, in one organization or in all. */
export async function findByName(
  db: Queries,
  caller: Caller,
  text: string,
  orgId: string | undefined,
): Promise<SearchResult[]> {
  const seen = await seenPlaces(db, caller, { org_id: orgId });
  const inOrg = (column: string) => (orgId === undefined ? sql`true` : sql`${sql.ref(column)} = ${orgId}`);
  const contents = (kind: "app" | "addon_instance", table: "apps" | "addon_instances") => sql`
    select ${kind}::text as kind, x.id, x.name, x.namespace, x.project_id, x.cluster_id, c.name as detail
    from ${sql.table(table)} x join clusters c on c.id = x.cluster_id where ${isIn(seen, "x")}`;
  const kinds = [
    // The name is a part of the text by which apps are found among many, and that has an index.
    sql`${contents("app", "apps")} and ${contains("x.search_text", text)}`,
    sql`select 'project' as kind, p.id, p.name, p.namespace, p.id as project_id, p.cluster_id, c.name as detail
      from projects p join clusters c on c.id = p.cluster_id where ${isIn(seen, "p", "id")}`,
    sql`select 'cluster' as kind, clusters.id, clusters.name, null as namespace, null::uuid as project_id,
        clusters.id as cluster_id, o.name as detail
      from clusters join orgs o on o.id = clusters.org_id
      where ${visibleOrgs(caller, "clusters.org_id")} and ${inOrg("clusters.org_id")}`,
    sql`select 'stack_template' as kind, t.id, t.name, t.namespace, t.project_id, t.cluster_id, t.version as detail
      from stack_templates t where ${visibleTemplates(caller)} and (t.scope = 'global' or ${inOrg("t.org_id")})`,
    contents("addon_instance", "addon_instances"),
  ];
  const { rows } = await sql<SearchResult>`
    select * from (${sql.join(
      kinds.map((kind) => best(kind, text)),
      sql` union all `,
    )}) results order by array_position(${SEARCH_KINDS}::text[], kind), place
  `.execute(db);
  return rows;
}

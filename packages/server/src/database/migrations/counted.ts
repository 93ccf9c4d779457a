import { sql } from "kysely";

/** The columns for which `count_rows()` has a statement. */
type Scope = "org_id" | "cluster_id" | "project_id";

/** Keeps the total of a table, or of each of its parts, in `row_counts`. Parts of several kinds need names of their own. */
export function counted(table: string, scope?: Scope, name = "count") {
  const argument = sql.raw(scope ? `'${scope}'` : "");
  return [
    sql`create trigger ${sql.ref(`${name}_inserted`)} after insert on ${sql.table(table)}
      referencing new table as changed for each statement execute function count_rows(${argument})`,
    sql`create trigger ${sql.ref(`${name}_deleted`)} after delete on ${sql.table(table)}
      referencing old table as changed for each statement execute function count_rows(${argument})`,
  ];
}

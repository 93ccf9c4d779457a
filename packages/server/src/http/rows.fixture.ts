import type { World } from "@binnacle/world";

const without = (table: string, column: string) => `(select to_jsonb(r) - '${column}' from ${table} r)`;

/** What no request changes, and the server at any moment: it folds totals, renews sessions and gives events their positions. */
const WITHOUT_UPKEEP: Readonly<Record<string, string>> = {
  row_counts: "(select relation, scope, sum(delta) from row_counts group by 1, 2 having sum(delta) <> 0)",
  clusters: without("clusters", "last_heartbeat"),
  cluster_sessions: without("cluster_sessions", "lease_until"),
  event_log: without("event_log", "position"),
  event_log_head: without("event_log_head", "position"),
};

/** Returns the row count and a digest of each table: if they are equal before and after, nothing has changed. */
export async function rowsOf({ database: { pool } }: World): Promise<Record<string, string>> {
  const tables = await pool.query<{ name: string }>(
    "select table_name as name from information_schema.tables where table_schema = 'public' order by 1",
  );
  const counts = tables.rows.map(async ({ name }) => {
    const { rows } = await pool.query<{ state: string }>(
      `select count(*) || ' ' || coalesce(md5(string_agg(t::text, '' order by t::text)), '') as state from ${WITHOUT_UPKEEP[name] ?? `"${name}"`} t`,
    );
    return [name, rows[0]?.state ?? ""] as const;
  });
  return Object.fromEntries(await Promise.all(counts));
}

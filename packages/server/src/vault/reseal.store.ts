import type pg from "pg";
import type { Vault } from "./vault.ts";

/** A column of sealed strings, with the SQL of a row's place. */
export interface SealedColumn {
  readonly table: string;
  readonly column: string;
  /** The SQL expression of the `row` part of the place. */
  readonly row: string;
}

/** All columns with sealed strings. The secrets of a missing column are lost when a key is retired. */
export const SEALED_COLUMNS: readonly SealedColumn[] = [
  { table: "addon_secrets", column: "sealed_value", row: "id::text" },
  { table: "app_secrets", column: "sealed_value", row: "id::text" },
  { table: "chart_repositories", column: "sealed_password", row: "id::text" },
  { table: "cloud_credentials", column: "sealed_secret", row: "id::text" },
  { table: "clusters", column: "sealed_agent_token", row: "id::text" },
  { table: "clusters", column: "sealed_join_token", row: "id::text" },
  { table: "clusters", column: "sealed_ssh_key", row: "id::text" },
  { table: "gitops_keys", column: "sealed_private_key", row: "id::text" },
  { table: "gitops_repositories", column: "sealed_push_key", row: "cluster_id::text" },
  { table: "gitops_settings", column: "sealed_fingerprint_key", row: "org_id::text" },
  { table: "gitops_settings", column: "sealed_signing_key", row: "org_id::text" },
  { table: "gitops_settings", column: "sealed_token", row: "org_id::text" },
  { table: "idempotency_keys", column: "sealed_answer", row: "user_id || ':' || key" },
  { table: "infrastructure_states", column: "sealed_state", row: "id::text" },
  { table: "registry_secrets", column: "sealed_password", row: "id::text" },
];

const BATCH = 500;

/**
 * Seals strings of earlier keys again with the first key. It can run beside a serving control plane: a row is written
 * only if it is unchanged, so a newer secret is never overwritten. An aborted run can be started again.
 */
export async function resealColumn(pool: pg.Pool, vault: Vault, { table, column, row }: SealedColumn): Promise<number> {
  let resealed = 0;
  for (let after = ""; ; ) {
    const { rows } = await pool.query<{ row: string; sealed: string }>(
      `select ${row} as row, ${column} as sealed from ${table}
       where ${column} is not null and ${row} > $1 order by 1 limit ${BATCH}`,
      [after],
    );
    for (const { row: key, sealed } of rows.filter((candidate) => vault.needsReseal(candidate.sealed))) {
      const place = { table, row: key, column };
      const { rowCount } = await pool.query(`update ${table} set ${column} = $1 where ${row} = $2 and ${column} = $3`, [
        vault.seal(vault.open(sealed, place), place),
        key,
        sealed,
      ]);
      resealed += rowCount ?? 0;
    }
    const last = rows.at(-1);
    if (!last) return resealed;
    after = last.row;
  }
}

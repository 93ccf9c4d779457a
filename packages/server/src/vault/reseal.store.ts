import type pg from "pg";
import type { SealedColumn } from "./sealed-columns.ts";
import type { Vault } from "./vault.ts";

const BATCH = 500;

/**
 * Seals again, with the first key, what an earlier key sealed. Runs beside a serving control plane: a row is written only
 * where it still holds what was read, so a newer secret is never overwritten, and a run that breaks off may simply be
 * started again.
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

import type { ReadRows, rowsFrom as rowsByHand } from "../../packages/server/src/access/prepared-query.adapter.ts";

/** The driver's own prepared statements. */
export const rowsFrom =
  (pool: Parameters<typeof rowsByHand>[0]): ReadRows =>
  async (statement, values) =>
    (await pool.query({ ...statement, values: [...values] })).rows;

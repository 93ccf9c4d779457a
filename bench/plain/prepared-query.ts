import type {
  FirstRow,
  firstRowOf as firstRowByHand,
} from "../../packages/server/src/access/prepared-query.adapter.ts";

/** The driver's own prepared statements. */
export const firstRowOf =
  (pool: Parameters<typeof firstRowByHand>[0]): FirstRow =>
  async (statement, values) =>
    (await pool.query({ ...statement, values: [...values] })).rows[0] ?? null;

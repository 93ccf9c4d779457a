import type { preparedQueries as ours } from "../../packages/server/src/database/prepared-query.adapter.ts";

/** The driver's own prepared statements. */
export const preparedQueries: typeof ours = () => async (client, statement, values) =>
  (await client.query({ ...statement, values: [...values] })).rows;

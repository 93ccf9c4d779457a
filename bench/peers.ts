import Fastify from "fastify";
import { SEE_ORG_BY_SESSION } from "../packages/server/src/access/sight.store.ts";
import { connect } from "../packages/server/src/database/connection.adapter.ts";

/**
 * What Binnacle is held against, as one process: (a) a bare Fastify route with no authentication and no database, (b) the
 * same SELECT as Binnacle's, written by hand. Answers have the same bytes as Binnacle's.
 */
const { DATABASE_URL = "", SESSION_ID = "", ORG_ID = "", POOL_SIZE = "20" } = process.env;
const { pool } = connect({ url: DATABASE_URL }, { poolSize: Number(POOL_SIZE), onError: () => undefined });
const app = Fastify();

const fields = ["id", "name", "slug", "description", "created_at", "updated_at"] as const;
const pick = (row: Record<string, unknown>) => Object.fromEntries(fields.map((field) => [field, row[field]]));

const [sample] = (await pool.query("select * from orgs where id = $1", [ORG_ID])).rows;
app.get("/bare", () => pick(sample));

app.get("/select", async () => {
  const { rows } = await pool.query({
    name: "by_hand",
    text: SEE_ORG_BY_SESSION,
    values: [SESSION_ID, new Date(), ORG_ID],
  });
  return pick(rows[0]);
});

app.get("/list", async () => {
  const [{ rows }, totals] = await Promise.all([
    pool.query({ name: "list_by_hand", text: "select * from orgs order by id desc limit 10 offset 0" }),
    pool.query({
      name: "total_by_hand",
      text: "select coalesce(sum(delta), 0)::bigint as total from row_counts where relation = 'orgs' and scope = '00000000-0000-0000-0000-000000000000'",
    }),
  ]);
  return { data: rows.map(pick), total_count: totals.rows[0].total, page: 1, items_per_page: 10, has_more: true };
});

process.stdout.write(`${await app.listen({ host: "127.0.0.1", port: 0 })}\n`);
process.once("SIGTERM", () => process.exit(0));

import Fastify from "fastify";
import type { Statement } from "../packages/server/src/access/caller.store.ts";
import { placeStatements } from "../packages/server/src/access/place.store.ts";
import { ME } from "../packages/server/src/accounts/own-record.store.ts";
import { USER_COLUMNS } from "../packages/server/src/accounts/user.store.ts";
import { appPlace } from "../packages/server/src/apps/app-place.store.ts";
import { connect } from "../packages/server/src/database/connection.adapter.ts";
import { newId } from "../packages/server/src/id.adapter.ts";
import { orgPlace } from "../packages/server/src/orgs/org-place.store.ts";
import { projectPlace } from "../packages/server/src/projects/project-place.store.ts";

/**
 * The peers that Binnacle is compared with, in one process: a bare Fastify route with no authentication and no database,
 * and the same statements as Binnacle's written by hand.
 */
const env = process.env as Record<string, string>;
const {
  DATABASE_URL = "",
  SESSION_ID = "",
  ORG_ID = "",
  PROJECT_ID = "",
  CREATE_IN = "",
  NAMESPACE = "",
  APP = "",
  POOL_SIZE = "20",
} = env;
const { pool } = connect({ url: DATABASE_URL }, { poolSize: Number(POOL_SIZE), onError: () => undefined });
const app = Fastify();

const ORG_FIELDS = ["id", "name", "slug", "description", "created_at", "updated_at"] as const;
const org = (row: Record<string, unknown>) => Object.fromEntries(ORG_FIELDS.map((field) => [field, row[field]]));

async function see({ session }: Statement, ...values: unknown[]): Promise<Record<string, unknown>> {
  const { rows } = await pool.query({ ...session, values: [SESSION_ID, new Date(), ...values] });
  return rows[0];
}

const [sample] = (await pool.query("select * from orgs where id = $1", [ORG_ID])).rows;
app.get("/bare", () => org(sample));

app.get("/org", async () => org(await see(placeStatements(orgPlace).short, ORG_ID)));

const USER_FIELDS = ["id", "name", "username", "email", "is_superuser", "organizations", "bindings"];
app.get("/me", async () => {
  const row = await see(ME.statement);
  return Object.fromEntries(USER_FIELDS.map((field) => [field, row[field]]));
});

app.get("/orgs", async () => {
  const [{ rows }, totals] = await Promise.all([
    pool.query({ name: "orgs", text: "select * from orgs order by id desc limit 10 offset 0" }),
    pool.query({
      name: "total_orgs",
      text: "select coalesce(sum(delta), 0)::bigint as total from row_counts where relation = 'orgs'",
    }),
  ]);
  return { data: rows.map(org), total_count: totals.rows[0].total, page: 1, items_per_page: 10, has_more: true };
});

const LISTED_USER = USER_COLUMNS.filter((column) => column !== "email_vouched_by");
app.get("/users", async () => {
  const [{ rows }, totals] = await Promise.all([
    pool.query({ name: "users", text: "select * from users order by id desc limit 10 offset 0" }),
    pool.query({
      name: "total_users",
      text: "select coalesce(sum(delta), 0)::bigint as total from row_counts where relation = 'users'",
    }),
  ]);
  const data = rows.map((row) => Object.fromEntries(LISTED_USER.map((field) => [field, row[field]])));
  return { data, total_count: totals.rows[0].total, page: 1, items_per_page: 10, has_more: true };
});

app.get("/list", async () => {
  const [{ rows }, totals] = await Promise.all([
    pool.query({
      name: "apps",
      // With an equality PostgreSQL reads the primary key from its end, through all that the creates of other projects have added.
      text: "select * from apps where project_id between $1 and $1 order by project_id, id desc limit 10 offset 0",
      values: [PROJECT_ID],
    }),
    pool.query({
      name: "total_apps",
      text: "select coalesce(sum(delta), 0)::bigint as total from row_counts where relation = 'apps' and scope = $1",
      values: [PROJECT_ID],
    }),
  ]);
  return { data: rows, total_count: totals.rows[0].total, page: 1, items_per_page: 10, has_more: true };
});

app.get("/app", () => see(placeStatements(appPlace).short, PROJECT_ID, NAMESPACE, APP));

/** The statements of an app's creation, in its order and in one transaction. */
const CREATE: readonly (readonly [name: string, text: string])[] = [
  ["hold_project", "select lifecycle from projects where id = $1 for share"],
  ["namesake", "select phase from apps where project_id = $1 and name = $2"],
  [
    "insert_app",
    `insert into apps (id, org_id, cluster_id, project_id, namespace, name, components, generation, revision, phase, created_at, updated_at)
     values ($1, $2, $3, $4, $5, $6, $7, 1, 1, 'pending', $8, $8)`,
  ],
  [
    "insert_deployment",
    `insert into app_deployments (id, app_id, revision, generation, operation, status, spec, created_by, created_at, updated_at)
     values ($1, $2, 1, 1, 'create', 'pending', $3, $4, $5, $5)`,
  ],
  ["next_revision", "update clusters set revision = revision + 1 where id = $1 returning revision"],
  [
    "desired",
    `insert into desired_resources (cluster_id, kind, resource_id, key, generation, revision, updated_at)
     values ($1, 'app', $2, $3, 1, $4, $5) on conflict (cluster_id, kind, resource_id) do update
     set generation = desired_resources.generation + 1 returning generation`,
  ],
  [
    "audit",
    `insert into audit_log (id, at, org_id, actor_id, actor_email, via, source_address, action, resource_type, resource_id, resource_name, changes, request_id)
     values ($1, $2, $3, $4, $5, 'user', '127.0.0.1', 'app.create', 'app', $6, $7, $8, $6)`,
  ],
];

const projects = CREATE_IN.split(",");
let created = 0;

app.post("/apps", async (request, reply) => {
  const { name, components } = request.body as { name: string; components: object[] };
  const projectId = projects[created++ % projects.length];
  const seen = await see(placeStatements(projectPlace).short, projectId);
  const client = await pool.connect();
  const run = (index: number, ...values: unknown[]) => {
    const [statement, text] = CREATE[index] as readonly [string, string];
    return client.query({ name: statement, text, values });
  };
  const [id, now, spec] = [newId(), new Date(), JSON.stringify(components)];
  try {
    await client.query("begin");
    await run(0, projectId);
    await run(1, projectId, name);
    await run(2, id, seen["org_id"], seen["cluster_id"], projectId, seen["namespace"], name, spec, now);
    await run(3, newId(), id, spec, seen["caller_email"], now);
    const { rows } = await run(4, seen["cluster_id"]);
    await run(5, seen["cluster_id"], id, `app/${String(seen["namespace"])}/${name}`, rows[0].revision, now);
    await run(6, newId(), now, seen["org_id"], seen["caller_id"], seen["caller_email"], id, name, spec);
    await client.query("commit");
  } finally {
    client.release();
  }
  return reply.code(201).send({ id, name, components, created_at: now });
});

process.stdout.write(`${await app.listen({ host: "127.0.0.1", port: 0 })}\n`);
process.once("SIGTERM", () => process.exit(0));

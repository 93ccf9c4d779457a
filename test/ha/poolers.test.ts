import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { dataFolder, refusedServer, startServer } from "../world/server-process.ts";
import { simulateOperator } from "../world/simulated-operator.ts";
import { changesArrive } from "./installation.ts";
import { signedIn } from "./load.ts";
import { keepsPreparedStatements, type Postgres, startPgBouncer, startPostgres } from "./services.ts";

const LIMITS = "statement_timeout,lock_timeout,idle_in_transaction_session_timeout";
const FITTING = { pool_mode: "session", ignore_startup_parameters: LIMITS };

let postgres: Postgres;
let data: Awaited<ReturnType<typeof dataFolder>>;
beforeAll(async () => {
  postgres = await startPostgres();
  data = await dataFolder();
});
afterAll(async () => {
  await postgres?.kill("SIGINT");
  await data?.remove();
});

/** A pooler with these settings, for as long as the work takes. */
async function through(settings: Record<string, string>, work: (env: Record<string, string>) => Promise<void>) {
  const pooler = await startPgBouncer(postgres, settings);
  try {
    await work({
      BINNACLE_DATA_DIR: data.path,
      DATABASE_URL: pooler.url,
      BINNACLE_DIRECT_DATABASE_URL: `postgres://binnacle@127.0.0.1:${postgres.port}/postgres`,
    });
  } finally {
    await pooler.stop();
  }
}

async function serves(env: Record<string, string>): Promise<void> {
  const server = await startServer(env);
  try {
    const client = await signedIn(server.url);
    const names = Array.from({ length: 40 }, (_, number) => `pooled ${number} ${env["DATABASE_URL"]}`);
    const made = await Promise.all(names.map((name) => client.call("createOrg", { body: { name } })));
    const [org] = made;
    if (!org) throw new Error("No organization was made.");
    const cluster = await client.call("createCluster", { org_id: org.id, body: { name: "pooled" } });
    const operator = simulateOperator({ url: server.url, token: cluster.connection_token ?? "" });
    try {
      await vi.waitFor(() => expect(operator.link.isLive).toBe(true), { timeout: 30_000 });
      await changesArrive([cluster.id], client);
    } finally {
      await operator.stop();
    }
  } finally {
    server.signal("SIGTERM");
    await server.exited;
  }
}

test("[HA8] a server works through PgBouncer in session mode", () => through(FITTING, serves));

test("[HA8] a server works through PgBouncer in transaction mode where that keeps prepared statements, and else refuses to start", async () => {
  const keeps = await keepsPreparedStatements();
  const forgets = { ...FITTING, pool_mode: "transaction", ...(keeps ? { max_prepared_statements: "0" } : {}) };
  await through(forgets, async (env) => {
    const { exitCode, printed } = await refusedServer(env);
    expect(exitCode).toBe(1);
    expect(printed).toContain("does not keep prepared statements");
  });
  if (keeps) await through({ ...FITTING, pool_mode: "transaction", max_prepared_statements: "200" }, serves);
});

test("[HA8] a server refuses to start where PgBouncer refuses the limits of its connections, and says what to set", () =>
  through({ pool_mode: "session" }, async (env) => {
    const { exitCode, printed } = await refusedServer(env);
    expect(exitCode).toBe(1);
    expect(printed).toContain(`ignore_startup_parameters = ${LIMITS}`);
  }));

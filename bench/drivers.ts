import postgres from "postgres";
import { choiceOf, listStatements } from "../packages/server/src/access/list.store.ts";
import { placeStatements } from "../packages/server/src/access/place.store.ts";
import { connect } from "../packages/server/src/database/connection.adapter.ts";
import { PipelinedClient } from "../packages/server/src/database/prepared.adapter.ts";
import { orgList, orgPlace } from "../packages/server/src/orgs/org-place.store.ts";
import { withStage } from "./stage.ts";
import { printTable } from "./table.ts";

/**
 * Drivers of PostgreSQL under the two statements that most requests run: a read of one row with its caller, and a page of a list. They
 * take turns in one process, so a slow moment of the machine falls on all of them (ADR 24).
 */
const ROUNDS = Number(process.env["BENCH_ROUNDS"] ?? 11);
const ROUND_MS = Number(process.env["BENCH_ROUND_MS"] ?? 400);
const POOL_SIZE = 20;

type Run = () => Promise<{ readonly length: number }>;

await withStage(async ({ databaseUrl, database, sessionId, orgId, settle }) => {
  await database.pool.query(
    `insert into orgs (id, name, slug, settings, created_at, updated_at)
     select gen_random_uuid(), 'org ' || n, 'org-' || n, '{}', now(), now() from generate_series(1, 1000) n`,
  );
  await settle();
  const { pool, pipeline, close } = connect({ url: databaseUrl }, { poolSize: POOL_SIZE, onError: () => undefined });
  const client = new PipelinedClient({ connectionString: databaseUrl });
  await client.connect();
  const { pathname, searchParams } = new URL(databaseUrl);
  const [host = "", port, username = ""] = ["host", "port", "user"].map((name) => searchParams.get(name) ?? undefined);
  const address = { host, port: Number(port), username, database: pathname.slice(1) };
  const single = postgres({ ...address, max: 1 });
  const several = postgres({ ...address, max: POOL_SIZE });

  const now = new Date().toISOString();
  const { first } = listStatements(choiceOf(orgList, { all: true }).query);
  const statements = {
    "a read": { statement: placeStatements(orgPlace).short.session, values: [sessionId, now, orgId] },
    "a page": { statement: first.session, values: [sessionId, now, "11", "0"] },
  };
  for (const [what, { statement, values }] of Object.entries(statements)) {
    const contenders: Record<string, Run> = {
      "pg with our queries, one connection": () => pipeline.read(statement, values),
      "pg, one connection": async () => (await client.query({ ...statement, values })).rows,
      "pg, a pool": async () => (await pool.query({ ...statement, values })).rows,
      "postgres.js, one connection": () => single.unsafe(statement.text, values, { prepare: true }),
      "postgres.js, a pool": () => several.unsafe(statement.text, values, { prepare: true }),
    };
    for (const concurrency of [1, 32]) {
      process.stdout.write(`\n${what}, ${concurrency} at a time\n`);
      await compare(contenders, concurrency);
    }
  }
  await Promise.all([close(), client.end(), single.end(), several.end()]);
});

async function compare(contenders: Record<string, Run>, concurrency: number): Promise<void> {
  const runs = Object.entries(contenders);
  const rounds = runs.map(() => [] as { perSecond: number; cpuUs: number }[]);
  for (let round = -2; round < ROUNDS; round++) {
    for (const [index, [, run]] of runs.entries()) {
      const seen = await timed(run, concurrency);
      // The first rounds are for the compiler.
      if (round >= 0) rounds[index]?.push(seen);
    }
  }
  printTable(
    ["", "a second", "CPU µs", "of the first", "quartiles", "CPU of the first"],
    runs.map(([name], index) => {
      const seen = rounds[index] ?? [];
      const speed = seen.map(({ perSecond }, at) => perSecond / (rounds[0]?.[at]?.perSecond ?? Number.NaN));
      const cpu = seen.map(({ cpuUs }, at) => cpuUs / (rounds[0]?.[at]?.cpuUs ?? Number.NaN));
      const each = (figure: "perSecond" | "cpuUs") => seen.map((round) => round[figure]);
      return [
        name,
        quantile(each("perSecond"), 0.5).toFixed(0),
        quantile(each("cpuUs"), 0.5).toFixed(0),
        quantile(speed, 0.5).toFixed(2),
        `${quantile(speed, 0.25).toFixed(2)}–${quantile(speed, 0.75).toFixed(2)}`,
        quantile(cpu, 0.5).toFixed(2),
      ];
    }),
  );
}

async function timed(run: Run, concurrency: number) {
  const [startedAt, cpu] = [performance.now(), process.cpuUsage()];
  const endsAt = startedAt + ROUND_MS;
  let count = 0;
  const repeat = async () => {
    while (performance.now() < endsAt) {
      if ((await run()).length === 0) throw new Error("no rows");
      count++;
    }
  };
  await Promise.all(Array.from({ length: concurrency }, repeat));
  const { user, system } = process.cpuUsage(cpu);
  return { perSecond: (count * 1000) / (performance.now() - startedAt), cpuUs: (user + system) / count };
}

function quantile(values: readonly number[], q: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor((sorted.length - 1) * q)] ?? Number.NaN;
}

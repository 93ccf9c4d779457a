import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect, type Database } from "../packages/server/src/database/connection.adapter.ts";
import { startEmbeddedPostgres } from "../packages/server/src/database/embedded/embedded.adapter.ts";
import { foldRowCounts } from "../packages/server/src/database/row-count.store.ts";
import { newId } from "../packages/server/src/id.ts";
import { load, type Measured, type Target } from "./load.ts";
import { cpuSecondsOf, type Process, startNode } from "./process.ts";
import { printTable } from "./table.ts";

/** Authenticated reads against a bare route and against the same SELECT by hand, alternating in one run. */

const CONNECTIONS = 16;
const ROUND_MS = Number(process.env["BENCH_ROUND_MS"] ?? 3_000);
const ROUNDS = Number(process.env["BENCH_ROUNDS"] ?? 3);
const POOL_SIZE = "20";

interface Series extends Measured {
  readonly cpuUsPerRequest: number;
}

const folder = await mkdtemp(join(tmpdir(), "binnacle-bench-"));
await chmod(folder, 0o755);
const embedded = await startEmbeddedPostgres({ dataDir: folder, log: () => undefined });
const { host, port, user, database } = embedded.connection;
const databaseUrl = `postgres:///${database}?host=${encodeURIComponent(host)}&port=${port}&user=${user}`;
const started: Process[] = [];
try {
  await run();
} finally {
  for (const child of started) await child.stop();
  await embedded.stop();
  await rm(folder, { recursive: true, force: true });
}

async function run(): Promise<void> {
  const binnacle = await startNode("packages/server/src/main.ts", {
    DATABASE_URL: databaseUrl,
    BINNACLE_DATA_DIR: folder,
    BINNACLE_PORT: "0",
    BINNACLE_ROLES: "api",
    BINNACLE_DATABASE_POOL_SIZE: POOL_SIZE,
  });
  started.push(binnacle);
  const { token, sessionId, orgId } = await signIn(binnacle.port);
  const peers = await startNode("bench/peers.ts", {
    DATABASE_URL: databaseUrl,
    SESSION_ID: sessionId,
    ORG_ID: orgId,
    POOL_SIZE,
  });
  started.push(peers);
  const db = connect({ url: databaseUrl }, { poolSize: 2, onError: () => undefined });

  const headers = { authorization: `Bearer ${token}` };
  const targets = {
    "(a) bare Fastify route": { process: peers, path: "/bare" },
    "(b) the same SELECT by hand": { process: peers, path: "/select" },
    "GET /orgs/{id}": { process: binnacle, path: `/api/v1/orgs/${orgId}`, headers },
    "(b) the list by hand": { process: peers, path: "/list" },
    "GET /orgs, 1,000 rows": { process: binnacle, path: "/api/v1/orgs", headers },
  };
  await fillOrgs(db, 1_000);
  const small = await measure(targets);
  await fillOrgs(db, 100_000);
  const large = await measure({
    "(b) the list by hand, 100,000 rows": { process: peers, path: "/list" },
    "GET /orgs, 100,000 rows": { process: binnacle, path: "/api/v1/orgs", headers },
  });
  await db.close();

  const all = { ...small, ...large };
  const byHand = all["(b) the same SELECT by hand"] as Series;
  printTable(
    ["", "requests/s", "of (b)", "p50 ms", "p99 ms", "server CPU µs"],
    Object.entries(all).map(([name, series]) => [
      name,
      series.perSecond.toFixed(0),
      (series.perSecond / byHand.perSecond).toFixed(2),
      series.p50Ms.toFixed(2),
      series.p99Ms.toFixed(2),
      series.cpuUsPerRequest.toFixed(0),
    ]),
  );
  const read = all["GET /orgs/{id}"] as Series;
  const p99 = (name: string) => (all[name] as Series).p99Ms;
  printTable(
    ["figure", "aim", "seen"],
    [
      ["read, of the same SELECT by hand", "≥ 0.80", (read.perSecond / byHand.perSecond).toFixed(2)],
      ["server CPU of a read", "≤ 200 µs", `${read.cpuUsPerRequest.toFixed(0)} µs`],
      ["p99 of a read, of the SELECT's by hand", "≤ 2.00", (read.p99Ms / byHand.p99Ms).toFixed(2)],
      [
        "p99 of a list at 100,000 rows, of that at 1,000",
        "≤ 2.00",
        (p99("GET /orgs, 100,000 rows") / p99("GET /orgs, 1,000 rows")).toFixed(2),
      ],
    ],
  );
}

/** Rounds alternate between the targets, so that a busy moment of the machine falls on all of them. */
async function measure(targets: Record<string, { process: Process } & Omit<Target, "host" | "port">>) {
  const rounds: Record<string, Series[]> = {};
  for (let round = -1; round < ROUNDS; round++) {
    for (const [name, { process: server, ...target }] of Object.entries(targets)) {
      const before = await cpuSecondsOf(server);
      const warmUp = round < 0;
      const measured = await load(
        { ...target, host: "127.0.0.1", port: server.port },
        { connections: CONNECTIONS, durationMs: warmUp ? ROUND_MS / 2 : ROUND_MS },
      );
      const cpuSeconds = (await cpuSecondsOf(server)) - before;
      if (warmUp) continue;
      rounds[name] = [
        ...(rounds[name] ?? []),
        { ...measured, cpuUsPerRequest: (cpuSeconds * 1e6) / measured.requests },
      ];
    }
  }
  return Object.fromEntries(Object.entries(rounds).map(([name, series]) => [name, median(series)]));
}

function median(series: readonly Series[]): Series {
  const sorted = [...series].sort((a, b) => a.perSecond - b.perSecond);
  const middle = sorted[Math.floor(sorted.length / 2)];
  if (!middle) throw new Error("nothing was measured");
  return middle;
}

async function signIn(port: number) {
  const base = `http://127.0.0.1:${port}/api/v1`;
  const form = new URLSearchParams({ username: "admin", password: "binnacle" });
  const { access_token: token } = (await (await fetch(`${base}/login`, { method: "POST", body: form })).json()) as {
    access_token: string;
  };
  const orgs = (await (await fetch(`${base}/orgs`, { headers: { authorization: `Bearer ${token}` } })).json()) as {
    data: { id: string }[];
  };
  const [, payload = ""] = token.split(".");
  const { sid } = JSON.parse(Buffer.from(payload, "base64url").toString()) as { sid: string };
  return { token, sessionId: sid, orgId: orgs.data[0]?.id ?? "" };
}

async function fillOrgs({ kysely: db, pool }: Database, upTo: number): Promise<void> {
  const { rows } = await pool.query<{ count: number }>("select count(*) from orgs");
  const now = new Date();
  for (let made = rows[0]?.count ?? 0; made < upTo; ) {
    const batch = Array.from({ length: Math.min(1_000, upTo - made) }, (_, index) => ({
      id: newId(),
      name: `Organization ${made + index}`,
      slug: `organization-${made + index}`,
      description: null,
      settings: "{}",
      created_at: now,
      updated_at: now,
    }));
    await db.insertInto("orgs").values(batch).execute();
    made += batch.length;
  }
  await foldRowCounts(db);
  await pool.query("vacuum analyze");
}

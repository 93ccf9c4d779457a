import type { Database } from "../packages/server/src/database/connection.adapter.ts";
import { foldRowCounts } from "../packages/server/src/database/row-count.store.ts";
import { clustersWithPending } from "../packages/server/src/hub/desired-rows.store.ts";
import { clearLapsed, type HeldSession, renewLeases } from "../packages/server/src/hub/session.store.ts";
import { load } from "./load.ts";
import type { Figure } from "./table.ts";

const TIMES = 7;
const HUB = { id: "filled", url: "" };
const ANSWER_WITHIN_MS = 150;
const READ_FOR_MS = 2_000;

/** What an installation at rest does every ten seconds. */
export async function idleFigures(database: Database): Promise<Figure[]> {
  const { kysely, pool } = database;
  const { rows: sessions } = await pool.query<{ cluster_id: string; epoch: number }>(
    "select cluster_id, epoch from cluster_sessions order by 1",
  );
  const ids = sessions.map(({ cluster_id }) => cluster_id);
  const sweepMs = await medianMs(() => clustersWithPending(kysely, ids));
  await foldRowCounts(kysely);
  const folding = await updatesOf(database, ["row_counts"]);
  const foldMs = await medianMs(() => foldRowCounts(kysely));
  const folded = (await updatesOf(database, ["row_counts"])).written - folding.written;
  const lapsedMs = await medianMs(() => clearLapsed(kysely, 200));
  const tables = ["clusters", "cluster_sessions"];
  const before = await updatesOf(database, tables);
  const renewMs = await medianMs(() => renewLeases(kysely, HUB, sessions.map(held)));
  const after = await updatesOf(database, tables);
  return [
    {
      name: `sweep of ${ids.length.toLocaleString("en")} clusters for what is pending`,
      value: sweepMs,
      atMost: 50,
      unit: "ms",
    },
    { name: "fold of totals without changes", value: foldMs, atMost: 150, unit: "ms" },
    { name: "rows that it writes", value: folded, atMost: 0, unit: "rows" },
    { name: "search for sessions that have lapsed", value: lapsedMs, atMost: 50, unit: "ms" },
    { name: "renewal of all leases with their heartbeats", value: renewMs, atMost: 1_000, unit: "ms" },
    {
      name: "HOT share of its updates",
      value: (after.hot - before.hot) / (after.written - before.written),
      atLeast: 0.95,
    },
  ];
}

const held = ({ cluster_id: clusterId, epoch }: { cluster_id: string; epoch: number }): HeldSession => ({
  ...{ clusterId, epoch, tokenVersion: 0, heartbeatAt: new Date() },
});

/** A session reports what it has done when it idles for a while, or is told to. */
async function updatesOf({ pool }: Database, tables: readonly string[]): Promise<{ written: number; hot: number }> {
  const clients = await Promise.all(Array.from({ length: pool.options.max ?? 1 }, () => pool.connect()));
  for (const client of clients) await client.query("select pg_stat_force_next_flush()");
  for (const client of clients) client.release();
  const { rows } = await pool.query<{ written: number; hot: number }>(
    `select sum(n_tup_upd + n_tup_ins + n_tup_del)::int as written, sum(n_tup_hot_upd)::int as hot
     from pg_stat_user_tables where relname = any ($1)`,
    [tables],
  );
  return rows[0] ?? { written: Number.NaN, hot: Number.NaN };
}

async function medianMs(work: () => Promise<unknown>): Promise<number> {
  const times: number[] = [];
  for (let time = 0; time < TIMES; time += 1) {
    const startedAt = performance.now();
    await work();
    times.push(performance.now() - startedAt);
  }
  return times.sort((a, b) => a - b)[Math.floor(TIMES / 2)] ?? Number.NaN;
}

/** Signs in a new administrator of the organization, who has the password and the tier of the first user; returns the headers. */
export async function adminOf({ pool }: Database, org: string, port: number): Promise<Record<string, string>> {
  await pool.query(
    `with made as (
       insert into users (id, name, username, email, password_hash, tier_name, created_at, updated_at)
       select gen_random_uuid(), 'Filled', 'filled', 'filled@example.com', password_hash, tier_name, now(), now()
       from users where username = 'admin' on conflict do nothing returning id
     ) insert into memberships (org_id, user_id, role, created_at, updated_at) select $1, id, 'admin', now(), now() from made`,
    [org],
  );
  const form = new URLSearchParams({ username: "filled", password: "binnacle" });
  const answer = await fetch(`http://127.0.0.1:${port}/api/v1/login`, { method: "POST", body: form });
  const { access_token } = (await answer.json()) as { access_token: string };
  return { authorization: `Bearer ${access_token}` };
}

export interface Viewer {
  readonly name: string;
  readonly port: number;
  readonly headers: Readonly<Record<string, string>>;
}

/** What somebody reads who sees much. `scope` narrows the searches to an organization; it is empty for all of them. */
const readsOf = (org: string, scope: string): Readonly<Record<string, string>> => ({
  "first page of apps": "/apps?items_per_page=50",
  "first page of summaries": `/app-summaries?items_per_page=50${scope}`,
  "the same, worst first": `/app-summaries?items_per_page=50&sort=phase${scope}`,
  "the same, newest deployment first": `/app-summaries?items_per_page=50&sort=-deployed_at${scope}`,
  "failed apps": `/app-summaries?items_per_page=50&phase=failed${scope}`,
  "running apps": `/app-summaries?items_per_page=50&phase=running${scope}`,
  "drifted apps": `/app-summaries?items_per_page=50&drift=drifted${scope}`,
  "summaries with a rare text": `/app-summaries?items_per_page=50&search=billing-4243${scope}`,
  "summaries with a frequent text": `/app-summaries?items_per_page=50&search=billing${scope}`,
  "first page of projects": `/projects?items_per_page=50${scope}`,
  "first page of clusters": `/orgs/${org}/clusters?items_per_page=50`,
  "search for a rare name": `/search?q=billing-4243${scope}`,
  "search for a frequent name": `/search?q=billing${scope}`,
  overview: `/orgs/${org}/overview`,
});

const auditReadsOf = (org: string): Readonly<Record<string, string>> => ({
  "audit log": `/orgs/${org}/audit-log?items_per_page=50`,
  "audit log of a frequent action": `/orgs/${org}/audit-log?items_per_page=50&action=app.`,
  "audit log of an action that never happened": `/orgs/${org}/audit-log?items_per_page=50&action=tier.`,
  "audit log of a person": `/orgs/${org}/audit-log?items_per_page=50&actor_id=00000000-0000-7000-8000-000000000042`,
  "audit log of a resource": `/orgs/${org}/audit-log?items_per_page=50&resource_id=resource-42`,
  "audit log before half a year ago": `/orgs/${org}/audit-log?items_per_page=50&until=${daysAgo(180)}`,
  "audit log of the last week": `/orgs/${org}/audit-log?items_per_page=50&since=${daysAgo(7)}`,
});

const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString();

/** One reader at a time: what others would add is the business of other benchmarks. */
async function answers({ name, port, headers }: Viewer, reads: Readonly<Record<string, string>>): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const [read, path] of Object.entries(reads)) {
    const target = { port, path: `/api/v1${path}`, headers };
    await load(target, { connections: 1, durationMs: 0 });
    const { p99Ms } = await load(target, { connections: 1, durationMs: READ_FOR_MS });
    figures.push({ name: `${name}: ${read}, p99`, value: p99Ms, atMost: ANSWER_WITHIN_MS, unit: "ms" });
  }
  return figures;
}

export const adminFigures = async (admin: Viewer, org: string): Promise<Figure[]> => [
  ...(await answers(admin, readsOf(org, `&org_id=${org}`))),
  ...(await answers(admin, auditReadsOf(org))),
];

export const superuserFigures = (superuser: Viewer, org: string): Promise<Figure[]> =>
  answers(superuser, readsOf(org, ""));

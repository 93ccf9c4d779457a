import type { Database } from "../packages/server/src/database/connection.adapter.ts";
import { newId } from "../packages/server/src/id.adapter.ts";
import { DEFAULT_TIER } from "../packages/server/src/tiers/tier.ts";
import { measure, middleOf, printRounds, ratio } from "./rounds.ts";
import { withStage } from "./stage.ts";
import { printFigures } from "./table.ts";

/** Authenticated reads against a bare route and against the same SELECT by hand. Ends with 1 where a ratio is missed. */
await withStage(async ({ binnacle, database, sessionId, orgId, headers, peer, settle }) => {
  const peers = await peer("bench/peers.ts", { SESSION_ID: sessionId, ORG_ID: orgId });
  const list = { process: binnacle, path: "/api/v1/orgs?all=true", headers };

  const users = { process: binnacle, path: "/api/v1/users", headers };

  await fillOrgs(database, 1_000);
  await fillUsers(database, 1_000);
  await settle();
  const small = await measure({
    "(a) bare Fastify route": { process: peers, path: "/bare" },
    "(b) the same SELECT by hand": { process: peers, path: "/org" },
    "GET /orgs/{id}": { process: binnacle, path: `/api/v1/orgs/${orgId}`, headers },
    "(b) the caller by hand": { process: peers, path: "/me" },
    "GET /user/me": { process: binnacle, path: "/api/v1/user/me", headers },
    "(b) the list by hand": { process: peers, path: "/orgs" },
    "GET /orgs?all=true at 1,000 rows": list,
    "(b) the users by hand": { process: peers, path: "/users" },
    "GET /users at 1,000 rows": users,
  });
  await fillOrgs(database, 100_000);
  await fillUsers(database, 100_000);
  await settle();
  const large = await measure({
    "GET /orgs?all=true at 100,000 rows": list,
    "GET /users at 100,000 rows": users,
  });

  printRounds({ ...small, ...large });
  const read = small["GET /orgs/{id}"];
  const byHand = small["(b) the same SELECT by hand"];
  const fewOrgs = small["GET /orgs?all=true at 1,000 rows"];
  const fewUsers = small["GET /users at 1,000 rows"];
  printFigures([
    { name: "read, of the same SELECT by hand", value: ratio("perSecond", read, byHand), atLeast: 0.85 },
    { name: "read, of the bare route", value: ratio("perSecond", read, small["(a) bare Fastify route"]) },
    {
      name: "server CPU of a read",
      value: middleOf(read, "cpuUsPerRequest"),
      atMost: 200,
      unit: "µs",
      isReported: true,
    },
    {
      name: "p99 of a read, of the SELECT's by hand",
      value: ratio("p99Ms", read, byHand),
      ...{ atMost: 1.5, isReported: true },
    },
    {
      name: "caller, of the same SELECT by hand",
      value: ratio("perSecond", small["GET /user/me"], small["(b) the caller by hand"]),
      atLeast: 0.8,
    },
    {
      name: "list, of the list by hand",
      value: ratio("perSecond", fewOrgs, small["(b) the list by hand"]),
      atLeast: 0.7,
    },
    {
      name: "list of users, of the list by hand",
      value: ratio("perSecond", fewUsers, small["(b) the users by hand"]),
      atLeast: 0.7,
    },
    {
      name: "p99 of a list at 100,000 rows, of that at 1,000",
      value: ratio("p99Ms", large["GET /orgs?all=true at 100,000 rows"], fewOrgs),
      ...{ atMost: 2, isReported: true },
    },
    {
      name: "p99 of a list of users at 100,000 rows, of that at 1,000",
      value: ratio("p99Ms", large["GET /users at 100,000 rows"], fewUsers),
      ...{ atMost: 2, isReported: true },
    },
  ]);
});

async function fillUsers({ pool }: Database, upTo: number): Promise<void> {
  await pool.query(
    `insert into users (id, name, username, email, password_hash, tier_name, created_at, updated_at)
     select gen_random_uuid(), 'User ' || made, 'user' || made, 'user' || made || '@example.com', 'none', $2, now(), now()
     from generate_series((select count(*) from users), $1 - 1) made`,
    [upTo, DEFAULT_TIER],
  );
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
}

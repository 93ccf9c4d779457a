import type { Database } from "../packages/server/src/database/connection.adapter.ts";
import { newId } from "../packages/server/src/id.adapter.ts";
import { measure, middleOf, printRounds, ratio } from "./rounds.ts";
import { withStage } from "./stage.ts";
import { printTable } from "./table.ts";

/** Authenticated reads against a bare route and against the same SELECT by hand. */
await withStage(async ({ binnacle, database, sessionId, orgId, headers, peer, settle }) => {
  const peers = await peer("bench/peers.ts", { SESSION_ID: sessionId, ORG_ID: orgId });
  const list = { process: binnacle, path: "/api/v1/orgs?all=true", headers };

  await fillOrgs(database, 1_000);
  await settle();
  const small = await measure({
    "(a) bare Fastify route": { process: peers, path: "/bare" },
    "(b) the same SELECT by hand": { process: peers, path: "/org" },
    "GET /orgs/{id}": { process: binnacle, path: `/api/v1/orgs/${orgId}`, headers },
    "(b) the caller by hand": { process: peers, path: "/me" },
    "GET /user/me": { process: binnacle, path: "/api/v1/user/me", headers },
    "(b) the list by hand": { process: peers, path: "/orgs" },
    "GET /orgs?all=true at 1,000 rows": list,
  });
  await fillOrgs(database, 100_000);
  await settle();
  const large = await measure({ "GET /orgs?all=true at 100,000 rows": list });

  printRounds({ ...small, ...large });
  const read = small["GET /orgs/{id}"];
  const byHand = small["(b) the same SELECT by hand"];
  const few = small["GET /orgs?all=true at 1,000 rows"];
  printTable(
    ["figure", "aim", "seen"],
    [
      ["read, of the same SELECT by hand", "≥ 0.85", ratio("perSecond", read, byHand)],
      ["read, of the bare route", "", ratio("perSecond", read, small["(a) bare Fastify route"])],
      ["server CPU of a read", "≤ 200 µs", `${middleOf(read, "cpuUsPerRequest").toFixed(0)} µs`],
      ["p99 of a read, of the SELECT's by hand", "≤ 1.50", ratio("p99Ms", read, byHand)],
      [
        "caller, of the same SELECT by hand",
        "≥ 0.80",
        ratio("perSecond", small["GET /user/me"], small["(b) the caller by hand"]),
      ],
      ["list, of the list by hand", "≥ 0.70", ratio("perSecond", few, small["(b) the list by hand"])],
      [
        "p99 of a list at 100,000 rows, of that at 1,000",
        "≤ 2.00",
        ratio("p99Ms", large["GET /orgs?all=true at 100,000 rows"], few),
      ],
    ],
  );
});

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

import { type FreshDatabase, freshDatabase, restoredDatabase } from "@binnacle/world/database";
import { afterAll, beforeAll, expect, test } from "vitest";
import { insertCluster } from "../access/bindings.fixture.ts";
import { connected } from "../database/command.adapter.ts";
import { connect, serverName } from "../database/connection.adapter.ts";
import { MIGRATIONS } from "../database/migrate.ts";
import { newId } from "../id.adapter.ts";
import { readUpgradeFacts } from "./upgrade-facts.store.ts";

let fresh: FreshDatabase;
beforeAll(async () => {
  fresh = await freshDatabase();
});
afterAll(() => fresh.drop());

const factsOf = (url: string) => connected({ url }, ({ kysely }) => readUpgradeFacts(kysely));

test("[UG7] the connected servers are found with their releases, and no command among them", async () => {
  const server = connect({ url: fresh.url }, { poolSize: 1, name: serverName("0.1.0"), onError: () => undefined });
  await server.pool.query("select 1");
  const { servers } = await factsOf(fresh.url);
  // The connection of the tests names no release.
  expect(servers).toEqual(["0.1.0", ...(servers.includes(null) ? [null] : [])]);
  await server.close();
});

test("[UG9] operators are counted by release, those of abandoned clusters left out", async () => {
  const { kysely: db, pool } = fresh.database;
  const org = newId();
  await pool.query(
    "insert into orgs (id, name, slug, settings, created_at, updated_at) values ($1, 'o', 'o', '{}', now(), now())",
    [org],
  );
  const ids = await Promise.all([1, 2, 3, 4].map(() => insertCluster(db, org)));
  await pool.query("update clusters set operator_version = '0.1.0', first_connected_at = now() where id = any($1)", [
    ids.slice(0, 3),
  ]);
  await pool.query("update clusters set abandoned_at = now() where id = $1", [ids[2]]);
  await pool.query(
    `insert into cluster_sessions (cluster_id, hub_id, epoch, token_version, lease_until, started_at)
      values ($1, 'hub', 1, 1, now() + interval '1 minute', now())`,
    [ids[0]],
  );
  const { operators, applied } = await factsOf(fresh.url);
  expect(operators).toEqual([
    { release: "0.1.0", connected: true, clusters: 1 },
    { release: "0.1.0", connected: false, clusters: 1 },
  ]);
  expect(applied.map(({ name }) => name)).toEqual(Object.keys(MIGRATIONS).sort());
});

test("[UG9] an empty database has no facts", async () => {
  const empty = await restoredDatabase("select 1");
  expect(await factsOf(empty.url)).toMatchObject({ applied: [], operators: [] });
  await empty.drop();
});

test("[UG10] the facts are read in a transaction in which PostgreSQL refuses changes", async () => {
  const writing = await restoredDatabase(`create table written (name text);
    create function write() returns text language sql as 'insert into written values (''x'') returning name';
    create view kysely_migration as select write() as name`);
  await expect(factsOf(writing.url)).rejects.toThrow("cannot execute INSERT in a read-only transaction");
  await writing.drop();
});

import { startWorld } from "@binnacle/world";
import { sql } from "kysely";
import { afterAll, expect, onTestFinished, test, vi } from "vitest";
import { someName } from "../apps/app.fixture.ts";
import { create, shareCluster, someHost, web } from "../apps/ingress-host.fixture.ts";

const world = await startWorld({ env: { BINNACLE_ROLES: "api" } });
const { mine, theirs, editor, rival } = await shareCluster(world);
afterAll(() => world.stop());

const { kysely: db, pool } = world.database;
const HELD = 600_001;

/** Writes of this kind wait until they are let go. */
async function holdUp(write: string) {
  await sql`create or replace function wait_here() returns trigger language plpgsql as $$
    begin perform pg_advisory_xact_lock(${sql.lit(HELD)}); return new; end $$`.execute(db);
  await sql`create trigger wait_here before ${sql.raw(write)} for each row execute function wait_here()`.execute(db);
  const holder = await pool.connect();
  await holder.query(`select pg_advisory_lock(${HELD})`);
  let isHeld = true;
  const letGo = async () => {
    if (isHeld) await holder.query(`select pg_advisory_unlock(${HELD})`);
    if (isHeld) holder.release();
    isHeld = false;
  };
  onTestFinished(async () => {
    await letGo();
    await sql`drop trigger wait_here on ${sql.raw(write.split(" on ")[1] ?? "")}`.execute(db);
  });
  const isReached = async () => {
    const { rows } = await sql`select from pg_locks where locktype = 'advisory' and not granted and objid = ${HELD}
      and database = (select oid from pg_database where datname = current_database())`.execute(db);
    expect(rows).toHaveLength(1);
  };
  return { reached: () => vi.waitFor(isReached, { timeout: 20_000 }), letGo };
}

test("[DS600] a change that waits to keep the answer for its Idempotency-Key holds up no other change in its cluster", async () => {
  const held = await holdUp("update on idempotency_keys");
  const keyed = editor.api.with({ "idempotency-key": someName() });
  const slow = keyed.post("/apps", { project_id: mine, name: someName(), components: [web()] });
  await held.reached();
  expect((await create(rival, theirs)).status).toBe(201);
  await held.letGo();
  expect((await slow).status).toBe(201);
});

test("[DS600] a change that claims a host holds up no other change in its cluster, and of two that claim one host the second is refused", async () => {
  const host = someHost();
  const held = await holdUp("insert on ingress_hosts");
  const slow = create(editor, mine, host);
  await held.reached();
  expect((await create(rival, theirs)).status).toBe(201);
  const second = create(rival, theirs, host);
  await held.letGo();
  expect((await slow).status).toBe(201);
  expect((await second).status).toBe(409);
});

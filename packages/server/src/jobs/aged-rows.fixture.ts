import { randomBytes } from "node:crypto";
import { sql } from "kysely";
import { v7 } from "uuid";
import { insertCluster } from "../access/bindings.fixture.ts";
import type { Tables } from "../database/tables.ts";
import type { Queries } from "../database/transaction.ts";
import { newId } from "../id.adapter.ts";

/** Somebody in an organization with a cluster, to whom rows that grow old belong. */
export interface Owner {
  readonly userId: string;
  readonly orgId: string;
  readonly clusterId: string;
}

export async function insertOwner(db: Queries, now: Date): Promise<Owner> {
  const [userId, orgId] = [newId(), newId()];
  const times = { created_at: now, updated_at: now };
  await db
    .insertInto("tiers")
    .values({ name: "free", ...times })
    .execute();
  const person = {
    name: "Ada",
    username: "ada",
    email: "ada@example.com",
    password_hash: "-",
    profile_image_url: null,
  };
  await db
    .insertInto("users")
    .values({ id: userId, ...person, tier_name: "free", ...times })
    .execute();
  await db
    .insertInto("orgs")
    .values({ id: orgId, name: "Demo", slug: "demo", description: null, settings: "{}", ...times })
    .execute();
  return { userId, orgId, clusterId: await insertCluster(db, orgId) };
}

/** Inserts one row that is this old, in the sense of its table. */
type InsertAged = (at: Date) => Promise<unknown>;

type Aged = Partial<Record<keyof Tables, InsertAged>>;

/** One row of each table whose rows grow old. */
export const agedRows = (db: Queries, owner: Owner) => ({ ...agedAccounts(db, owner), ...agedWork(db, owner) });

function agedAccounts(db: Queries, { userId }: Owner) {
  return {
    sessions: (at) =>
      db
        .insertInto("sessions")
        .values({ id: newId(), user_id: userId, created_at: at, expires_at: at, last_used_at: at })
        .execute(),
    device_logins: (at) =>
      db
        .insertInto("device_logins")
        .values({
          id: newId(),
          device_code_digest: randomBytes(32),
          user_code: newId(),
          client_name: "cli",
          scopes: sql`'{}'`,
          status: "pending",
          user_id: null,
          interval_seconds: 5,
          last_asked_at: null,
          created_at: at,
          expires_at: at,
        })
        .execute(),
    cli_tokens: (at) =>
      db
        .insertInto("cli_tokens")
        .values({
          id: newId(),
          user_id: userId,
          name: "laptop",
          token_digest: randomBytes(32),
          scopes: sql`'{}'`,
          expires_at: at,
          created_at: at,
          updated_at: at,
        })
        .execute(),
    login_tallies: (at) =>
      db.insertInto("login_tallies").values({ key: newId(), tally: "{}", updated_at: at }).execute(),
    idempotency_keys: (at) =>
      db
        .insertInto("idempotency_keys")
        .values({ user_id: userId, key: newId(), sealed_answer: null, created_at: at })
        .execute(),
  } satisfies Aged;
}

function agedWork(db: Queries, { orgId, clusterId }: Owner) {
  return {
    jobs: (at) =>
      db
        .insertInto("jobs")
        .values({
          id: newId(),
          kind: "ping",
          payload: "{}",
          status: "failed",
          run_at: at,
          created_at: at,
          updated_at: at,
          finished_at: at,
        })
        .execute(),
    provisioning_log_lines: async (at) => {
      const id = newId();
      const times = { created_at: at, updated_at: at };
      const job = {
        id,
        cluster_id: clusterId,
        org_id: orgId,
        action: "create",
        status: "failed",
        phase: "done",
      } as const;
      await db
        .insertInto("provisioning_jobs")
        .values({ ...job, ...times })
        .execute();
      await db.insertInto("provisioning_log_lines").values({ job_id: id, at, line: "planned" }).execute();
    },
    metric_samples: (at) =>
      db.insertInto("metric_samples").values({ cluster_id: clusterId, at, sample: "{}" }).execute(),
    operator_upgrades: (at) =>
      db
        .insertInto("operator_upgrades")
        .values({
          id: newId(),
          org_id: orgId,
          to_version: "0.1.0",
          digest: null,
          batch_size: 1,
          stop_on_failure: true,
          status: "succeeded",
          created_by: null,
          created_at: at,
          updated_at: at,
          finished_at: at,
        })
        .execute(),
    audit_log: (at) =>
      sql`insert into audit_log (id, at, org_id, via, action, resource_type, changes)
        values (${v7({ msecs: at.getTime() })}, ${at}, ${orgId}, 'user', 'org.update', 'org', '{}')`.execute(db),
  } satisfies Aged;
}

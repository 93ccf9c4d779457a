import { sql } from "kysely";
import type { DeclaredMigration } from "../migration.ts";
import { counted } from "./counted.ts";

const PARTITIONED_INDEXES = ["by_org", "by_actor", "by_resource", "by_time"];
/** They are built after the migrations, so they may not be there yet. */
const LATER_INDEXES = ["by_action", "by_type"];

/**
 * The audit log has partitions by the time in its ids. What is there becomes the default partition as it is: nothing is read or
 * written. A worker separates it from what comes later, and makes a partition for each month.
 */
export const partitionedAuditLog: DeclaredMigration = {
  oldestRelease: "0.1.0",
  locks: { audit_log: "ACCESS EXCLUSIVE" },
  steps: [
    sql`alter table audit_log rename to audit_log_default`,
    sql`drop trigger count_inserted on audit_log_default`,
    sql`drop trigger count_deleted on audit_log_default`,
    sql`alter index audit_log_pkey rename to audit_log_default_pkey`,
    ...[...PARTITIONED_INDEXES, ...LATER_INDEXES].map((suffix) =>
      sql.raw(`alter index if exists audit_log_${suffix} rename to audit_log_default_${suffix}`),
    ),
    sql`create table audit_log (
      id uuid primary key,
      at timestamptz not null,
      org_id uuid,
      actor_id uuid,
      actor_email text,
      via text not null constraint audit_log_via_check check (via in ('user', 'cli_token', 'system')),
      source_address text,
      action text not null,
      resource_type text not null,
      resource_id text,
      resource_name text,
      changes jsonb not null,
      request_id text,
      summary text
    ) partition by range (id)`,
    sql`create index audit_log_by_org on audit_log (org_id, id desc)`,
    sql`create index audit_log_by_actor on audit_log (org_id, actor_id, id desc) where actor_id is not null`,
    sql`create index audit_log_by_resource on audit_log (org_id, resource_id, id desc) where resource_id is not null`,
    sql`create index audit_log_by_time on audit_log (org_id, at)`,
    sql`alter table audit_log attach partition audit_log_default default`,
    ...counted("audit_log", "org_id"),
  ],
};

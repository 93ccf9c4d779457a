import { sql } from "kysely";
import type { DeclaredMigration } from "../migration.ts";

/** Changes of desired state that wait to be written to Git, and the commits of those that were. */
export const gitopsChanges: DeclaredMigration = {
  oldestRelease: "0.1.0",
  locks: { clusters: "SHARE ROW EXCLUSIVE" },
  steps: [
    // A row without files is a commit of the whole state, as it is when the row is read.
    sql`create table gitops_outbox (
      cluster_id uuid not null references clusters on delete cascade,
      revision bigint not null,
      org_id uuid not null,
      at timestamptz not null,
      summary text not null,
      author_name text,
      author_email text,
      audit_id uuid,
      request_id text,
      files jsonb,
      resources jsonb not null,
      bytes integer not null,
      primary key (cluster_id, revision)
    )`,
    sql`create index gitops_outbox_by_org on gitops_outbox (org_id) include (bytes)`,
    sql`create table gitops_commits (
      resource_id uuid not null,
      generation bigint not null,
      cluster_id uuid not null references clusters on delete cascade,
      revision bigint not null,
      commit_id text not null,
      primary key (resource_id, generation)
    )`,
    sql`create index gitops_commits_by_cluster on gitops_commits (cluster_id, revision)`,
  ],
};

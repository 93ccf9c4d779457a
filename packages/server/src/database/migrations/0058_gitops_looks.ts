import { sql } from "kysely";
import type { DeclaredMigration } from "../migration.ts";

/** When the head of a repository was last seen at its host, and when it is to be looked at again. */
export const gitopsLooks: DeclaredMigration = {
  oldestRelease: "0.1.0",
  locks: { gitops_repositories: "ACCESS EXCLUSIVE" },
  steps: [
    // All of them are due after the upgrade: nothing is known of repositories in which nothing has changed since.
    sql`alter table gitops_repositories add column observed_at timestamptz, add column look_at timestamptz not null default now()`,
    sql`create index gitops_repositories_by_look on gitops_repositories (org_id, look_at)`,
  ],
};

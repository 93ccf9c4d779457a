import { sql } from "kysely";
import type { DeclaredMigration } from "../migration.ts";

/** How the machines of a cluster reach what is outside of their network. Null where they reach it without a proxy and mirrors. */
export const machineEgress: DeclaredMigration = {
  oldestRelease: "0.1.0",
  locks: { clusters: "ACCESS EXCLUSIVE" },
  steps: [sql`alter table clusters add column egress jsonb`],
};

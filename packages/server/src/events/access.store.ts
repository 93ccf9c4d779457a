import type { BindingRole, OrgRole } from "@binnacle/contract";
import { sql } from "kysely";
import type { Queries } from "../database/transaction.ts";
import type { Access } from "./audience.ts";

/** What the users of these sessions may see now; a session that no longer counts is not among them. */
export type AccessOf = (sessionIds: readonly string[], now: Date) => Promise<ReadonlyMap<string, Access>>;

interface Row {
  session_id: string;
  is_superuser: boolean;
  orgs: [string, OrgRole][];
  clusters: [string, BindingRole][];
  projects: [string, BindingRole][];
}

/** One statement, so that all of it is true at one and the same moment. */
export const accessOfSessions =
  (db: Queries): AccessOf =>
  async (sessionIds, now) => {
    const { rows } = await sql<Row>`
      select s.id as session_id, u.is_superuser,
        coalesce((select jsonb_agg(jsonb_build_array(m.org_id, m.role)) from memberships m where m.user_id = u.id), '[]') as orgs,
        coalesce((select jsonb_agg(jsonb_build_array(b.cluster_id, b.role)) from role_bindings b
          where b.user_id = u.id and b.cluster_id is not null), '[]') as clusters,
        coalesce((select jsonb_agg(jsonb_build_array(b.project_id, b.role)) from role_bindings b
          where b.user_id = u.id and b.project_id is not null), '[]') as projects
      from sessions s join users u on u.id = s.user_id
      where s.id = any (${sessionIds}::uuid[]) and s.ended_at is null and s.expires_at > ${now}
        and not u.disabled
    `.execute(db);
    return new Map(
      rows.map((row) => [
        row.session_id,
        {
          isSuperuser: row.is_superuser,
          orgRoles: new Map(row.orgs),
          clusterRoles: new Map(row.clusters),
          projectRoles: new Map(row.projects),
        },
      ]),
    );
  };

import { createHash } from "node:crypto";
import type { Scope } from "@binnacle/contract";
import type { Statement as Prepared } from "../database/prepared-query.adapter.ts";
import type { Boundary, Caller, Credential } from "./caller.ts";

const CALLER_COLUMNS = `u.id as caller_id, u.email as caller_email, u.is_superuser as caller_is_superuser, u.tier_name as caller_tier`;

/** $1 is the credential, $2 the time. Only a CLI token can be bound to a place. */
const CALLER = {
  session: `select ${CALLER_COLUMNS}, s.id as caller_credential_id, null::text[] as caller_scopes,
      null::timestamptz as caller_last_used_at, null::uuid as caller_org_id, null::uuid as caller_project_id,
      null::timestamptz as caller_expires_at
    from sessions s join users u on u.id = s.user_id
    where s.id = $1 and s.ended_at is null and s.expires_at > $2 and not u.disabled`,
  cli_token: `select ${CALLER_COLUMNS}, t.id as caller_credential_id, t.scopes as caller_scopes, t.last_used_at as caller_last_used_at,
      t.org_id as caller_org_id, t.project_id as caller_project_id, t.expires_at as caller_expires_at
    from cli_tokens t join users u on u.id = t.user_id
    where t.token_digest = $1 and t.expires_at > $2 and not u.disabled`,
} as const;

/** A prepared statement that begins with the CTE `caller`, for each kind of credential. */
export type Statement = Readonly<Record<Credential["kind"], Prepared>>;

export const statement = (name: string, text: string): Statement => ({
  session: prepared(name, `with caller as (${CALLER.session}) ${text}`),
  cli_token: prepared(name, `with caller as (${CALLER.cli_token}) ${text}`),
});

/** The digest keeps statements apart to which two slices give the same name. PostgreSQL reads 63 characters of a name. */
function prepared(name: string, text: string): Prepared {
  const digest = createHash("sha256").update(text).digest("base64url").slice(0, 12);
  return { name: `${digest} ${name}`.slice(0, 63), text };
}

/** The columns of the caller, with which every row of such a statement begins. */
export interface CallerRow {
  caller_id: string;
  caller_email: string;
  caller_is_superuser: boolean;
  caller_tier: string;
  caller_credential_id: string;
  caller_scopes: Scope[] | null;
  /** These are null for a session. */
  caller_last_used_at: Date | null;
  caller_org_id: string | null;
  caller_project_id: string | null;
  caller_expires_at: Date | null;
}

/** Facts about the caller that are read together with the caller, as one short row. */
export interface CallerFacts<S> {
  readonly statement: Statement;
  /** Reads a row that `is_long`, and came without its facts. */
  readonly whole?: Statement;
  readonly factsOf: (row: never) => S;
}

export const ADMINISTERS_AN_ORG: CallerFacts<{ readonly administersAnOrg: boolean }> = {
  statement: statement(
    "administers an org",
    `select caller.*, exists (select from memberships where user_id = caller_id and role = 'admin') as administers from caller`,
  ),
  factsOf: ({ administers }: { readonly administers: boolean }) => ({ administersAnOrg: administers }),
};

/** The organization that a caller counts for where organizations share something; null for a caller who is in none. */
export const OLDEST_ORG: CallerFacts<{ readonly oldestOrgId: string | null }> = {
  statement: statement(
    "oldest org",
    `select caller.*, (select org_id from memberships where user_id = caller_id order by created_at, org_id limit 1) as oldest_org_id
      from caller`,
  ),
  factsOf: ({ oldest_org_id }: { readonly oldest_org_id: string | null }) => ({ oldestOrgId: oldest_org_id }),
};

export function callerOf(credential: Credential, row: CallerRow): Caller {
  return {
    id: row.caller_id,
    email: row.caller_email,
    isSuperuser: row.caller_is_superuser,
    tier: row.caller_tier,
    via: credential.kind === "session" ? "user" : "cli_token",
    credentialId: row.caller_credential_id,
    scopes: row.caller_scopes,
    boundary: boundaryOf(row.caller_org_id, row.caller_project_id),
    tokenExpiresAt: row.caller_expires_at,
  };
}

export function boundaryOf(orgId: string | null | undefined, projectId: string | null | undefined): Boundary | null {
  if (projectId) return { project_id: projectId };
  return orgId ? { org_id: orgId } : null;
}

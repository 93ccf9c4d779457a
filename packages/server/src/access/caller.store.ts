import type { Scope } from "@binnacle/contract";
import type { Statement as Prepared } from "../database/prepared-query.adapter.ts";
import type { Boundary, Caller, Credential } from "./caller.ts";

const CALLER_COLUMNS = `u.id as caller_id, u.email as caller_email, u.is_superuser as caller_is_superuser, u.tier_name as caller_tier`;

/** $1 is the credential, $2 the time. */
const CALLER = {
  session: `select ${CALLER_COLUMNS}, s.id as caller_credential_id, null::text[] as caller_scopes
    from sessions s join users u on u.id = s.user_id
    where s.id = $1 and s.ended_at is null and s.expires_at > $2 and not u.disabled`,
  cli_token: `select ${CALLER_COLUMNS}, t.id as caller_credential_id, t.scopes as caller_scopes, t.last_used_at as caller_last_used_at,
      t.org_id as caller_org_id, t.project_id as caller_project_id, t.expires_at as caller_expires_at
    from cli_tokens t join users u on u.id = t.user_id
    where t.token_digest = $1 and t.expires_at > $2 and not u.disabled`,
} as const;

/** A prepared statement that begins with the caller, for each kind of credential. */
export type Statement = Readonly<Record<Credential["kind"], Prepared>>;

/**
 * The text is put together once, at the start of the process. Only a CLI token can be bound to a place, so the statements of
 * sessions contain nothing about boundaries.
 */
export const statement = (name: string, sqlFor: (kind: Credential["kind"]) => string): Statement => ({
  session: { name: `${name} by session`, text: `with caller as (${CALLER.session}) ${sqlFor("session")}` },
  cli_token: { name: `${name} by token`, text: `with caller as (${CALLER.cli_token}) ${sqlFor("cli_token")}` },
});

/** The columns of the caller, with which every row of such a statement begins. */
export interface CallerRow {
  caller_id: string;
  caller_email: string;
  caller_is_superuser: boolean;
  caller_tier: string;
  caller_credential_id: string;
  caller_scopes: Scope[] | null;
  /** Only a CLI token has these. */
  caller_last_used_at?: Date | null;
  caller_org_id?: string | null;
  caller_project_id?: string | null;
  caller_expires_at?: Date;
}

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
    tokenExpiresAt: row.caller_expires_at ?? null,
  };
}

export function boundaryOf(orgId: string | null | undefined, projectId: string | null | undefined): Boundary | null {
  if (projectId) return { project_id: projectId };
  return orgId ? { org_id: orgId } : null;
}

import type { OrgRole, Scope } from "@binnacle/contract";
import type pg from "pg";
import { cliTokenUses, worthNotingSince } from "../accounts/cli-token-use.ts";
import type { Org } from "../orgs/org.ts";
import type { Caller, Credential } from "./caller.ts";

/**
 * What a request can see, read in one round trip: whether its credential still counts, who the caller is, the place the
 * request is about and the caller's role there. Nothing of it is cached, so a logout, a role taken away or a user
 * deleted holds from the next request on, on every replica.
 */
export interface SightStore {
  caller(credential: Credential, now: Date): Promise<Caller | null>;
  org(credential: Credential, orgId: string, now: Date): Promise<OrgSight | null>;
}

export interface OrgSight {
  readonly caller: Caller;
  readonly org: Org | null;
  readonly role: OrgRole | null;
}

const CALLER_COLUMNS = `u.id as caller_id, u.email as caller_email, u.is_superuser as caller_is_superuser, u.tier_name as caller_tier`;

/** $1 is the credential, $2 the time. */
const CALLER = {
  session: `select ${CALLER_COLUMNS}, s.id as credential_id, null::text[] as scopes
    from sessions s join users u on u.id = s.user_id
    where s.id = $1 and s.ended_at is null and s.expires_at > $2`,
  cli_token: `select ${CALLER_COLUMNS}, t.id as credential_id, t.scopes, t.last_used_at
    from cli_tokens t join users u on u.id = t.user_id
    where t.token_digest = $1 and t.expires_at > $2`,
} as const;

const ORG = `select caller.*, o.*, m.role
  from caller left join orgs o on o.id = $3 left join memberships m on m.org_id = o.id and m.user_id = caller.caller_id`;

/** For the benchmark, which holds Binnacle against this statement written by hand. */
export const SEE_ORG_BY_SESSION = `with caller as (${CALLER.session}) ${ORG}`;

/** The condition holds across replicas: of several that note a use at once, one writes. */
const NOTE_USE = `update cli_tokens set last_used_at = $2 where id = $1 and (last_used_at is null or last_used_at <= $3)`;

interface CallerRow {
  caller_id: string;
  caller_email: string;
  caller_is_superuser: boolean;
  caller_tier: string;
  credential_id: string;
  scopes: Scope[] | null;
  /** Of a CLI token only. */
  last_used_at?: Date | null;
}

interface OrgRow extends CallerRow, Org {
  role: OrgRole | null;
}

export function sightStore(pool: pg.Pool): SightStore {
  const noteUse = cliTokenUses((tokenId, now) => pool.query(NOTE_USE, [tokenId, now, worthNotingSince(now)]));

  /** Named, so that each connection parses and plans it once. */
  async function look<R extends CallerRow>(
    name: string,
    credential: Credential,
    now: Date,
    sql: string,
    values: unknown[] = [],
  ) {
    const key = credential.kind === "session" ? credential.sessionId : credential.digest;
    const text = `with caller as (${CALLER[credential.kind]}) ${sql}`;
    const { rows } = await pool.query<R>({ name: `${name}:${credential.kind}`, text, values: [key, now, ...values] });
    const row = rows[0] ?? null;
    if (row && credential.kind === "cli_token") noteUse(row.credential_id, row.last_used_at ?? null, now);
    return row;
  }

  return {
    async caller(credential, now) {
      const row = await look("see_caller", credential, now, "select * from caller");
      return row && callerOf(credential, row);
    },
    async org(credential, orgId, now) {
      const row = await look<OrgRow>("see_org", credential, now, ORG, [orgId]);
      return row && { caller: callerOf(credential, row), org: row.id === null ? null : row, role: row.role };
    },
  };
}

function callerOf(credential: Credential, row: CallerRow): Caller {
  return {
    id: row.caller_id,
    email: row.caller_email,
    isSuperuser: row.caller_is_superuser,
    tier: row.caller_tier,
    via: credential.kind === "session" ? "user" : "cli_token",
    credentialId: row.credential_id,
    scopes: row.scopes,
  };
}

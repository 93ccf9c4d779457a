import type { BindingRole, OrgRole, Scope } from "@binnacle/contract";
import type pg from "pg";
import { cliTokenUses, worthNotingSince } from "../accounts/cli-token-use.ts";
import type { AppAddress, SeenApp } from "../apps/app.ts";
import type { Cluster } from "../clusters/cluster.ts";
import type { Org } from "../orgs/org.ts";
import type { Project } from "../projects/project.ts";
import type { Caller, Credential } from "./caller.ts";
import { firstRowOf, type Statement as Prepared } from "./prepared-query.adapter.ts";
import { strongest } from "./role.ts";

/**
 * What a request can see, read in one round trip: whether its credential still counts, who the caller is, the place the
 * request is about and the caller's role there. Nothing of it is cached, so a logout, a role taken away or a user
 * deleted holds from the next request on, on every replica.
 */
export interface SightStore {
  caller(credential: Credential, now: Date): Promise<Caller | null>;
  org(credential: Credential, orgId: string, now: Date): Promise<OrgSight | null>;
  cluster(credential: Credential, clusterId: string, now: Date): Promise<PlaceSight<Cluster> | null>;
  project(credential: Credential, projectId: string, now: Date): Promise<PlaceSight<Project> | null>;
  app(credential: Credential, address: AppAddress, now: Date): Promise<PlaceSight<SeenApp> | null>;
  administersAnyOrg(userId: string): Promise<boolean>;
}

export interface OrgSight {
  readonly caller: Caller;
  readonly org: Org | null;
  readonly role: OrgRole | null;
}

/** A cluster, a project or an app, with the caller's role in its organization and the strongest one bound on it. */
export interface PlaceSight<P> {
  readonly caller: Caller;
  readonly place: P | null;
  readonly orgRole: OrgRole | null;
  readonly bindingRole: BindingRole | null;
}

const CALLER_COLUMNS = `u.id as caller_id, u.email as caller_email, u.is_superuser as caller_is_superuser, u.tier_name as caller_tier`;

/** $1 is the credential, $2 the time. */
const CALLER = {
  session: `select ${CALLER_COLUMNS}, s.id as caller_credential_id, null::text[] as caller_scopes
    from sessions s join users u on u.id = s.user_id
    where s.id = $1 and s.ended_at is null and s.expires_at > $2 and not u.disabled`,
  cli_token: `select ${CALLER_COLUMNS}, t.id as caller_credential_id, t.scopes as caller_scopes, t.last_used_at as caller_last_used_at
    from cli_tokens t join users u on u.id = t.user_id
    where t.token_digest = $1 and t.expires_at > $2 and not u.disabled`,
} as const;

const ORG = `select caller.*, o.*, m.role as org_role
  from caller left join orgs o on o.id = $3 left join memberships m on m.org_id = o.id and m.user_id = caller.caller_id`;

const CLUSTER = `select caller.*, c.*, m.role as org_role, b.role as cluster_role, null as project_role,
    s.lease_until as session_lease_until, j.action as job_action, j.status as job_status, j.phase as job_phase,
    j.error_message as job_error_message
  from caller left join clusters c on c.id = $3
    left join memberships m on m.org_id = c.org_id and m.user_id = caller.caller_id
    left join role_bindings b on b.cluster_id = c.id and b.user_id = caller.caller_id
    left join cluster_sessions s on s.cluster_id = c.id
    left join lateral (
      select action, status, phase, error_message from provisioning_jobs where cluster_id = c.id order by id desc limit 1
    ) j on true`;

const PROJECT = `select caller.*, p.*, m.role as org_role, c.role as cluster_role, b.role as project_role
  from caller left join projects p on p.id = $3
    left join memberships m on m.org_id = p.org_id and m.user_id = caller.caller_id
    left join role_bindings c on c.cluster_id = p.cluster_id and c.user_id = caller.caller_id
    left join role_bindings b on b.project_id = p.id and b.user_id = caller.caller_id`;

/** The keys of its secrets come along, because every read of an app shows them. */
const APP = `select caller.*, a.*, m.role as org_role, c.role as cluster_role, b.role as project_role,
    array(select k.component || '/' || k.key from app_secrets k where k.app_id = a.id order by k.component, k.key) as secret_paths
  from caller left join apps a on a.project_id = $3 and a.namespace = $4 and a.name = $5
    left join memberships m on m.org_id = a.org_id and m.user_id = caller.caller_id
    left join role_bindings c on c.cluster_id = a.cluster_id and c.user_id = caller.caller_id
    left join role_bindings b on b.project_id = a.project_id and b.user_id = caller.caller_id`;

type Statement = Readonly<Record<Credential["kind"], Prepared>>;

/** Written once, so that no request puts the text together. */
const statement = (name: string, sql: string): Statement => ({
  session: { name: `${name} by session`, text: `with caller as (${CALLER.session}) ${sql}` },
  cli_token: { name: `${name} by token`, text: `with caller as (${CALLER.cli_token}) ${sql}` },
});

/** The benchmarks hold Binnacle against these very statements written by hand. */
export const SEE = {
  caller: statement("see caller", "select * from caller"),
  org: statement("see org", ORG),
  cluster: statement("see cluster", CLUSTER),
  project: statement("see project", PROJECT),
  app: statement("see app", APP),
};

/** The condition holds across replicas: of several that note a use at once, one writes. */
const NOTE_USE = `update cli_tokens set last_used_at = $2 where id = $1 and (last_used_at is null or last_used_at <= $3)`;

interface CallerRow {
  caller_id: string;
  caller_email: string;
  caller_is_superuser: boolean;
  caller_tier: string;
  caller_credential_id: string;
  caller_scopes: Scope[] | null;
  /** Of a CLI token only. */
  caller_last_used_at?: Date | null;
}

interface OrgRow extends CallerRow, Org {
  org_role: OrgRole | null;
}

type PlaceRow<P> = CallerRow & {
  id: string | null;
  org_role: OrgRole | null;
  cluster_role: BindingRole | null;
  project_role: BindingRole | null;
} & P;

export function sightStore(pool: pg.Pool): SightStore {
  const noteUse = cliTokenUses((tokenId, now) => pool.query(NOTE_USE, [tokenId, now, worthNotingSince(now)]));

  const firstRow = firstRowOf(pool);

  async function look<R extends CallerRow>(
    statement: Statement,
    credential: Credential,
    now: Date,
    values: readonly string[] = [],
  ): Promise<R | null> {
    const key = credential.kind === "session" ? credential.sessionId : credential.digest;
    const row = await firstRow<R>(statement[credential.kind], [key, now.toISOString(), ...values]);
    if (row && credential.kind === "cli_token") noteUse(row.caller_credential_id, row.caller_last_used_at ?? null, now);
    return row;
  }

  return {
    async caller(credential, now) {
      const row = await look(SEE.caller, credential, now);
      return row && callerOf(credential, row);
    },
    async org(credential, orgId, now) {
      const row = await look<OrgRow>(SEE.org, credential, now, [orgId]);
      return row && { caller: callerOf(credential, row), org: row.id === null ? null : row, role: row.org_role };
    },
    async cluster(credential, clusterId, now) {
      const row = await look<PlaceRow<Cluster>>(SEE.cluster, credential, now, [clusterId]);
      return row && placeOf<Cluster>(credential, row);
    },
    async project(credential, projectId, now) {
      const row = await look<PlaceRow<Project>>(SEE.project, credential, now, [projectId]);
      return row && placeOf<Project>(credential, row);
    },
    async app(credential, { projectId, namespace, name }, now) {
      const row = await look<PlaceRow<SeenApp>>(SEE.app, credential, now, [projectId, namespace, name]);
      return row && placeOf<SeenApp>(credential, row);
    },
    async administersAnyOrg(userId) {
      const { rowCount } = await pool.query({
        name: "see_administered",
        text: "select 1 from memberships where user_id = $1 and role = 'admin' limit 1",
        values: [userId],
      });
      return rowCount === 1;
    },
  };
}

function placeOf<P>(credential: Credential, row: PlaceRow<P>): PlaceSight<P> {
  return {
    caller: callerOf(credential, row),
    place: row.id === null ? null : row,
    orgRole: row.org_role,
    bindingRole: strongest([row.cluster_role, row.project_role]),
  };
}

function callerOf(credential: Credential, row: CallerRow): Caller {
  return {
    id: row.caller_id,
    email: row.caller_email,
    isSuperuser: row.caller_is_superuser,
    tier: row.caller_tier,
    via: credential.kind === "session" ? "user" : "cli_token",
    credentialId: row.caller_credential_id,
    scopes: row.caller_scopes,
  };
}

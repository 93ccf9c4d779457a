import type { JobStatus, OrgRole, Scope, Via } from "@binnacle/contract";
import type { Generated } from "kysely";
import type { Tally } from "../accounts/login-throttle.ts";
import type { FleetTables, Json, Timestamps } from "./fleet-tables.ts";
import type { GitopsTables } from "./gitops-tables.ts";
import type { OperatorUpgradeTables } from "./operator-upgrade-tables.ts";
import type { ProvisioningTables } from "./provisioning-tables.ts";

/** The types of all tables, as the migrations create them. */
export interface Tables extends FleetTables, GitopsTables, OperatorUpgradeTables, ProvisioningTables {
  audit_log: AuditLogTable;
  cli_tokens: CliTokenTable;
  device_logins: DeviceLoginTable;
  event_log: EventLogTable;
  event_log_head: EventLogHeadTable;
  event_log_pruned: EventLogPrunedTable;
  idempotency_keys: IdempotencyKeyTable;
  jobs: JobTable;
  login_tallies: LoginTallyTable;
  memberships: MembershipTable;
  orgs: OrgTable;
  rate_limits: RateLimitTable;
  rate_usage: RateUsageTable;
  refused_sign_ins: RefusedSignInsTable;
  row_counts: RowCountTable;
  sessions: SessionTable;
  tiers: TierTable;
  users: UserTable;
}

export interface UserTable extends Timestamps {
  id: string;
  name: string;
  username: string;
  email: string;
  /** A superuser has set or confirmed the address. */
  email_verified: Generated<boolean>;
  /** The organizations whose administrators have set the address. */
  email_vouched_by: Generated<string[]>;
  password_hash: string;
  profile_image_url: string | null;
  is_superuser: Generated<boolean>;
  disabled: Generated<boolean>;
  tier_name: string;
}

interface SessionTable {
  id: string;
  user_id: string;
  created_at: Date;
  expires_at: Date;
  ended_at: Date | null;
  source_address: string | null;
  user_agent: string | null;
  /** The time and the address of the last refresh of an access token. */
  last_used_at: Date;
  last_used_address: string | null;
  client_name: string | null;
}

interface CliTokenTable extends Timestamps {
  id: string;
  user_id: string;
  name: string;
  token_digest: Buffer;
  scopes: Scope[];
  org_id: string | null;
  project_id: string | null;
  expires_at: Date;
  last_used_at: Date | null;
  last_used_address: string | null;
  expiry_announced_at: Date | null;
}

interface EventLogTable {
  recorded: Generated<number>;
  /** Null until the row has its place in the order in which all are delivered. */
  position: number | null;
  topic: string;
  org_id: string | null;
  bytes: number;
  message: string;
  created_at: Generated<Date>;
}

interface EventLogHeadTable {
  log_id: Generated<string>;
  position: number;
}

interface EventLogPrunedTable {
  org_id: string;
  position: number;
}

interface DeviceLoginTable {
  id: string;
  device_code_digest: Buffer;
  user_code: string;
  client_name: string;
  kind: Generated<"token" | "session">;
  source_address: string | null;
  scopes: Scope[];
  org_id: string | null;
  project_id: string | null;
  status: "pending" | "approved" | "denied" | "claimed";
  user_id: string | null;
  interval_seconds: number;
  last_asked_at: Date | null;
  created_at: Date;
  expires_at: Date;
}

interface LoginTallyTable {
  key: string;
  tally: Json<Tally>;
  updated_at: Date;
}

export interface OrgTable extends Timestamps {
  id: string;
  name: string;
  slug: string;
  description: string | null;
  settings: Json<Record<string, unknown>>;
}

interface MembershipTable extends Timestamps {
  org_id: string;
  user_id: string;
  role: OrgRole;
}

interface TierTable extends Timestamps {
  name: string;
}

interface RateLimitTable extends Timestamps {
  id: string;
  tier_name: string;
  path: string;
  limit_count: number;
  period_seconds: number;
  name: string | null;
}

interface RateUsageTable {
  user_id: string;
  tier_name: string;
  path: string;
  window_started_at: Date;
  spent: number;
}

interface RefusedSignInsTable {
  user_id: string;
  window_started_at: Date;
  refused: number;
}

interface AuditLogTable {
  id: string;
  at: Date;
  org_id: string | null;
  actor_id: string | null;
  actor_email: string | null;
  via: Via;
  source_address: string | null;
  action: string;
  resource_type: string;
  resource_id: string | null;
  resource_name: string | null;
  changes: Json<Record<string, unknown>>;
  /** Null where the entry is not about fields. */
  summary: string | null;
  request_id: string | null;
}

interface IdempotencyKeyTable {
  user_id: string;
  key: string;
  sealed_answer: string | null;
  created_at: Date;
}

interface RowCountTable {
  relation: string;
  scope: Generated<string>;
  delta: number;
}

export interface JobTable extends Timestamps {
  id: string;
  kind: string;
  /** Jobs of one lane run one at a time; null means no lane. */
  lane: string | null;
  /** Workers serve tenants in turn. */
  tenant_id: Generated<string>;
  payload: Json<Record<string, unknown>>;
  status: JobStatus;
  attempts: Generated<number>;
  /** Null until the first claim if the handler decides the number. */
  max_attempts: number | null;
  run_at: Date;
  /** The fencing token, raised with each claim. Writes of an earlier holder are refused by it. */
  fence: Generated<number>;
  worker_id: string | null;
  lease_until: Date | null;
  result: Json<Record<string, unknown>> | null;
  error_message: string | null;
  created_by: string | null;
  started_at: Date | null;
  finished_at: Date | null;
}

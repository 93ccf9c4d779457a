import type { BindingRole, OrgRole } from "@binnacle/contract";
import { cliTokenUseRecorder, lastUseThreshold } from "../accounts/cli-token.ts";
import type { ListedInstance, ShownInstance } from "../addons/addon.ts";
import type { AppAddress, AppWithSecretPaths, ListedApp } from "../apps/app.ts";
import type { Cluster } from "../clusters/cluster.ts";
import { connectionOf, surroundingsOf } from "../clusters/freshness.store.ts";
import type { Credential as CloudCredential } from "../credentials/credential.ts";
import { ROWS_AT_ONCE } from "../database/bounded-query.adapter.ts";
import {
  columnsOf,
  journalOf,
  LONG_ADDON_COLUMNS,
  LONG_APP_COLUMNS,
  type Long,
  longOf,
  SHORT_ADDON_COLUMNS,
  SHORT_APP_COLUMNS,
  SHORT_CLUSTER_COLUMNS,
} from "../database/columns.ts";
import type { Database } from "../database/connection.adapter.ts";
import { boundedReadsFrom, type ReadRows, readsFrom } from "../database/pipeline.adapter.ts";
import { ENOUGH_CHARACTERS } from "../http/pagination.ts";
import type { ListedOrg, Org } from "../orgs/org.ts";
import type { ConnectedProject } from "../projects/project.ts";
import type { ProvisioningJob } from "../provisioning/provisioning.ts";
import { type CallerRow, callerOf, type Statement, statement } from "./caller.store.ts";
import type { Caller, Credential } from "./caller.ts";
import {
  type ContentFilter,
  FIRST_ROWS,
  type InstanceFilter,
  LISTS,
  type List,
  type OrgFilter,
  type ProjectListFilter,
} from "./list.store.ts";
import { ME, type Me, type MeRow, OWN_ACCESS, type OwnAccess, type OwnAccessRow, recordOf } from "./own-roles.store.ts";
import { type Located, strongest } from "./role.ts";

/**
 * Reads in one round trip whether a credential is still valid, who the caller is, the place that a request names and the
 * caller's roles there. Null means that the credential is not valid. Nothing is cached, so a logout, a role that is taken
 * away or a deleted user takes effect with the next request, on every replica.
 */
export interface PlaceStore {
  caller(credential: Credential, now: Date): Promise<Caller | null>;
  me(credential: Credential, now: Date): Promise<Me | null>;
  ownAccess(credential: Credential, now: Date): Promise<OwnAccess | null>;
  org: FindPlace<Org>;
  cluster: FindPlace<Cluster>;
  project: FindPlace<ConnectedProject>;
  app: FindPlace<AppWithSecretPaths, AppAddress>;
  addonInstance: FindPlace<ShownInstance>;
  cloudCredential: FindPlace<CloudCredential>;
  provisioningJob: FindPlace<ProvisioningJob>;
  orgs: FindList<ListedOrg, OrgFilter>;
  projects: FindList<ConnectedProject, ProjectListFilter>;
  apps: FindList<ListedApp, ContentFilter>;
  addonInstances: FindList<ListedInstance, InstanceFilter>;
  administersAnyOrg(userId: string): Promise<boolean>;
}

export type FindPlace<P, A = string> = (credential: Credential, address: A, now: Date) => Promise<Located<P> | null>;

/** A page of the objects that the caller sees, newest first, and how many there are. */
export interface Listed<R> {
  readonly caller: Caller;
  readonly rows: R[];
  readonly total: number;
}

export interface Window {
  readonly limit: number;
  readonly offset: number;
}

export type FindList<R, F = unknown> = (
  credential: Credential,
  filter: F,
  window: Window,
  now: Date,
) => Promise<Listed<R> | null>;

interface Kind {
  readonly table: string;
  /** Finds the one row `p`; its parameters start with $3. */
  readonly where?: string;
  /** The short columns of the row. */
  readonly own?: string;
  readonly long?: Long;
  /** Further columns, and the joins that bring them. */
  readonly columns?: string;
  readonly joins?: string;
  /** The columns of the row that name its organization, cluster and project. */
  readonly org?: string;
  readonly cluster?: string;
  readonly project?: string;
}

/**
 * A place of one kind, with the caller's role in its organization and the roles bound on its cluster and project. A row that is
 * `is_long` comes without its long columns unless it is read `whole`.
 */
function place(
  name: string,
  { table, where = "p.id = $3", own = "p.*", long, columns, joins = "", org = "org_id", cluster, project }: Kind,
  form: "short" | "whole" = "short",
): Statement {
  const bound = (alias: string, column: string, id: string | undefined) =>
    id
      ? `left join role_bindings ${alias} on ${alias}.${column} = p.${id} and ${alias}.user_id = caller.caller_id`
      : "";
  const selected = [
    `caller.*, ${own}, m.role as org_role`,
    ...Object.entries(long?.columns ?? {}).map(([column, text]) =>
      form === "whole" ? `${text} as ${column}` : `case when not long.is_long then ${text} end as ${column}`,
    ),
    long && form === "short" ? "long.is_long" : undefined,
    cluster && "c.role as cluster_role",
    project && "b.role as project_role",
    columns,
  ].filter((part) => part !== undefined);
  const within = [
    `(caller.caller_org_id is null or p.${org} = caller.caller_org_id)`,
    project
      ? `(caller.caller_project_id is null or p.${project} = caller.caller_project_id)`
      : "caller.caller_project_id is null",
  ];
  return statement(
    form === "whole" ? `whole ${name} place` : `${name} place`,
    (kind) => `select ${selected.join(", ")} from caller
    left join ${table} p on ${[where, ...(kind === "cli_token" ? within : [])].join(" and ")}
    left join memberships m on m.org_id = p.${org} and m.user_id = caller.caller_id
    ${bound("c", "cluster_id", cluster)} ${bound("b", "project_id", project)} ${joins}
    ${long && form === "short" ? `left join lateral (select ${long.isLong} as is_long) long on true` : ""}`,
  );
}

const MOST_SECRETS = 100;
const longOfApp = longOf("p", LONG_APP_COLUMNS);

const APP: Kind = {
  table: "apps",
  where: "p.project_id = $3 and p.namespace = $4 and p.name = $5",
  cluster: "cluster_id",
  project: "project_id",
  own: columnsOf("p", SHORT_APP_COLUMNS),
  long: {
    columns: {
      ...longOfApp.columns,
      // The keys of its secrets come along, because every read of an app shows them.
      secret_paths: `array(
        select k.component || '/' || k.key from app_secrets k where k.app_id = p.id order by k.component, k.key
      )`,
    },
    isLong: `${longOfApp.isLong} or exists (select from app_secrets k where k.app_id = p.id offset ${MOST_SECRETS})`,
  },
  columns: surroundingsOf("p"),
};

const ADDON_INSTANCE: Kind = {
  table: "addon_instances",
  cluster: "cluster_id",
  project: "project_id",
  own: columnsOf("p", SHORT_ADDON_COLUMNS),
  long: longOf("p", LONG_ADDON_COLUMNS),
  columns: surroundingsOf("p"),
};

/** The benchmarks compare Binnacle with these very statements run by hand. */
export const STATEMENTS = {
  caller: statement("caller", () => "select * from caller"),
  me: ME,
  ownAccess: OWN_ACCESS,
  org: place("org", { table: "orgs", org: "id" }),
  cluster: place("cluster", {
    table: "clusters",
    cluster: "id",
    own: `${columnsOf("p", SHORT_CLUSTER_COLUMNS)}, ${journalOf("p")} as install_journal`,
    columns: `s.lease_until as session_lease_until, j.action as job_action, j.status as job_status, j.phase as job_phase,
      j.error_message as job_error_message`,
    joins: `left join cluster_sessions s on s.cluster_id = p.id
      left join lateral (
        select action, status, phase, error_message from provisioning_jobs where cluster_id = p.id and not dry_run
          order by id desc limit 1
      ) j on true`,
  }),
  project: place("project", { table: "projects", cluster: "cluster_id", project: "id", columns: connectionOf("p") }),
  app: place("app", APP),
  wholeApp: place("app", APP, "whole"),
  addonInstance: place("addon instance", ADDON_INSTANCE),
  wholeAddonInstance: place("addon instance", ADDON_INSTANCE, "whole"),
  cloudCredential: place("cloud credential", { table: "cloud_credentials" }),
  provisioningJob: place("provisioning job", { table: "provisioning_jobs", cluster: "cluster_id" }),
};

/** The condition holds across replicas: of several that record a use at once, one writes. */
const NOTE_USE = `update cli_tokens set last_used_at = $2, last_used_address = $4
  where id = $1 and (last_used_at is null or last_used_at <= $3)`;

type PlaceRow<P> = CallerRow & {
  id: string | null;
  is_long?: boolean | null;
  org_role: OrgRole | null;
  cluster_role?: BindingRole | null;
  project_role?: BindingRole | null;
} & P;

type ListRow<R> = CallerRow & { id: string | null; list_total: number } & R;

/**
 * Everybody waits for the pipeline, so only what is short passes there, in rows and in bytes: callers, places and the caller's
 * organizations. Long rows and all other lists come from the pool.
 */
export function placeStore({ pool, pipeline }: Pick<Database, "pool" | "pipeline">): PlaceStore {
  const recordUse = cliTokenUseRecorder(({ tokenId, address }, now) =>
    pool.query(NOTE_USE, [tokenId, now, lastUseThreshold(now), address]),
  );
  const readWhole = readsFrom(pool);
  const readLongList = boundedReadsFrom(pool, ENOUGH_CHARACTERS);

  /** Every row begins with the caller. There is none where the credential is not valid. */
  async function rowsOf<R extends CallerRow>(
    read: ReadRows,
    statement: Statement,
    credential: Credential,
    now: Date,
    values: readonly string[],
  ): Promise<R[]> {
    const key = credential.kind === "session" ? credential.sessionId : credential.digest;
    const rows = await read<R>(statement[credential.kind], [key, now.toISOString(), ...values]);
    const [row] = rows;
    if (row && credential.kind === "cli_token")
      recordUse(
        { tokenId: row.caller_credential_id, address: credential.sourceAddress },
        row.caller_last_used_at ?? null,
        now,
      );
    return rows;
  }

  const listing =
    <R, F = unknown>(
      listOf: (filter: F) => List,
      valuesOf: (filter: F) => readonly string[] = () => [],
    ): FindList<R, F> =>
    async (credential, filter, { limit, offset }, now) => {
      const list = listOf(filter);
      const isFirst = limit + offset <= FIRST_ROWS;
      // So few rows are read in one step anyway.
      const readList = limit <= ROWS_AT_ONCE ? readWhole : readLongList;
      const read = isFirst && list === LISTS.orgs ? pipeline.read : readList;
      const values = [String(limit), String(offset), ...valuesOf(filter)];
      const rows = await rowsOf<ListRow<R>>(read, isFirst ? list.first : list.deep, credential, now, values);
      const [first] = rows;
      if (!first) return null;
      // The page is empty where the only row has no id.
      return { caller: callerOf(credential, first), rows: first.id === null ? [] : rows, total: first.list_total };
    };
  const listingContent = <R>({ whole, ofOrg, ofProject, ofBoth }: (typeof LISTS)["apps"]) =>
    listing<R, ContentFilter>(
      ({ org_id, project_id }) => {
        if (org_id === undefined) return project_id === undefined ? whole : ofProject;
        return project_id === undefined ? ofOrg : ofBoth;
      },
      ({ org_id, project_id }) => [org_id, project_id].filter((id) => id !== undefined),
    );

  const listingInstances = listingContent<ListedInstance>(LISTS.addonInstances);
  const listingFilteredInstances = listing<ListedInstance, InstanceFilter>(
    () => LISTS.filteredAddonInstances,
    ({ org_id = "", project_id = "", phase = [], search = "" }) => [org_id, project_id, phase.join(), search],
  );

  const finding =
    <P, A = string>(
      statement: Statement,
      valuesOf: (address: A) => readonly string[],
      whole?: Statement,
    ): FindPlace<P, A> =>
    async (credential, address, now) => {
      const find = (read: ReadRows, by: Statement) => rowsOf<PlaceRow<P>>(read, by, credential, now, valuesOf(address));
      let [row] = await find(pipeline.read, statement);
      if (row?.is_long && whole) [row] = await find(readWhole, whole);
      return row ? locatedOf<P>(credential, row) : null;
    };
  const byId = <P>(statement: Statement, whole?: Statement) => finding<P>(statement, (id) => [id], whole);

  return {
    async caller(credential, now) {
      const [row] = await rowsOf(pipeline.read, STATEMENTS.caller, credential, now, []);
      return row ? callerOf(credential, row) : null;
    },
    async me(credential, now) {
      const [row] = await rowsOf<MeRow>(pipeline.read, STATEMENTS.me, credential, now, []);
      if (!row) return null;
      return { caller: callerOf(credential, row), ...recordOf(row) };
    },
    async ownAccess(credential, now) {
      const [row] = await rowsOf<OwnAccessRow>(pipeline.read, STATEMENTS.ownAccess, credential, now, []);
      if (!row) return null;
      const { orgs, clusters, projects } = row;
      return { caller: callerOf(credential, row), orgs, clusters, projects };
    },
    org: byId(STATEMENTS.org),
    cluster: byId(STATEMENTS.cluster),
    project: byId(STATEMENTS.project),
    app: finding(STATEMENTS.app, ({ projectId, namespace, name }) => [projectId, namespace, name], STATEMENTS.wholeApp),
    addonInstance: byId(STATEMENTS.addonInstance, STATEMENTS.wholeAddonInstance),
    cloudCredential: byId(STATEMENTS.cloudCredential),
    provisioningJob: byId(STATEMENTS.provisioningJob),
    orgs: listing(({ all }) => (all ? LISTS.allOrgs : LISTS.orgs)),
    projects: listing(
      (filter) => {
        if (isFiltered(filter)) return LISTS.filteredProjects;
        return filter.cluster_id === undefined ? LISTS.projects : LISTS.projectsOfCluster;
      },
      (filter) => {
        const { org_id = "", cluster_id = "", lifecycle = [], search = "" } = filter;
        if (isFiltered(filter)) return [org_id, cluster_id, lifecycle.join(), search];
        return cluster_id === "" ? [] : [cluster_id];
      },
    ),
    apps: listingContent(LISTS.apps),
    addonInstances: (credential, filter, ...rest) => {
      const read = filter.phase || filter.search ? listingFilteredInstances : listingInstances;
      return read(credential, filter, ...rest);
    },
    async administersAnyOrg(userId) {
      const { rowCount } = await pool.query({
        name: "administers any org",
        text: "select 1 from memberships where user_id = $1 and role = 'admin' limit 1",
        values: [userId],
      });
      return rowCount === 1;
    },
  };
}

/** The totals of other filters are kept. */
const isFiltered = ({ org_id, lifecycle, search }: ProjectListFilter): boolean =>
  org_id !== undefined || lifecycle !== undefined || Boolean(search);

function locatedOf<P>(credential: Credential, row: PlaceRow<P>): Located<P> {
  return {
    caller: callerOf(credential, row),
    place: row.id === null ? null : row,
    orgRole: row.org_role,
    bindingRole: strongest([row.cluster_role, row.project_role]),
  };
}

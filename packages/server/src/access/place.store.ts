import type { BindingRole, OrgRole } from "@binnacle/contract";
import type { Database } from "../database/connection.adapter.ts";
import { type ReadRows, readsFrom } from "../database/pipeline.adapter.ts";
import { ROWS_AT_ONCE, readBounded } from "../database/prepared.adapter.ts";
import { ENOUGH_CHARACTERS } from "../http/pagination.ts";
import { memoized } from "../memoized.ts";
import { type CallerFacts, type CallerRow, callerOf, type Statement, statement } from "./caller.store.ts";
import type { Caller, Credential } from "./caller.ts";
import { choiceOf, FIRST_ROWS, listStatements } from "./list.store.ts";
import type { List, Listed, Window } from "./list.ts";
import type { Place } from "./place.ts";
import { type Located, strongest } from "./role.ts";
import { cliTokenUseRecorder, lastUseThreshold } from "./token-use.ts";

/**
 * Reads in one round trip whether a credential is still valid, who the caller is, and what the request names: a place with the
 * caller's roles there, a list, or facts about the caller. Null means that the credential is not valid. Nothing is
 * cached, so a logout, a role that is taken away or a deleted user takes effect with the next request, on every replica.
 */
export interface PlaceStore {
  caller(credential: Credential, now: Date): Promise<Caller | null>;
  callerWith<S>(
    facts: CallerFacts<S>,
    credential: Credential,
    now: Date,
  ): Promise<(S & { readonly caller: Caller }) | null>;
  find<P, A>(
    place: Place<string, P, A, never>,
    credential: Credential,
    address: A,
    now: Date,
  ): Promise<Located<P> | null>;
  list<R, F extends object>(
    list: List<R, F>,
    credential: Credential,
    filter: F,
    window: Window,
    now: Date,
  ): Promise<Listed<R> | null>;
}

type AnyPlace = Omit<Place<string, never, never, never>, "requirement" | "refusal" | "address"> & {
  readonly address?: { readonly where: string };
};

/**
 * A place with the caller's role in its organization and the roles bound on its cluster and project. A row that is `is_long`
 * comes without its long columns unless it is read `whole`.
 */
function placeStatement(place: AnyPlace, form: "short" | "whole"): Statement {
  const { key, table, owners, address, columns, long, joins = "" } = place;
  const { org, cluster, project } = owners;
  const bound = (alias: string, column: string, id: string | undefined) =>
    id
      ? `left join role_bindings ${alias} on ${alias}.${column} = p.${id} and ${alias}.user_id = caller.caller_id`
      : "";
  const selected = [
    `caller.*, ${columns}, m.role as org_role`,
    ...Object.entries(long?.columns ?? {}).map(([column, text]) =>
      form === "whole" ? `${text} as ${column}` : `case when not long.is_long then ${text} end as ${column}`,
    ),
    long && form === "short" ? "long.is_long" : undefined,
    cluster && "c.role as cluster_role",
    project && "b.role as project_role",
  ].filter((part) => part !== undefined);
  return statement(
    `${form} ${key} place`,
    `select ${selected.join(", ")} from caller
    left join ${table} p on ${address?.where ?? "p.id = $3"}
      and (caller.caller_org_id is null or p.${org} = caller.caller_org_id)
      and (caller.caller_project_id is null ${project ? `or p.${project} = caller.caller_project_id` : ""})
    left join memberships m on m.org_id = p.${org} and m.user_id = caller.caller_id
    ${bound("c", "cluster_id", cluster)} ${bound("b", "project_id", project)} ${joins}
    ${long && form === "short" ? `left join lateral (select ${long.isLong} as is_long) long on true` : ""}`,
  );
}

/** The benchmarks compare Binnacle with these very statements run by hand. */
export const placeStatements = memoized((place: AnyPlace) => ({
  short: placeStatement(place, "short"),
  whole: place.long ? placeStatement(place, "whole") : null,
}));

const CALLER = statement("caller", "select * from caller");

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

type FactsRow = CallerRow & { is_long?: boolean };

type ListRow<R> = CallerRow & { id: string | null; list_total: number } & R;

/**
 * Everybody waits for the pipeline, so only what is short passes there, in rows and in bytes: callers, places,
 * and lists that are short. Long rows and all other lists come from the pool.
 */
export function placeStore({ kysely, pool, pipeline }: Pick<Database, "kysely" | "pool" | "pipeline">): PlaceStore {
  const recordUse = cliTokenUseRecorder(({ tokenId, address }, now) =>
    pool.query(NOTE_USE, [tokenId, now, lastUseThreshold(now), address]),
  );
  const readWhole = readsFrom(pool);
  const readLongList: ReadRows = ({ text }, parameters) =>
    readBounded(kysely, { sql: text, parameters }, ENOUGH_CHARACTERS);

  /** Every row begins with the caller. There is none where the credential is not valid. */
  async function rowsOf<R extends CallerRow>(
    read: ReadRows,
    statement: Statement,
    credential: Credential,
    now: Date,
    values: readonly string[] = [],
  ): Promise<R[]> {
    const key = credential.kind === "session" ? credential.sessionId : credential.digest;
    const rows = await read<R>(statement[credential.kind], [key, now.toISOString(), ...values]);
    const [row] = rows;
    if (row && credential.kind === "cli_token")
      recordUse({ tokenId: row.caller_credential_id, address: credential.sourceAddress }, row.caller_last_used_at, now);
    return rows;
  }

  return {
    async caller(credential, now) {
      const [row] = await rowsOf(pipeline.read, CALLER, credential, now);
      return row ? callerOf(credential, row) : null;
    },

    async callerWith({ statement, whole, factsOf }, credential, now) {
      let [row] = await rowsOf<FactsRow>(pipeline.read, statement, credential, now);
      if (row?.is_long && whole) [row] = await rowsOf(readWhole, whole, credential, now);
      return row ? { ...factsOf(row as never), caller: callerOf(credential, row) } : null;
    },

    async find<P, A>(place: Place<string, P, A, never>, credential: Credential, address: A, now: Date) {
      const { short, whole } = placeStatements(place);
      const values = place.address?.valuesOf(address) ?? [address as string];
      let [row] = await rowsOf<PlaceRow<P>>(pipeline.read, short, credential, now, values);
      if (row?.is_long && whole) [row] = await rowsOf<PlaceRow<P>>(readWhole, whole, credential, now, values);
      return row ? locatedOf<P>(credential, row) : null;
    },

    async list<R, F extends object>(
      list: List<R, F>,
      credential: Credential,
      filter: F,
      { limit, offset }: Window,
      now: Date,
    ) {
      const { query, values } = choiceOf(list, filter);
      const { first, deep } = listStatements(query);
      const isFirst = limit + offset <= FIRST_ROWS;
      // So few rows are read in one step anyway.
      const readList = limit <= ROWS_AT_ONCE ? readWhole : readLongList;
      const read = isFirst && query.isShort ? pipeline.read : readList;
      const window = [String(limit), String(offset), ...values];
      const rows = await rowsOf<ListRow<R>>(read, isFirst ? first : deep, credential, now, window);
      const [row] = rows;
      if (!row) return null;
      // The page is empty where the only row has no id.
      return { caller: callerOf(credential, row), rows: row.id === null ? [] : rows, total: row.list_total };
    },
  };
}

function locatedOf<P>(credential: Credential, row: PlaceRow<P>): Located<P> {
  return {
    caller: callerOf(credential, row),
    place: row.id === null ? null : row,
    orgRole: row.org_role,
    bindingRole: strongest([row.cluster_role, row.project_role]),
  };
}

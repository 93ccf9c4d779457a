import type { RepositoryCredential } from "@binnacle/charts";
import { MAX_CHART_REPOSITORIES } from "@binnacle/contract";
import { sql } from "kysely";
import { isUniqueViolation, type Queries, type Tx } from "../database/transaction.ts";
import { notFound } from "../fault.ts";
import { lockOrg } from "../orgs/org.store.ts";
import type { Log } from "../outage.ts";
import { SealBroken, type Vault } from "../vault/vault.ts";
import { type ChartRepository, nameTaken, sealedAt, tooMany, urlTaken } from "./chart-repository.ts";

const ofOrg = (db: Queries, orgId: string) =>
  db.selectFrom("chart_repositories").selectAll().where("org_id", "=", orgId).orderBy("id", "desc");

export const listChartRepositoryRows = (db: Queries, orgId: string): Promise<ChartRepository[]> =>
  ofOrg(db, orgId).execute();

/** Returns nothing for a row of another organization. */
export async function findChartRepository(db: Queries, orgId: string, id: string): Promise<ChartRepository> {
  const repository = await ofOrg(db, orgId).where("id", "=", id).executeTakeFirst();
  if (!repository) throw notFound("Chart repository");
  return repository;
}

/** Locks the row, so that concurrent changes build on each other. */
export async function lockChartRepository(tx: Tx, orgId: string, id: string): Promise<ChartRepository> {
  const repository = await ofOrg(tx, orgId).where("id", "=", id).forUpdate().executeTakeFirst();
  if (!repository) throw notFound("Chart repository");
  return repository;
}

/** Inserts are serialized per organization, so that concurrent ones cannot exceed the limit. */
export async function insertChartRepository(tx: Tx, repository: ChartRepository): Promise<void> {
  await lockOrg(tx, repository.org_id);
  const { total } = await tx
    .selectFrom("chart_repositories")
    .select((count) => count.fn.countAll<number>().as("total"))
    .where("org_id", "=", repository.org_id)
    .executeTakeFirstOrThrow();
  if (total >= MAX_CHART_REPOSITORIES) throw tooMany();
  await tx.insertInto("chart_repositories").values(repository).execute().catch(rethrowTaken);
}

export async function updateChartRepositoryRow(tx: Tx, repository: ChartRepository): Promise<void> {
  const { id, ...columns } = repository;
  await tx.updateTable("chart_repositories").set(columns).where("id", "=", id).execute().catch(rethrowTaken);
}

export async function deleteChartRepositoryRow(tx: Tx, id: string): Promise<void> {
  await tx.deleteFrom("chart_repositories").where("id", "=", id).execute();
}

function rethrowTaken(error: unknown): never {
  if (isUniqueViolation(error, "chart_repositories_name_taken")) throw nameTaken();
  if (isUniqueViolation(error, "chart_repositories_url_taken")) throw urlTaken();
  throw error;
}

/** Reads the credentials that organizations have stored for chart repositories. */
export interface RepositoryCredentials {
  /** Returns the opened credentials of one organization. The stamp changes whenever they do. */
  of(orgId: string): Promise<{ readonly stamp: string; readonly credentials: readonly RepositoryCredential[] }>;
  /** Returns stamps by organization. Organizations without credentials are missing. */
  stampsOf(orgIds: readonly string[]): Promise<ReadonlyMap<string, string>>;
}

export function repositoryCredentials(db: Queries, vault: Vault, log: Log): RepositoryCredentials {
  /** A credential that no key opens is left out, so that the others stay usable. */
  function opened({ id, org_id, url, username, sealed_password }: ChartRepository): RepositoryCredential[] {
    try {
      return [{ url, username, password: vault.open(sealed_password, sealedAt(id)) }];
    } catch (error) {
      if (!(error instanceof SealBroken)) throw error;
      log.warn({ org_id, chart_repository_id: id, err: error }, "the password of a chart repository cannot be opened");
      return [];
    }
  }

  async function stampsOf(orgIds: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const { rows } = await sql<{ org_id: string; stamp: string }>`
      select org_id, md5(string_agg(concat_ws(' ', id, url, username, sealed_password), ',' order by id)) as stamp
      from chart_repositories where org_id = any (${orgIds}::uuid[]) group by org_id
    `.execute(db);
    return new Map(rows.map(({ org_id, stamp }) => [org_id, stamp]));
  }

  return {
    stampsOf,
    async of(orgId) {
      const stamp = (await stampsOf([orgId])).get(orgId);
      if (stamp === undefined) return { stamp: "", credentials: [] };
      return { stamp, credentials: (await listChartRepositoryRows(db, orgId)).flatMap(opened) };
    },
  };
}

import { canonicalRepositoryUrl, repositoryProblem } from "@binnacle/charts";
import {
  type ChartRepositoryChanges,
  MAX_CHART_REPOSITORIES,
  type ValidationItem,
  type ChartRepository as WireChartRepository,
} from "@binnacle/contract";
import type { Selectable } from "kysely";
import type { ChartRepositoryTable } from "../database/fleet-tables.ts";
import { conflict } from "../fault.ts";

export type ChartRepository = Selectable<ChartRepositoryTable>;

export const sealedAt = (id: string) => ({ table: "chart_repositories", row: id, column: "sealed_password" });

/** Returns the problems of an address that a schema cannot express. */
export function urlProblems({ url }: { readonly url?: string }, chartHosts: readonly string[]): ValidationItem[] {
  if (url === undefined) return [];
  const problem =
    repositoryProblem(url, chartHosts) ??
    (canonicalRepositoryUrl(url) === null
      ? "The address must hold neither a query, a fragment nor an escaped slash"
      : null);
  return problem === null ? [] : [{ loc: ["body", "url"], msg: problem, type: "value_error" }];
}

/** Returns the canonical spelling of a valid address. */
export const storedUrl = (url: string): string => canonicalRepositoryUrl(url) ?? url;

export function wireChartRepository(repository: ChartRepository): WireChartRepository {
  const { id, org_id, name, url, username, created_at, updated_at } = repository;
  const times = { created_at: created_at.toISOString(), updated_at: updated_at.toISOString() };
  return { id, org_id, name, url, username, ...times };
}

/** Names a changed password for the audit log, without its value. */
export const auditedChartRepository = ({ password, ...rest }: ChartRepositoryChanges) => ({
  ...rest,
  ...(password === undefined ? {} : { password: "changed" }),
});

export const nameTaken = () => conflict("A chart repository with this name already exists.");
export const urlTaken = () => conflict("A chart repository with this URL already exists.");
export const tooMany = () => conflict(`An organization has at most ${MAX_CHART_REPOSITORIES} chart repositories.`);

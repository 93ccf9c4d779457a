import type { Operation } from "@binnacle/contract";
import type { Long } from "../database/columns.ts";
import type { Fault } from "../fault.ts";
import type { PlaceRequirement } from "./role.ts";

/** The columns that name the organization, the cluster and the project of a row. Roles are held on these three. */
export interface Owners {
  readonly org: string;
  readonly cluster?: string;
  readonly project?: string;
}

/** The owners of what is in a project. */
export const IN_PROJECT: Owners = { org: "org_id", cluster: "cluster_id", project: "project_id" };

/**
 * A kind of resource that requests name, and that callers need a role on. Each slice exports one description of its place;
 * guards and statements are made from it. `K` is its name in handlers, `P` its row, `A` its address, and `R` are the roles
 * that a route can ask for.
 */
export interface Place<K extends string, P, A, R extends string> {
  readonly key: K;
  /** Its name in the 404. */
  readonly title: string;
  readonly table: string;
  readonly owners: Owners;
  readonly requirement: (role: R) => PlaceRequirement;
  /** How the one row `p` is found, if not by its id. The parameters start with $3. */
  readonly address?: { readonly where: string; readonly valuesOf: (address: A) => readonly string[] };
  /** The columns of the row `p`, by their names. They pass the connection that everybody shares, so they are short. */
  readonly columns: string;
  /** The columns that a tenant can make long. Where they are, the row is read again from the pool. */
  readonly long?: Long;
  /** The joins of further columns. */
  readonly joins?: string;
  /** Why the place takes no such operation, whatever the caller's role. */
  readonly refusal?: (place: P, operation: Operation) => Fault | null;
}

/** A cluster or one of its projects. Everybody who sees it may see what happens there. */
export interface Location {
  readonly clusterId: string;
  readonly projectId?: string;
}

/** The cluster or project of a row, by the columns of its owners; null for one that is on no cluster. */
export function locationOf({ cluster, project }: Owners, row: object): Location | null {
  const ids = row as Readonly<Record<string, string>>;
  const clusterId = cluster && ids[cluster];
  const projectId = project && ids[project];
  if (!clusterId) return null;
  return projectId ? { clusterId, projectId } : { clusterId };
}

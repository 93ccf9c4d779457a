import { type ExpressionBuilder, sql } from "kysely";
import type { Caller } from "../access/caller.ts";
import type { Tables } from "../database/tables.ts";
import type { Queries, Tx } from "../database/transaction.ts";
import { isUniqueViolation } from "../database/violation.ts";
import { notFound } from "../fault.ts";
import { newId } from "../id.ts";
import type { Vault } from "../vault/vault.ts";
import { type Instance, nameTaken, type Revision } from "./addon.ts";

interface Window {
  readonly limit: number;
  readonly offset: number;
}

export interface Filter {
  readonly org_id?: string;
  readonly project_id?: string;
}

const written = (instance: Instance) => ({
  ...instance,
  values: JSON.stringify(instance.values),
  exports: JSON.stringify(instance.exports),
});

export async function insertInstance(tx: Tx, instance: Instance): Promise<void> {
  await tx
    .insertInto("addon_instances")
    .values(written(instance))
    .execute()
    .catch((error: unknown) => {
      throw isUniqueViolation(error, "addon_instances_name_taken") ? nameTaken() : error;
    });
}

export async function updateInstance(tx: Tx, instance: Instance): Promise<void> {
  await tx.updateTable("addon_instances").set(written(instance)).where("id", "=", instance.id).execute();
}

export function findInstance(db: Queries, id: string): Promise<Instance | undefined> {
  return db.selectFrom("addon_instances").selectAll().where("id", "=", id).executeTakeFirst();
}

/** Locked, so that of two changes at once the second one builds on the first, and each has a revision of its own. */
export async function lockInstance(tx: Tx, id: string): Promise<Instance> {
  const row = await tx.selectFrom("addon_instances").selectAll().where("id", "=", id).forUpdate().executeTakeFirst();
  if (!row) throw notFound("Addon instance");
  return row;
}

/** The total is the sum of the projects' kept totals, so that no list grows slow with what it does not show. */
export async function listInstances(
  db: Queries,
  caller: Caller,
  filter: Filter,
  { limit, offset }: Window,
): Promise<{ instances: Instance[]; total: number }> {
  let rows = db
    .selectFrom("addon_instances")
    .selectAll()
    .where("project_id", "in", visible(db, caller, filter));
  // Said of the instances too, for the index that brings them in order.
  if (filter.org_id !== undefined) rows = rows.where("org_id", "=", filter.org_id);
  if (filter.project_id !== undefined) rows = rows.where("project_id", "=", filter.project_id);
  const [instances, { total }] = await Promise.all([
    rows.orderBy("id", "desc").limit(limit).offset(offset).execute(),
    db
      .selectFrom("row_counts")
      .select(sql<number>`coalesce(sum(delta), 0)::bigint`.as("total"))
      .where("relation", "=", "addon_instances")
      .where("scope", "in", visible(db, caller, filter))
      .executeTakeFirstOrThrow(),
  ]);
  return { instances, total };
}

/** The projects that the filter names and the caller has a role on: bound there or on the cluster, or org admin. */
function visible(db: Queries, caller: Caller, { org_id, project_id }: Filter) {
  let projects = db.selectFrom("projects").select("projects.id");
  if (org_id !== undefined) projects = projects.where("projects.org_id", "=", org_id);
  if (project_id !== undefined) projects = projects.where("projects.id", "=", project_id);
  return caller.isSuperuser ? projects : projects.where((is) => hasRole(is, caller.id));
}

function hasRole(is: ExpressionBuilder<Tables, "projects">, userId: string) {
  return is.or([
    is.exists(
      is
        .selectFrom("memberships")
        .select("memberships.user_id")
        .whereRef("memberships.org_id", "=", "projects.org_id")
        .where("memberships.user_id", "=", userId)
        .where("memberships.role", "=", "admin"),
    ),
    is.exists(
      is
        .selectFrom("role_bindings")
        .select("role_bindings.id")
        .where("role_bindings.user_id", "=", userId)
        .where((bound) =>
          bound.or([
            bound("role_bindings.project_id", "=", bound.ref("projects.id")),
            bound("role_bindings.cluster_id", "=", bound.ref("projects.cluster_id")),
          ]),
        ),
    ),
  ]);
}

export async function insertRevision(tx: Tx, revision: Revision): Promise<void> {
  await tx
    .insertInto("addon_revisions")
    .values({ ...revision, values: JSON.stringify(revision.values) })
    .execute();
}

/** By the one that is given; none is found by neither. */
export async function findRevision(
  db: Queries,
  instanceId: string,
  { revision_id, revision_number }: { readonly revision_id?: string; readonly revision_number?: number },
): Promise<Revision | undefined> {
  const revisions = db.selectFrom("addon_revisions").selectAll().where("addon_instance_id", "=", instanceId);
  if (revision_id !== undefined) return revisions.where("id", "=", revision_id).executeTakeFirst();
  if (revision_number === undefined) return undefined;
  return revisions.where("revision_number", "=", revision_number).executeTakeFirst();
}

/**
 * Newest first, those up to the given number. Numbers have no gaps, so the number of an instance is the count of its
 * revisions, and a page is the same however many are made while somebody walks through them.
 */
export function listRevisions(
  db: Queries,
  { id, revision_number }: Pick<Instance, "id" | "revision_number">,
  { limit, offset }: Window,
): Promise<Revision[]> {
  return (
    db
      .selectFrom("addon_revisions")
      .selectAll()
      .where("addon_instance_id", "=", id)
      // A page far past the end would have a number that no column holds.
      .where("revision_number", "<=", Math.max(0, revision_number - offset))
      .orderBy("revision_number", "desc")
      .limit(limit)
      .execute()
  );
}

export async function heldSecretPaths(tx: Tx, instanceId: string): Promise<string[]> {
  const rows = await tx
    .selectFrom("addon_secrets")
    .select("path")
    .where("addon_instance_id", "=", instanceId)
    .orderBy("path")
    .execute();
  return rows.map(({ path }) => path);
}

/** Call with the instance locked: a secret is sealed for its row, whose id must not be given by somebody else meanwhile. */
export async function keepSecrets(
  tx: Tx,
  vault: Vault,
  instanceId: string,
  secrets: ReadonlyMap<string, string>,
  now: Date,
): Promise<void> {
  if (secrets.size === 0) return;
  const held = await tx
    .selectFrom("addon_secrets")
    .select(["id", "path"])
    .where("addon_instance_id", "=", instanceId)
    .execute();
  const rows = [...secrets].map(([path, value]) => {
    const id = held.find((row) => row.path === path)?.id ?? newId();
    const sealed_value = vault.seal(value, { table: "addon_secrets", row: id, column: "sealed_value" });
    return { id, addon_instance_id: instanceId, path, sealed_value, updated_at: now };
  });
  await tx
    .insertInto("addon_secrets")
    .values(rows)
    .onConflict((on) =>
      on.column("id").doUpdateSet((row) => ({
        sealed_value: row.ref("excluded.sealed_value"),
        updated_at: row.ref("excluded.updated_at"),
      })),
    )
    .execute();
}

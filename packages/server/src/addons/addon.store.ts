import { readBounded, runTogether } from "../database/prepared.adapter.ts";
import { trimOf } from "../database/revision-limit.store.ts";
import { isUniqueViolation, type Queries, type Tx } from "../database/transaction.ts";
import { notFound } from "../fault.ts";
import { ENOUGH_CHARACTERS } from "../http/pagination.ts";
import { newId } from "../id.adapter.ts";
import type { Vault } from "../vault/vault.ts";
import { type Instance, nameTaken, type Revision } from "./addon.ts";

interface Window {
  readonly limit: number;
  readonly offset: number;
}

const written = (instance: Instance) => ({
  ...instance,
  values: JSON.stringify(instance.values),
  exports: JSON.stringify(instance.exports),
  component_statuses: JSON.stringify(instance.component_statuses),
  drift_fields: JSON.stringify(instance.drift_fields),
  drift_repairs: JSON.stringify(instance.drift_repairs),
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

/** Locks the instance, so that concurrent changes build on each other and each gets its own revision. */
export async function lockInstance(tx: Tx, id: string): Promise<Instance> {
  const row = await tx.selectFrom("addon_instances").selectAll().where("id", "=", id).forUpdate().executeTakeFirst();
  if (!row) throw notFound("Addon instance");
  return row;
}

const revisionTrim = trimOf({
  table: "addon_revisions",
  owner: "addon_instance_id",
  number: "revision_number",
  content: '"values"',
});

/** Deletes the oldest revisions, where there are too many. */
export async function insertRevision(tx: Tx, revision: Revision): Promise<void> {
  await tx
    .insertInto("addon_revisions")
    .values({ ...revision, values: JSON.stringify(revision.values) })
    .execute();
  await runTogether(tx, [revisionTrim(revision.addon_instance_id)]);
}

export async function countRevisions(db: Queries, instanceId: string): Promise<number> {
  const { total } = await db
    .selectFrom("addon_revisions")
    .select((count) => count.fn.countAll<number>().as("total"))
    .where("addon_instance_id", "=", instanceId)
    .executeTakeFirstOrThrow();
  return total;
}

/** Finds a revision by the given field. */
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
 * Lists revisions up to the given number, newest first. Numbers have no gaps, so pages are stable while revisions are added.
 */
export function listRevisions(
  db: Queries,
  { id, revision_number }: Pick<Instance, "id" | "revision_number">,
  { limit, offset }: Window,
): Promise<Revision[]> {
  const revisions = db
    .selectFrom("addon_revisions")
    .selectAll()
    .where("addon_instance_id", "=", id)
    // The number of a page far past the end would exceed the range of the column.
    .where("revision_number", "<=", Math.max(0, revision_number - offset))
    .orderBy("revision_number", "desc")
    .limit(limit);
  return readBounded(db, revisions.compile(), ENOUGH_CHARACTERS);
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

/** Requires the instance to be locked: a secret is sealed for the id of its row, which must not change in between. */
export async function saveSecrets(
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

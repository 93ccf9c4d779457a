import type { BindingRole } from "@binnacle/contract";
import type { Insertable, Selectable } from "kysely";
import type { RoleBindingTable } from "../database/fleet-tables.ts";
import type { Queries, Tx } from "../database/transaction.ts";
import { isForeignKeyViolation, isUniqueViolation } from "../database/violation.ts";
import { alreadyGranted, notAMember, type Place, placeGone } from "./binding.ts";

export type BindingRow = Selectable<RoleBindingTable>;

const columnOf = ({ kind }: Place) => `${kind}_id` as const;

export function listBindings(db: Queries, place: Place): Promise<BindingRow[]> {
  return db
    .selectFrom("role_bindings")
    .selectAll()
    .where(columnOf(place), "=", place.id)
    .orderBy("id", "desc")
    .execute();
}

export async function insertBinding(
  tx: Tx,
  place: Place,
  binding: Pick<Insertable<RoleBindingTable>, "id" | "user_id" | "role">,
  now: Date,
): Promise<BindingRow> {
  return tx
    .insertInto("role_bindings")
    .values({ ...binding, [columnOf(place)]: place.id, created_at: now, updated_at: now })
    .returningAll()
    .executeTakeFirstOrThrow()
    .catch((error: unknown) => {
      if (isUniqueViolation(error, `role_bindings_${place.kind}_taken`)) throw alreadyGranted(place);
      if (isForeignKeyViolation(error, `role_bindings_${place.kind}_id_fkey`)) throw placeGone(place);
      if (isForeignKeyViolation(error, "role_bindings_user_id_fkey")) throw notAMember();
      throw error;
    });
}

export function updateBindingRole(
  tx: Tx,
  place: Place,
  userId: string,
  role: BindingRole,
  now: Date,
): Promise<BindingRow | undefined> {
  return tx
    .updateTable("role_bindings")
    .set({ role, updated_at: now })
    .where(columnOf(place), "=", place.id)
    .where("user_id", "=", userId)
    .returningAll()
    .executeTakeFirst();
}

/** One of this place only: another's id is as good as unknown here. */
export function deleteBinding(tx: Tx, place: Place, bindingId: string): Promise<BindingRow | undefined> {
  return tx
    .deleteFrom("role_bindings")
    .where(columnOf(place), "=", place.id)
    .where("id", "=", bindingId)
    .returningAll()
    .executeTakeFirst();
}

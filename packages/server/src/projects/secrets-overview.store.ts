import type { Queries } from "../database/transaction.ts";
import type { HeldKey } from "./secrets-overview.ts";

export async function componentKeys(db: Queries, projectId: string): Promise<HeldKey[]> {
  const rows = await db
    .selectFrom("app_secrets as secret")
    .innerJoin("apps as app", "app.id", "secret.app_id")
    .select(["app.id", "app.name", "secret.component as holder", "secret.key", "secret.updated_at"])
    .where("app.project_id", "=", projectId)
    .orderBy("app.id", "desc")
    .orderBy("secret.component")
    .execute();
  return rows.map(({ id, name, ...held }) => ({ owner: { id, name }, ...held }));
}

export async function addonKeys(db: Queries, projectId: string): Promise<HeldKey[]> {
  const rows = await db
    .selectFrom("addon_secrets as secret")
    .innerJoin("addon_instances as instance", "instance.id", "secret.addon_instance_id")
    .select(["instance.id", "instance.name", "secret.path as key", "secret.updated_at"])
    .where("instance.project_id", "=", projectId)
    .orderBy("instance.id", "desc")
    .execute();
  return rows.map(({ id, name, key, updated_at }) => ({ owner: { id, name }, holder: name, key, updated_at }));
}

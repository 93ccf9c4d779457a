import { MAX_REGISTRY_SECRETS, type WrittenRegistrySecret } from "@binnacle/contract";
import { sql } from "kysely";
import { isForeignKeyViolation, isUniqueViolation, type Queries, type Tx } from "../database/transaction.ts";
import { type DispatchedKind, fileOfProject } from "../dispatch/kind.ts";
import { notFound } from "../fault.ts";
import { newId } from "../id.adapter.ts";
import type { Vault } from "../vault/vault.ts";
import { type RegistrySecret, registrySecretsBody, secretNameTaken, tooMany } from "./registry-secret.ts";

/** The owner of a secret: a cluster or a project. */
export type Owner = { readonly cluster_id: string } | { readonly project_id: string };

const COLUMNS = [
  "id",
  "cluster_id",
  "project_id",
  "name",
  "server_url",
  "username",
  "created_at",
  "updated_at",
] as const satisfies (keyof RegistrySecret)[];

function secretsOf(db: Queries, owner: Owner) {
  const secrets = db.selectFrom("registry_secrets").select(COLUMNS);
  return "cluster_id" in owner
    ? secrets.where("cluster_id", "=", owner.cluster_id)
    : secrets.where("project_id", "=", owner.project_id);
}

export function listSecrets(db: Queries, owner: Owner): Promise<RegistrySecret[]> {
  return secretsOf(db, owner).orderBy("id", "desc").execute();
}

export async function insertSecret(
  tx: Tx,
  vault: Vault,
  owner: Owner,
  { password, ...fields }: WrittenRegistrySecret,
  now: Date,
): Promise<RegistrySecret> {
  await refuseTooMany(tx, owner);
  const id = newId();
  const sealed_password = vault.seal(password, { table: "registry_secrets", row: id, column: "sealed_password" });
  return tx
    .insertInto("registry_secrets")
    .values({ id, ...owner, ...fields, sealed_password, created_at: now, updated_at: now })
    .returning(COLUMNS)
    .executeTakeFirstOrThrow()
    .catch((error: unknown) => {
      if (isUniqueViolation(error, "registry_secrets_cluster_name_taken")) throw secretNameTaken();
      if (isUniqueViolation(error, "registry_secrets_project_name_taken")) throw secretNameTaken();
      if (isForeignKeyViolation(error, "registry_secrets_cluster_id_fkey")) throw notFound("Cluster");
      throw error;
    });
}

/** Inserts of one owner are serialized, so that concurrent ones cannot exceed the limit. */
async function refuseTooMany(tx: Tx, owner: Owner): Promise<void> {
  const [ownerId] = Object.values(owner);
  await sql`select pg_advisory_xact_lock(hashtext('registry_secrets'), hashtext(${ownerId}))`.execute(tx);
  const held = await secretsOf(tx, owner).limit(MAX_REGISTRY_SECRETS).execute();
  if (held.length >= MAX_REGISTRY_SECRETS) throw tooMany();
}

/** Deletes a secret of this owner only. */
export async function deleteSecret(tx: Tx, owner: Owner, id: string): Promise<RegistrySecret> {
  const secret = await secretsOf(tx, owner).where("id", "=", id).forUpdate().executeTakeFirst();
  if (!secret) throw notFound("Registry secret");
  await tx.deleteFrom("registry_secrets").where("id", "=", id).execute();
  return secret;
}

/** The dispatched kind of pull secrets. They have no status, so reports change nothing. */
export const registrySecretsKind = (vault: Vault): DispatchedKind<"registry_secrets", null> => ({
  kind: "registry_secrets",

  async loadBodies(db, rows) {
    const ids = rows.map(({ resource_id }) => resource_id);
    const clusterIds = [...new Set(rows.map(({ cluster_id }) => cluster_id))];
    const found = await db.selectFrom("projects").selectAll().where("id", "in", ids).execute();
    const projects = new Map(found.map((project) => [project.id, project]));
    const secrets = await db
      .selectFrom("registry_secrets")
      .selectAll()
      .where(({ or, eb }) => or([eb("project_id", "in", ids), eb("cluster_id", "in", clusterIds)]))
      .orderBy("id", "desc")
      .execute();
    const byOwner = Map.groupBy(secrets, ({ project_id, cluster_id }) => project_id ?? cluster_id ?? "");
    const opened = (owner: string) =>
      (byOwner.get(owner) ?? []).map(({ sealed_password, ...secret }) => ({
        ...secret,
        password: vault.open(sealed_password, { table: "registry_secrets", row: secret.id, column: "sealed_password" }),
      }));
    return ({ resource_id }) => {
      const project = projects.get(resource_id);
      return project ? registrySecretsBody(project, opened(project.id), opened(project.cluster_id)) : null;
    };
  },

  file: (key) => fileOfProject(key, "registry-secrets", "RegistrySecrets"),

  rejected: (message) => ({ state: "apply_failed", message }),
  lock: async (_tx, _clusterId, ids) => new Map(ids.map((id) => [id, null])),
  afterReport: () => null,
  afterLoss: () => null,
  isDeleting: () => true,
  store: async () => [],
});

import { isForeignKeyViolation, isUniqueViolation, type Queries, type Tx } from "../database/transaction.ts";
import { notFound } from "../fault.ts";
import { type Credential, credentialNameTaken, stillInUse } from "./credential.ts";

interface Window {
  readonly limit: number;
  readonly offset: number;
}

/** Returns nothing for a row of another organization. */
export function findOrgCredential(db: Queries, orgId: string, id: string): Promise<Credential | undefined> {
  return db
    .selectFrom("cloud_credentials")
    .selectAll()
    .where("id", "=", id)
    .where("org_id", "=", orgId)
    .executeTakeFirst();
}

/** An organization has few credentials, so they are counted at each list. */
export async function listCredentialRows(db: Queries, orgId: string, page: Window) {
  const ofOrg = db.selectFrom("cloud_credentials").where("org_id", "=", orgId);
  const [credentials, { total }] = await Promise.all([
    ofOrg.selectAll().orderBy("id", "desc").limit(page.limit).offset(page.offset).execute(),
    ofOrg.select((count) => count.fn.countAll<number>().as("total")).executeTakeFirstOrThrow(),
  ]);
  return { credentials, total };
}

/**
 * Locks the credential, so that concurrent changes build on each other and no cluster starts to use it during a
 * deletion.
 */
export async function lockCredential(tx: Tx, id: string): Promise<Credential> {
  const credential = await tx
    .selectFrom("cloud_credentials")
    .selectAll()
    .where("id", "=", id)
    .forUpdate()
    .executeTakeFirst();
  if (!credential) throw notFound("Credential");
  return credential;
}

export async function insertCredential(tx: Tx, credential: Credential): Promise<void> {
  await tx.insertInto("cloud_credentials").values(stored(credential)).execute().catch(rethrowRefused);
}

export async function updateCredentialRow(tx: Tx, credential: Credential): Promise<void> {
  await tx
    .updateTable("cloud_credentials")
    .set(stored(credential))
    .where("id", "=", credential.id)
    .execute()
    .catch(rethrowRefused);
}

const stored = (credential: Credential) => ({ ...credential, settings: JSON.stringify(credential.settings) });

function rethrowRefused(error: unknown): never {
  if (isUniqueViolation(error, "cloud_credentials_name_taken")) throw credentialNameTaken();
  // The row was deleted after it was looked up.
  if (isForeignKeyViolation(error, "cloud_credentials_org")) throw notFound("Organization");
  throw error;
}

/** Requires the credential to be locked. */
export async function deleteCredentialRow(tx: Tx, id: string): Promise<void> {
  const users = await tx
    .selectFrom("clusters")
    .select("name")
    .where("credential_id", "=", id)
    .orderBy("name")
    .execute();
  if (users.length > 0) throw stillInUse(users.map(({ name }) => name));
  await tx.deleteFrom("cloud_credentials").where("id", "=", id).execute();
}

import type {
  CredentialChanges,
  CredentialCheck,
  CredentialInput,
  Provider,
  Credential as WireCredential,
} from "@binnacle/contract";
import type { Selectable } from "kysely";
import type { CheckedAccess, CloudAccess, ProvisioningFailure } from "../cloud/provider.ts";
import { named } from "../clusters/cluster.ts";
import type { CloudCredentialTable } from "../database/provisioning-tables.ts";
import { conflict, type Fault, invalidValue } from "../fault.ts";
import type { Vault } from "../vault/vault.ts";

export type Credential = Selectable<CloudCredentialTable>;

export const secretPlaceOf = (id: string) => ({ table: "cloud_credentials", row: id, column: "sealed_secret" });

/** Opens the credential for its cloud. Returns null where a part of it is missing, as for providers to come. */
export function openedFor(
  { id, access_key_id, sealed_secret }: Credential,
  region: string | null,
  vault: Pick<Vault, "open">,
): CloudAccess | null {
  if (region === null || access_key_id === null || sealed_secret === null) return null;
  return { region, accessKeyId: access_key_id, secretAccessKey: vault.open(sealed_secret, secretPlaceOf(id)) };
}

const SHOWN_CHARACTERS = 4;

/** Masks a key id as `****MPLE`. A short one is hidden completely. */
export const maskedKeyId = (keyId: string) =>
  keyId.length > SHOWN_CHARACTERS ? `****${keyId.slice(-SHOWN_CHARACTERS)}` : "****";

export function wireCredential(credential: Credential): WireCredential {
  return {
    id: credential.id,
    org_id: credential.org_id,
    name: credential.name,
    provider: credential.provider,
    region: credential.region,
    access_key_id: credential.access_key_id && maskedKeyId(credential.access_key_id),
    created_at: credential.created_at.toISOString(),
    updated_at: credential.updated_at.toISOString(),
  };
}

/** Names a changed secret for the audit log, without its value. */
export function auditedCredential({ access_key_id, secret_access_key, ...rest }: CredentialInput | CredentialChanges) {
  return {
    ...rest,
    ...(access_key_id === undefined ? {} : { access_key_id: maskedKeyId(access_key_id) }),
    ...(secret_access_key === undefined ? {} : { secret_access_key: "changed" }),
  };
}

/** The credential must be for the provider of the cluster. */
export function providerMismatch(credential: Credential, provider: Provider | undefined): Fault | null {
  if (credential.provider === provider) return null;
  return invalidValue(["body", "credential_id"], `The credential is for ${credential.provider}, not for ${provider}`);
}

export const credentialNameTaken = () => conflict("A credential with this name already exists.");
export const stillInUse = (clusterNames: readonly string[]) =>
  conflict(`The credential is in use by ${named(clusterNames)}. Delete what uses it first.`);

export const comingSoon = (provider: Provider) =>
  invalidValue(["path", "id"], `Credentials for ${provider} cannot be checked yet; this is coming soon`);

/** A permission that cannot be found out is no reason to refuse the credential. */
export function wireCheck(found: CheckedAccess | ProvisioningFailure, now: Date): CredentialCheck {
  const checked_at = now.toISOString();
  if ("code" in found) {
    const { code, message } = found;
    return { ok: false, checked_at, identity: null, error: { code, message }, permissions: [], quotas: [] };
  }
  const quotas = found.quotas.map(({ name, limit, used }) => ({ name, limit, used, ok: used < limit }));
  const isPermitted = found.permissions.every(({ allowed }) => allowed !== false);
  return {
    ok: isPermitted && quotas.every(({ ok }) => ok),
    checked_at,
    identity: found.identity,
    error: null,
    permissions: found.permissions.map(({ action, allowed }) => ({ action, allowed })),
    quotas,
  };
}

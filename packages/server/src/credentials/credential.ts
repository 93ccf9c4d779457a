import {
  type CredentialChanges,
  type CredentialCheck,
  type CredentialInput,
  cloudOf,
  credentialFieldsOf,
  maskedEnd,
  type Provider,
  SECRET_FIELDS,
  type ShownField,
  type Credential as WireCredential,
} from "@binnacle/contract";
import type { Selectable } from "kysely";
import type { CheckedAccess, CloudAccess, ProvisioningFailure } from "../cloud/provider.ts";
import { named } from "../clusters/cluster.ts";
import type { CloudCredentialTable } from "../database/provisioning-tables.ts";
import { conflict, type Fault, invalid, invalidValue } from "../fault.ts";
import type { Vault } from "../vault/vault.ts";
import { dividedFields, type Opened, openedFields, secretsInside } from "./credential-fields.ts";

export type Credential = Selectable<CloudCredentialTable>;

/** Opens the credential for its cloud. The organization comes from its record, so that nobody can name another one. */
export function openedFor(credential: Credential, region: string | null, vault: Pick<Vault, "open">): Opened {
  const opened = openedFields(credential, credentialFieldsOf(credential.provider), region, vault);
  return "lacks" in opened ? opened : { access: { ...opened.access, organization_id: credential.org_id } };
}

/** The values that must not be shown, whatever the provider. */
export const secretsIn = (access: CloudAccess): string[] =>
  SECRET_FIELDS.flatMap((name) => access[name] ?? []).flatMap((secret) => [secret, ...secretsInside(secret)]);

/** A field as people may see it. */
const shownText = (provider: Provider, name: string, text: string) =>
  credentialFieldsOf(provider)[name]?.masked ? maskedEnd(text) : text;

export function wireCredential(credential: Credential): WireCredential {
  const { id, org_id, name, provider, region, settings, created_at, updated_at } = credential;
  const stored: Readonly<Record<string, string | null>> = { ...settings, region };
  const fields = credentialFieldsOf(provider);
  const own = Object.keys(fields).filter((field) => !fields[field]?.secret);
  const shown = own.map((field) => {
    const text = stored[field] ?? null;
    return [field, text === null ? null : shownText(provider, field, text)];
  });
  return {
    id,
    org_id,
    name,
    provider,
    ...(Object.fromEntries(shown) as Record<ShownField, string | null>),
    created_at: created_at.toISOString(),
    updated_at: updated_at.toISOString(),
  };
}

/** Names changed secrets for the audit log, without their values. Masked fields are masked there too. */
export function auditedCredential(provider: Provider, given: CredentialInput | CredentialChanges) {
  const { settings, secrets } = dividedFields(credentialFieldsOf(provider), given);
  return {
    ...given,
    ...Object.fromEntries(Object.entries(settings).map(([name, text]) => [name, shownText(provider, name, text)])),
    ...Object.fromEntries(Object.keys(secrets).map((name) => [name, "changed"])),
  };
}

/** A change does not name the provider, so no schema refuses the fields of another. */
export function foreignFields(provider: Provider, given: CredentialChanges): Fault | null {
  const foreign = Object.keys(given).filter((name) => name !== "name" && !(name in credentialFieldsOf(provider)));
  if (foreign.length === 0) return null;
  const msg = `A credential of ${cloudOf(provider)?.name ?? provider} has no such field`;
  return invalid(foreign.map((name) => ({ loc: ["body", name], msg, type: "value_error" })));
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

export const lacking = (fields: readonly string[]) =>
  invalidValue(["path", "id"], `The credential lacks ${fields.join(", ")}. Set what is missing, then check it again`);

/** A permission that cannot be checked does not refuse the credential. */
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

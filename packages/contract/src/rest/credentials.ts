import Type, { type Static } from "typebox";
import { DisplayName, Nullable, Page, PageQuery, strict, Timestamp, Uuid } from "../fields.ts";
import { operation } from "../operation.ts";
import { holds, where } from "../rules.ts";
import { PROVIDERS, PROVISIONING_ERROR_CODES } from "../states.ts";

const tag = "Credentials";
const params = Type.Object({ id: Uuid() });
const Name = DisplayName("AWS production");

/** One line of visible ASCII, which is what providers issue. A key that is pasted with its line break is refused. */
const KEY_CHARACTERS = "^[!-~]+$";

export const Region = Type.String({
  minLength: 1,
  maxLength: 100,
  pattern: "^[A-Za-z0-9-]+$",
  examples: ["eu-central-1"],
});
const AccessKeyId = Type.String({
  minLength: 1,
  maxLength: 128,
  pattern: KEY_CHARACTERS,
  examples: ["AKIAIOSFODNN7EXAMPLE"],
});
const SecretAccessKey = Type.String({
  minLength: 1,
  maxLength: 1024,
  pattern: KEY_CHARACTERS,
  description: "Written and never read back.",
  examples: ["<SECRET_ACCESS_KEY>"],
});

export const Credential = Type.Object(
  {
    id: Uuid(),
    org_id: Uuid(),
    name: Name,
    provider: Type.Enum(PROVIDERS),
    region: Nullable(Region),
    access_key_id: Nullable(
      Type.String({ description: "Its last four characters; the rest is masked.", examples: ["****MPLE"] }),
    ),
    created_at: Timestamp(),
    updated_at: Timestamp(),
  },
  { title: "Credential", description: "A cloud credential without its secret material." },
);
export type Credential = Static<typeof Credential>;

export const CredentialInput = Type.Object(
  {
    name: Name,
    provider: Type.Enum(PROVIDERS),
    region: Type.Optional(Region),
    access_key_id: Type.Optional(AccessKeyId),
    secret_access_key: Type.Optional(SecretAccessKey),
  },
  {
    ...strict,
    description: "`aws` requires `region`, `access_key_id` and `secret_access_key`.",
    allOf: [
      where(holds("provider", ["aws"]), "AWS needs a region and both halves of the key", {
        requires: ["region", "access_key_id", "secret_access_key"],
      }),
    ],
  },
);
export type CredentialInput = Static<typeof CredentialInput>;

/** The key id and the secret change together. A mismatched pair would fail much later, at the cloud provider. */
export const CredentialChanges = Type.Object(
  {
    name: Type.Optional(Name),
    region: Type.Optional(Region),
    access_key_id: Type.Optional(AccessKeyId),
    secret_access_key: Type.Optional(SecretAccessKey),
  },
  {
    ...strict,
    description: "A new `access_key_id` comes with its `secret_access_key`.",
    dependentRequired: { access_key_id: ["secret_access_key"] },
  },
);
export type CredentialChanges = Static<typeof CredentialChanges>;

export const listCredentials = operation({
  id: "listCredentials",
  method: "GET",
  path: "/orgs/{id}/credentials",
  tag,
  summary: "List an organization's cloud credentials, newest first; org admin",
  credentials: "user",
  params,
  query: PageQuery,
  success: [200, Page(Credential)],
  failures: [403, 404],
});

export const createCredential = operation({
  id: "createCredential",
  method: "POST",
  path: "/orgs/{id}/credentials",
  tag,
  summary: "Store a cloud credential; org admin",
  description: "The secret is sealed and never returned. Only `aws` is wired for provisioning.",
  credentials: "user",
  params,
  body: CredentialInput,
  success: [201, Credential],
  failures: [403, 404, 409],
});

export const getCredential = operation({
  id: "getCredential",
  method: "GET",
  path: "/credentials/{id}",
  tag,
  summary: "Read a cloud credential, without its secret; org admin",
  credentials: "user",
  params,
  success: [200, Credential],
  failures: [404],
});

export const updateCredential = operation({
  id: "updateCredential",
  method: "PATCH",
  path: "/credentials/{id}",
  tag,
  summary: "Rotate or rename a cloud credential; org admin",
  description: "Fields left out stay. The provider is fixed.",
  credentials: "user",
  params,
  body: CredentialChanges,
  success: [200, Credential],
  failures: [404, 409],
});

export const deleteCredential = operation({
  id: "deleteCredential",
  method: "DELETE",
  path: "/credentials/{id}",
  tag,
  summary: "Delete a cloud credential; org admin",
  description: "409 while a cluster uses it; the answer names the clusters.",
  credentials: "user",
  params,
  success: [204, null],
  failures: [404, 409],
});

export const CredentialCheck = Type.Object(
  {
    ok: Type.Boolean({ description: "Whether a cluster can be made with it: known, permitted and within its quotas." }),
    checked_at: Timestamp(),
    identity: Nullable(Type.String({ examples: ["arn:aws:iam::123456789012:user/binnacle"] })),
    error: Nullable(
      Type.Object({
        code: Type.Enum(PROVISIONING_ERROR_CODES),
        message: Type.String({ examples: ["AWS does not know the access key. Rotate the credential's key."] }),
      }),
    ),
    permissions: Type.Array(
      Type.Object({
        action: Type.String({ examples: ["ec2:RunInstances"] }),
        allowed: Nullable(Type.Boolean({ description: "Null where it cannot be found out." })),
      }),
    ),
    quotas: Type.Array(
      Type.Object({
        name: Type.String({ examples: ["Running On-Demand Standard instances (vCPU)"] }),
        limit: Type.Number({ examples: [64] }),
        used: Type.Number({ examples: [12] }),
        ok: Type.Boolean({ description: "Whether something is left of it." }),
      }),
    ),
  },
  { title: "CredentialCheck" },
);
export type CredentialCheck = Static<typeof CredentialCheck>;

export const checkCredential = operation({
  id: "checkCredential",
  method: "POST",
  path: "/credentials/{id}/check",
  tag,
  summary: "Ask the provider whether a credential suffices; org admin",
  description:
    "Asks for the identity, the permissions and the quotas, and creates nothing. The answer comes within 30 seconds. A provider " +
    "that is not implemented yet is a 422 that says so. After too many checks: 429.",
  credentials: "user",
  params,
  success: [200, CredentialCheck],
  failures: [404, 429],
});

import Type, { type Static } from "typebox";
import { exampleOf } from "../example.ts";
import { DisplayName, Nullable, Page, PageQuery, ReadName, strict, Timestamp, Uuid } from "../fields.ts";
import { operation } from "../operation.ts";
import { holds, type Rule, where } from "../rules.ts";
import { PROVIDERS, PROVISIONING_ERROR_CODES, type Provider } from "../states.ts";
import {
  CREDENTIAL_KEYS,
  cloudOf,
  credentialFieldsOf,
  requiredFieldsOf,
  SHOWN_KEYS,
  WIRED_PROVIDERS,
} from "./providers.ts";

const tag = "Credentials";
const params = Type.Object({ id: Uuid() });
const Name = DisplayName("AWS production");

const quoted = (names: readonly string[]) => {
  const marked = names.map((name) => `\`${name}\``);
  return marked.length > 1 ? `${marked.slice(0, -1).join(", ")} and ${marked.at(-1)}` : marked.join();
};

/** A credential has the fields of its provider, all that are required, and none of another. */
function rulesOf(provider: Provider): Rule[] {
  const { name = provider, needs = "" } = cloudOf(provider) ?? {};
  const own = Object.keys(credentialFieldsOf(provider));
  const foreign = Object.keys(CREDENTIAL_KEYS).filter((field) => !own.includes(field));
  const isOfProvider = holds("provider", [provider]);
  return [
    where(isOfProvider, needs, { requires: requiredFieldsOf(provider) }),
    ...(foreign.length > 0
      ? [where(isOfProvider, `A credential of ${name} has no such field`, { refuses: foreign })]
      : []),
  ];
}

const examplesOf = (provider: Provider) =>
  Object.fromEntries(
    Object.entries(credentialFieldsOf(provider)).map(([name, { schema }]) => [name, exampleOf(schema)]),
  );

/** Fields that are changed only with others. */
const TOGETHER = WIRED_PROVIDERS.flatMap((provider) => Object.entries(cloudOf(provider)?.together ?? {}));

export const Credential = Type.Object(
  {
    id: Uuid(),
    org_id: Uuid(),
    name: ReadName("AWS production"),
    provider: Type.Enum(PROVIDERS),
    ...SHOWN_KEYS,
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
    ...CREDENTIAL_KEYS,
  },
  {
    ...strict,
    description: WIRED_PROVIDERS.map(
      (provider) => `\`${provider}\` requires ${quoted(requiredFieldsOf(provider))}.`,
    ).join(" "),
    allOf: WIRED_PROVIDERS.flatMap(rulesOf),
    examples: WIRED_PROVIDERS.slice(0, 1).map((provider) => ({
      name: exampleOf(Name),
      provider,
      ...examplesOf(provider),
    })),
  },
);
export type CredentialInput = Static<typeof CredentialInput>;

export const CredentialChanges = Type.Object(
  {
    name: Type.Optional(Name),
    ...CREDENTIAL_KEYS,
  },
  {
    ...strict,
    description: TOGETHER.map(([field, others]) => `A new \`${field}\` comes with its ${quoted(others)}.`).join(" "),
    dependentRequired: Object.fromEntries(TOGETHER.map(([field, others]) => [field, [...others]])),
    examples: WIRED_PROVIDERS.slice(0, 1).map((provider) => ({ name: exampleOf(Name), ...examplesOf(provider) })),
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
  description: `Secrets are sealed and never returned. Only ${quoted(WIRED_PROVIDERS)} ${WIRED_PROVIDERS.length > 1 ? "are" : "is"} wired for provisioning.`,
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

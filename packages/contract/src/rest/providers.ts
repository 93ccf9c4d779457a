import Type, { type Static, type TNull, type TSchema, type TString, type TUnion } from "typebox";
import { aws } from "../cloud/aws.ts";
import { type Cloud, type CloudField, maskedEnd } from "../cloud/cloud.ts";
import { exampleOf } from "../example.ts";
import { Nullable, Whole } from "../fields.ts";
import { operation } from "../operation.ts";
import { holds, where } from "../rules.ts";
import { PROVIDERS, type Provider } from "../states.ts";

/** The providers that clusters can be made at. The others are refused, and their credentials may have any field. */
const CLOUDS = { aws } as const satisfies Partial<Record<Provider, Cloud>>;
type Clouds = typeof CLOUDS;
type WiredProvider = keyof Clouds;

export const cloudOf = (provider: Provider): Cloud | undefined =>
  (CLOUDS as Readonly<Partial<Record<Provider, Cloud>>>)[provider];
export const WIRED_PROVIDERS = PROVIDERS.filter((provider) => cloudOf(provider));

/** The fields of an opened credential. */
export type AccessTo<P extends WiredProvider> = {
  readonly [F in Exclude<keyof Clouds[P]["fields"], OptionalOf<Clouds[P]["fields"]>>]: string;
} & { readonly [F in OptionalOf<Clouds[P]["fields"]>]?: string };
type OptionalOf<Fields> = { [F in keyof Fields]: Fields[F] extends { optional: true } ? F : never }[keyof Fields];

type FieldOf<P extends WiredProvider> = { [Q in P]: keyof Clouds[Q]["fields"] }[P];
type SecretOf<Fields> = { [F in keyof Fields]: Fields[F] extends { secret: true } ? F : never }[keyof Fields];
type CredentialField = FieldOf<WiredProvider>;
export type ShownField = Exclude<
  CredentialField,
  { [P in WiredProvider]: SecretOf<Clouds[P]["fields"]> }[WiredProvider]
>;

/** The fields of all providers, since the body of a credential is flat. */
const FIELDS = fieldsOfAll(WIRED_PROVIDERS.flatMap((provider) => cloudOf(provider) ?? []));

/** Providers that share a field, such as a region, share its schema: whether it is a secret must not depend on who reads it. */
export function fieldsOfAll(clouds: readonly Cloud[]): Readonly<Record<string, CloudField>> {
  const fields: Record<string, CloudField> = {};
  for (const [name, field] of clouds.flatMap((cloud) => Object.entries(cloud.fields))) {
    const { schema, secret, masked } = fields[name] ?? field;
    fields[name] = field;
    if (schema !== field.schema || secret !== field.secret || masked !== field.masked)
      throw new Error(`Two providers have different fields ${name}. Give one of them another name.`);
  }
  return fields;
}

const entriesWhere = (isMeant: (field: CloudField) => boolean) =>
  Object.entries(FIELDS).filter(([, field]) => isMeant(field));

export const SECRET_FIELDS: readonly string[] = entriesWhere(({ secret }) => secret === true).map(([name]) => name);

/** The fields of a provider's credentials: its own, or any for a provider that is not implemented yet. */
export const credentialFieldsOf = (provider: Provider): Readonly<Record<string, CloudField>> =>
  cloudOf(provider)?.fields ?? FIELDS;

/** The names of the fields that a credential of the provider must have. */
export const requiredFieldsOf = (provider: Provider): string[] =>
  Object.entries(credentialFieldsOf(provider)).flatMap(([name, { optional }]) => (optional ? [] : [name]));

const WITHOUT_REGION = WIRED_PROVIDERS.filter((provider) => !("region" in credentialFieldsOf(provider)));

/** Of the body of a cluster. JSON Schema allows no empty list. */
export const regionRules =
  WITHOUT_REGION.length > 0
    ? { allOf: [where(holds("provider", WITHOUT_REGION), "The provider has no regions", { refuses: ["region"] })] }
    : {};

/** In the body of a credential. */
export const CREDENTIAL_KEYS = Object.fromEntries(
  Object.entries(FIELDS).map(([name, { schema }]) => [name, Type.Optional(schema)]),
) as unknown as Readonly<Record<CredentialField, ReturnType<typeof Type.Optional<TString>>>>;

const isOfAll = (name: string) => WIRED_PROVIDERS.every((provider) => name in credentialFieldsOf(provider));
const optionalUnless = <T extends TSchema>(isRequired: boolean, schema: T): T =>
  isRequired ? schema : (Type.Optional(schema) as unknown as T);

/** In an answer, which has the fields of its provider: null where it has nothing there. */
export const SHOWN_KEYS = Object.fromEntries(
  entriesWhere(({ secret }) => !secret).map(([name, { schema, masked }]) => [
    name,
    optionalUnless(
      isOfAll(name),
      Nullable(
        masked
          ? Type.String({
              description: "Its last four characters; the rest is masked.",
              examples: [maskedEnd(exampleOf(schema) as string)],
            })
          : schema,
      ),
    ),
  ]),
) as Readonly<Record<ShownField, TUnion<[TString, TNull]>>>;

const CloudProviderForm = Type.Object(
  {
    provider: Type.Enum(PROVIDERS),
    name: Type.String({ examples: ["AWS"] }),
    fields: Type.Array(
      Type.Object({
        name: Type.String({ description: "In the body of a credential.", examples: ["access_key_id"] }),
        label: Type.String({ examples: ["Access key id"] }),
        secret: Type.Boolean({ description: "Written and never read back." }),
        masked: Type.Boolean({ description: "Read back as its last four characters." }),
        multiline: Type.Boolean({ description: "A text of several lines, such as a document." }),
        optional: Type.Boolean({ description: "A credential can do without it." }),
        hint: Nullable(Type.String({ description: "What it is for, where the label does not say it." })),
        example: Type.String({ examples: ["AKIAIOSFODNN7EXAMPLE"] }),
      }),
      {
        description: "What a credential of the provider has. Its clusters have a region if `region` is one.",
      },
    ),
    instance_types: Type.Array(Type.String({ examples: ["t3.large"] }), {
      description: "Kinds of machines that suit most clusters, the smallest first. Others can be asked for too.",
    }),
    default_instance_type: Type.String({ description: "Of a cluster that asks for none.", examples: ["t3.large"] }),
  },
  {
    title: "CloudProvider",
    description: "A provider that clusters can be made at, the fields of its credentials, and its kinds of machines.",
  },
);
type CloudProviderForm = Static<typeof CloudProviderForm>;

/** The answer of `listCloudProviders`, of which the command line makes its options. */
export const CLOUD_PROVIDERS: readonly CloudProviderForm[] = WIRED_PROVIDERS.flatMap((provider) => {
  const cloud = cloudOf(provider);
  if (!cloud) return [];
  const { name, fields, instance_types, default_instance_type } = cloud;
  const described = Object.entries<CloudField>(fields).map(
    ([field, { label, secret, masked, multiline, optional, hint, schema }]) => ({
      name: field,
      label,
      secret: secret === true,
      masked: masked === true,
      multiline: multiline === true,
      optional: optional === true,
      hint: hint ?? null,
      example: exampleOf(schema) as string,
    }),
  );
  return [{ provider, name, fields: described, instance_types: [...instance_types], default_instance_type }];
});

export const listCloudProviders = operation({
  id: "listCloudProviders",
  method: "GET",
  path: "/cloud-providers",
  tag: "Credentials",
  summary:
    "List the providers that clusters can be made at, with the fields of their credentials and their kinds of machines",
  credentials: "user",
  success: [200, Whole(CloudProviderForm)],
});

import { type CloudField, isSecretName } from "@binnacle/contract";
import type { Vault } from "../vault/vault.ts";

/** The fields of a provider's credentials, by their names. */
type Fields = Readonly<Record<string, CloudField>>;
/** Texts by the names of their fields. */
type Texts = Readonly<Record<string, string>>;

interface Stored {
  readonly id: string;
  readonly settings: Texts;
  readonly sealed_secret: string | null;
}
type Sealed = Pick<Stored, "id" | "sealed_secret">;

const placeOf = (id: string) => ({ table: "cloud_credentials", row: id, column: "sealed_secret" });

const secretNames = (fields: Fields) => Object.keys(fields).filter((name) => fields[name]?.secret);

/** Divides given fields into those that are stored as they are and those that are sealed. The region has a column of its own. */
export function dividedFields(fields: Fields, given: object): { readonly settings: Texts; readonly secrets: Texts } {
  const texts = Object.entries(given as Readonly<Record<string, string | undefined>>);
  const known = texts.filter((text): text is [string, string] => {
    const [name, value] = text;
    return value !== undefined && name !== "region" && Object.hasOwn(fields, name);
  });
  const isSecret = ([name]: [string, string]) => fields[name]?.secret === true;
  return {
    settings: Object.fromEntries(known.filter((text) => !isSecret(text))),
    secrets: Object.fromEntries(known.filter(isSecret)),
  };
}

/** The only secret of a credential is sealed as it is where it is one line, because releases before know no document. */
const LONE_SECRET = /^[!-~]+$/;

/** Seals new secrets and those that stay as one document. Returns what was sealed before where no secret is new. */
export function sealedWith(
  before: Sealed,
  fields: Fields,
  secrets: Texts,
  vault: Pick<Vault, "open" | "seal">,
): string | null {
  if (Object.keys(secrets).length === 0) return before.sealed_secret;
  const names = secretNames(fields);
  // Secrets that are all replaced are not opened: the key of the vault that sealed them may be lost.
  const kept = names.every((name) => Object.hasOwn(secrets, name)) ? {} : openedSecrets(before, fields, vault);
  const all: Texts = { ...kept, ...secrets };
  const [[name, text] = ["", ""], ...others] = Object.entries(all);
  const isLone = others.length === 0 && name === names[0] && LONE_SECRET.test(text);
  // The line breaks tell a document from a lone secret.
  return vault.seal(isLone ? text : JSON.stringify(all, null, 1), placeOf(before.id));
}

function openedSecrets({ id, sealed_secret }: Sealed, fields: Fields, vault: Pick<Vault, "open">): Texts {
  if (sealed_secret === null) return {};
  const text = vault.open(sealed_secret, placeOf(id));
  const [first] = secretNames(fields);
  if (!LONE_SECRET.test(text)) return JSON.parse(text) as Texts;
  return first === undefined ? {} : { [first]: text };
}

/** The secrets in a document of JSON, such as a private key: a provider that repeats one does not repeat the document around it. */
export function secretsInside(document: string): readonly string[] {
  const found: string[] = [];
  try {
    JSON.parse(document, (name, value: unknown) => {
      if (typeof value === "string" && isSecretName(name)) found.push(value);
      return value;
    });
  } catch {
    return [];
  }
  return found;
}

export type Opened = { readonly access: Texts } | { readonly lacks: readonly string[] };

/** Opens all fields, or names those that are missing: a credential may be older than what its provider needs. */
export function openedFields(
  credential: Stored,
  fields: Fields,
  region: string | null,
  vault: Pick<Vault, "open">,
): Opened {
  const stored: Texts = {
    ...credential.settings,
    ...openedSecrets(credential, fields, vault),
    ...(region === null ? {} : { region }),
  };
  const names = Object.keys(fields);
  const lacks = names.filter((name) => !fields[name]?.optional && !Object.hasOwn(stored, name));
  if (lacks.length > 0) return { lacks };
  const has = names.filter((name) => Object.hasOwn(stored, name));
  return { access: Object.fromEntries(has.map((name) => [name, stored[name] ?? ""])) };
}

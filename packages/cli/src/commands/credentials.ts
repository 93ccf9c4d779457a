import type { CloudProvider, Credential } from "@binnacle/client";
import {
  arg,
  type Call,
  type Command,
  command,
  type GivenFor,
  type InputPath,
  inOrg,
  isTable,
  listing,
  option,
  send,
  verb,
} from "../command.ts";
import CLOUD_PROVIDERS from "../generated/cloud-providers.json" with { type: "json" };
import { CliError, EXIT, type ExitCode } from "../host.ts";
import { ageColumn, column, stateColumn, view } from "../output.ts";

const FIELDS = CLOUD_PROVIDERS.flatMap(({ name: cloud, fields }) => fields.map((field) => ({ ...field, cloud })));

/** What is read back beside the region, by the names that providers give it. */
function shownFields(credential: Readonly<Record<string, unknown>>): string {
  const names = new Set(FIELDS.map(({ name }) => name));
  names.delete("region");
  return [...names]
    .flatMap((name) => (typeof credential[name] === "string" ? `${name}=${credential[name]}` : []))
    .join(" ");
}

const CREDENTIAL = view<Credential>(
  "name",
  column("NAME", "name"),
  column("PROVIDER", "provider"),
  // A provider without regions has no such field.
  { title: "REGION", of: ({ region }) => region ?? null },
  { title: "FIELDS", of: shownFields },
  ageColumn("AGE", "created_at"),
  column("ID", "id", true),
);
const PROVIDER = view<CloudProvider>("provider", column("PROVIDER", "provider"), column("NAME", "name"));
interface Finding {
  readonly kind: "permission" | "quota";
  readonly name: string;
  readonly result: string;
  readonly detail: string | null;
}
const FINDING = view<Finding>(
  "name",
  column("KIND", "kind"),
  column("NAME", "name"),
  stateColumn("RESULT", "result"),
  column("DETAIL", "detail"),
);
/** The identity and each permission and quota as a line; the exit code says whether all suffice. */
async function credentialChecked(call: Call, { input }: GivenFor<"checkCredential">): Promise<ExitCode | undefined> {
  const check = await send(call, "checkCredential", input);
  if (!isTable(call)) call.show(null, check);
  else {
    const permissions = check.permissions.map(
      ({ action, allowed }): Finding => ({
        kind: "permission",
        name: action,
        result: allowed === null ? "unknown" : allowed ? "ok" : "missing",
        detail: null,
      }),
    );
    const quotas = check.quotas.map(
      ({ name, limit, used, ok }): Finding => ({
        kind: "quota",
        name,
        result: ok ? "ok" : "used up",
        detail: `${used} of ${limit} used`,
      }),
    );
    if (check.identity) call.info(`The provider knows it as ${check.identity}.`);
    if (permissions.length + quotas.length > 0) call.list(FINDING, [...permissions, ...quotas]);
  }
  if (check.ok) return undefined;
  throw new CliError(check.error?.message ?? "The credential does not suffice to make a cluster.", EXIT.failed);
}

/** An option for each field that the credential of some provider has. A secret is never typed on the command line. */
const OPTIONS = [...new Set(FIELDS.map(({ name }) => name))].map((name) => {
  const meant = FIELDS.filter((field) => field.name === name);
  const from = `--${name.replaceAll("_", "-")}`;
  // The table of providers and the types are written from the same schemas.
  const to = `body.${name}` as InputPath<"createCredential"> & InputPath<"updateCredential">;
  const help = `the ${name.replaceAll("_", " ")} for ${meant.map(({ cloud }) => cloud).join(" or ")}`;
  return meant.some(({ secret }) => secret)
    ? ({ from, to, kind: "secret", help } as const)
    : option(`${from} <${name.split("_").at(-1)}>`, to, help);
});

export const CREDENTIAL_COMMANDS: readonly Command[] = [
  listing("listCredentials", "credentials list", "List the credentials for providers", {
    fields: [inOrg("id")],
    view: CREDENTIAL,
  }),
  verb("getCredential", "credentials show <credential>", "Show a credential, without its secret", {
    fields: [arg("<credential>", "id", "credential")],
    view: CREDENTIAL,
  }),
  listing("listCloudProviders", "credentials providers", "List the providers that clusters can be made at", {
    view: PROVIDER,
  }),
  verb("createCredential", "credentials create <name>", "Store a credential for a provider", {
    fields: [
      inOrg("id"),
      arg("<name>", "body.name"),
      option("--provider <provider>", "body.provider", "as `credentials providers` lists it"),
      ...OPTIONS,
    ],
    takesFile: true,
    view: CREDENTIAL,
  }),
  verb("updateCredential", "credentials update <credential>", "Rename a credential, or replace its key", {
    fields: [arg("<credential>", "id", "credential"), option("--name <name>", "body.name", "its name"), ...OPTIONS],
    takesFile: true,
    view: CREDENTIAL,
  }),
  command(
    "checkCredential",
    "credentials check <credential>",
    "Ask the provider whether a credential suffices to make clusters",
    {
      fields: [arg("<credential>", "id", "credential")],
      run: credentialChecked,
    },
  ),
  verb("deleteCredential", "credentials delete <credential>", "Delete a credential", {
    fields: [arg("<credential>", "id", "credential")],
    confirm: "Delete the credential {credential}?",
    done: "Deleted {credential}.",
  }),
];

import type { CliToken, PendingDeviceLogin } from "@binnacle/client";

export type CliScope = CliToken["scopes"][number];

/** Each scope in plain words, in the order in which they are offered. */
export const SCOPE_LABELS: Readonly<Record<CliScope, string>> = {
  read: "See everything that you can see: apps, logs, clusters and settings, but no secret values",
  write: "Change everything that you may change: deploy, scale and delete apps, projects and clusters",
  "clusters:read": "See your organizations and clusters",
  "clusters:register": "Register clusters in your name, and receive the credentials of their operators",
  "install:report": "Report the progress of installs, and record their bundles",
  "bundles:read": "See the bundles of the catalog and the version of Binnacle",
};

export const SCOPES = Object.keys(SCOPE_LABELS) as CliScope[];

/** What an approval gives to the device that asks, one line for each thing. */
export function grantsOf(login: Pick<PendingDeviceLogin, "kind" | "scopes">): readonly string[] {
  if (login.kind === "session")
    return [
      "Do everything that you may do, everywhere, in your name",
      "Create further tokens, and approve further devices",
      "Stay signed in until the session ends or you end it",
    ];
  // A newer server may know scopes that this page does not; they are named rather than hidden.
  return login.scopes.map((scope) => SCOPE_LABELS[scope] ?? `Use the scope ${scope}, which this page does not know`);
}

/** Where the access that is given works. */
export function placeOf(
  login: Pick<PendingDeviceLogin, "kind" | "org_id" | "org_name" | "project_id" | "project_name">,
): string {
  if (login.project_id)
    return login.project_name ? `Only in the project ${login.project_name}` : "Only in a project that you do not see";
  if (login.org_id)
    return login.org_name
      ? `Only in the organization ${login.org_name}`
      : "Only in an organization that you do not see";
  return login.kind === "session" ? "Everywhere" : "In all your organizations and projects";
}

/** How bad it would be if somebody else had sent the code. */
export const isPowerful = ({ kind, scopes }: Pick<PendingDeviceLogin, "kind" | "scopes">): boolean =>
  kind === "session" || scopes.includes("write") || scopes.includes("clusters:register");

/** The signs that somebody else may have begun the login. */
export function suspicionsOf(
  { source_address, age_seconds }: Pick<PendingDeviceLogin, "source_address" | "age_seconds">,
  ownAddress: string | null,
): readonly string[] {
  const lines: string[] = [];
  if (source_address === null) lines.push("The server does not know the address of the device.");
  else if (ownAddress !== null && ownAddress !== source_address)
    lines.push(`The device asks from ${source_address}, and this browser is at ${ownAddress}.`);
  if (age_seconds > 300) lines.push("The request is older than five minutes.");
  return lines;
}

/** A code as people type it: any case, with or without the dash. Null where it cannot be one. */
export function codeOf(typed: string): string | null {
  const letters = typed.toUpperCase().replace(/[\s-]/g, "");
  return /^[A-Z]{8}$/.test(letters) ? `${letters.slice(0, 4)}-${letters.slice(4)}` : null;
}

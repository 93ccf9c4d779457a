import { isReading, type Operation } from "./operation.ts";
import type { Scope } from "./states.ts";

/**
 * The operations that the scopes `read` and `write` do not open, by id and with the reason. Every other operation that takes a
 * session also takes a CLI token: with `read` if it only reads, and with `write` otherwise. A scope that an operation names
 * itself is accepted in any case.
 */
export const CLOSED_TO_READ_AND_WRITE: Readonly<Record<string, string>> = {
  ...because("It is about passwords, sessions or the accounts of people.", [
    "logout",
    "listSessions",
    "endSession",
    "listUsers",
    "getUser",
    "createUser",
    "updateUser",
    "deleteUser",
    "setUserTier",
    "setUserDisabled",
    "verifyUserEmail",
  ]),
  ...because("A token must not lead to another token or to a session.", [
    "createCliToken",
    "listCliTokens",
    "deleteCliToken",
    "getDeviceLogin",
    "decideDeviceLogin",
  ]),
  ...because("It is about who may do what.", [
    "listMembers",
    "addMember",
    "changeMember",
    "removeMember",
    "listClusterRoles",
    "grantClusterRole",
    "replaceClusterRole",
    "revokeClusterRole",
    "listProjectRoles",
    "getRoleMatrix",
    "grantProjectRole",
    "replaceProjectRole",
    "revokeProjectRole",
  ]),
  ...because("It sets or removes the value of a cloud credential.", [
    "createCredential",
    "updateCredential",
    "deleteCredential",
  ]),
  ...because("Its description names the scope that it takes, and it takes no other.", [
    "getVersion",
    "getClusterBundle",
    "recordClusterBundle",
    "reportInstallEvent",
  ]),
  ...because("Its answer has a secret of something that exists already.", [
    "getSshKey",
    "createAgentCredentials",
    "rotateClusterToken",
  ]),
};

function because(reason: string, ids: readonly string[]): Record<string, string> {
  return Object.fromEntries(ids.map((id) => [id, reason]));
}

/**
 * The scopes of which a CLI token needs one for the operation. An empty list means that the operation takes no CLI token.
 * `any` means that every CLI token may call it, whatever its scopes.
 */
export function acceptedScopes(operation: Operation): readonly Scope[] | "any" {
  const { id, credentials } = operation;
  if (credentials === "none") return [];
  if (credentials === "cli_token") return "any";
  const named = credentials === "user" ? [] : credentials;
  if (Object.hasOwn(CLOSED_TO_READ_AND_WRITE, id)) return named;
  return [...named, isReading(operation) ? "read" : "write"];
}

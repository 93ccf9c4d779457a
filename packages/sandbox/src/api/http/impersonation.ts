import type { Core } from "../core.ts";
import { type Act, checkAllowed } from "./authorization.ts";
import type { ApiRequest } from "./message.ts";
import { accountIdentity, type Identity } from "./tokens.ts";

const ACCOUNT = /^system:serviceaccount:([^:]+):([^:]+)$/;

/**
 * In whose name a request is made: that of whoever sends it, or of whom they name where roles let them. Only users are
 * named here, and a service account comes with its groups.
 */
export function actingAs(core: Core, sender: Identity, { headers }: Pick<ApiRequest, "headers">): Identity {
  const user = headers["impersonate-user"];
  if (user === undefined) return sender;
  const [, namespace, name] = ACCOUNT.exec(user) ?? [];
  const act: Omit<Act, "resource"> = { verb: "impersonate", group: "", name: name ?? user, namespace };
  checkAllowed(core, sender, { ...act, resource: namespace === undefined ? "users" : "serviceaccounts" });
  if (namespace !== undefined && name !== undefined) return accountIdentity(namespace, name);
  return { username: user, groups: ["system:authenticated"], isAdministrator: false };
}

import type { KubeObject } from "../../store/kube-object.ts";
import { ApiFault } from "../fault.ts";
import type { JsonRecord } from "../fields/typed-value.ts";
import type { Core } from "../ports.ts";
import { recordsAt, textAt } from "../validation/metadata.ts";
import type { ApiRequest } from "./message.ts";
import { accountIdentity, type Identity } from "./tokens.ts";

export interface Act {
  readonly verb: string;
  readonly group: string;
  /** With its subresource, like `pods/log`. */
  readonly resource: string;
  readonly name: string | undefined;
  readonly namespace: string | undefined;
}

const RBAC = "rbac.authorization.k8s.io";

/** Whether somebody may do this: administrators everything, service accounts what roles allow them. */
export function isAllowed(core: Core, identity: Identity, act: Act): boolean {
  return identity.isAdministrator || rulesFor(core, identity, act.namespace).some((rule) => covers(rule, act));
}

export function checkAllowed(core: Core, identity: Identity, act: Act): void {
  if (isAllowed(core, identity, act)) return;
  const { verb, group, resource, name, namespace } = act;
  const [kind = ""] = resource.split("/");
  const title = group === "" ? kind : `${kind}.${group}`;
  const where = namespace === undefined ? "at the cluster scope" : `in the namespace ${JSON.stringify(namespace)}`;
  const what = name === undefined ? title : `${title} ${JSON.stringify(name)}`;
  const message = `${what} is forbidden: User ${JSON.stringify(identity.username)} cannot ${verb} resource ${JSON.stringify(resource)} in API group ${JSON.stringify(group)} ${where}`;
  throw new ApiFault(403, "Forbidden", message, {
    ...(name === undefined ? {} : { name }),
    ...(group === "" ? {} : { group }),
    kind,
  });
}

function rulesFor({ table }: Core, identity: Identity, namespace: string | undefined): readonly JsonRecord[] {
  const wide = table.list(`clusterrolebindings.${RBAC}`);
  const local = namespace === undefined ? [] : table.list(`rolebindings.${RBAC}`, namespace);
  return [...wide, ...local]
    .filter((binding) => recordsAt(binding, "subjects").some((subject) => isSubject(subject, binding, identity)))
    .flatMap((binding) => {
      const isLocal = textAt(binding, "roleRef", "kind") === "Role";
      const name = textAt(binding, "roleRef", "name");
      const role = isLocal
        ? table.get(`roles.${RBAC}`, name, binding.metadata.namespace)
        : table.get(`clusterroles.${RBAC}`, name);
      return role ? recordsAt(role, "rules") : [];
    });
}

function isSubject(subject: JsonRecord, binding: KubeObject, { username, groups }: Identity): boolean {
  const [kind, name] = [textAt(subject, "kind"), textAt(subject, "name")];
  if (kind === "Group") return groups.includes(name);
  if (kind !== "ServiceAccount") return name === username;
  return username === `system:serviceaccount:${textAt(subject, "namespace") || binding.metadata.namespace}:${name}`;
}

const listed = (rule: JsonRecord, field: string): readonly unknown[] => (Array.isArray(rule[field]) ? rule[field] : []);

function covers(rule: JsonRecord, { verb, group, resource, name }: Act): boolean {
  const has = (field: string, ...values: readonly string[]) =>
    ["*", ...values].some((value) => listed(rule, field).includes(value));
  const [, subresource] = resource.split("/");
  const names = listed(rule, "resourceNames");
  return (
    has("verbs", verb) &&
    has("apiGroups", group) &&
    has("resources", resource, ...(subresource ? [`*/${subresource}`] : [])) &&
    (names.length === 0 || names.includes(name))
  );
}

/** The RBAC verb of a request. */
export function verbOf(method: string, isOne: boolean, isWatch: boolean): string {
  if (method === "GET" || method === "HEAD") return isWatch ? "watch" : isOne ? "get" : "list";
  if (method === "DELETE") return isOne ? "delete" : "deletecollection";
  return { POST: "create", PUT: "update", PATCH: "patch" }[method] ?? method.toLowerCase();
}

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

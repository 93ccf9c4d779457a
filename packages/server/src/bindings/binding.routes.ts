import {
  getRoleMatrix,
  grantClusterRole,
  grantProjectRole,
  listClusterRoles,
  listProjectRoles,
  type RoleGrant,
  replaceClusterRole,
  replaceProjectRole,
  revokeClusterRole,
  revokeProjectRole,
} from "@binnacle/contract";
import { wireBinding } from "../accounts/user.ts";
import { clusterPlace } from "../clusters/cluster-place.store.ts";
import { totalRows } from "../database/row-count.store.ts";
import type { Tx } from "../database/transaction.ts";
import { notFound } from "../fault.ts";
import type { Change } from "../http/change.runner.ts";
import { at } from "../http/guard.ts";
import { envelope, type Page, pageOf } from "../http/pagination.ts";
import { type Route, route } from "../http/route.ts";
import { newId } from "../id.adapter.ts";
import { findMember, lockOrg } from "../orgs/org.store.ts";
import { orgPlace } from "../orgs/org-place.store.ts";
import type { Ports } from "../ports.ts";
import { projectPlace } from "../projects/project-place.store.ts";
import {
  type BindingRow,
  countBindings,
  deleteBinding,
  findBinding,
  findUsername,
  insertBinding,
  listBindings,
  notAMember,
  type Place,
  readRoleMatrix,
  updateBindingRole,
} from "./binding.store.ts";

interface Located {
  readonly id: string;
  readonly org_id: string;
  readonly name: string;
}
const ofCluster = ({ id, org_id, name }: Located): Place => ({ kind: "cluster", id, orgId: org_id, name });
const ofProject = ({ id, org_id, name }: Located): Place => ({ kind: "project", id, orgId: org_id, name });

export function bindingRoutes({ db, clock }: Ports<"db" | "clock">): Route[] {
  async function list(place: Place, query: Page) {
    const [bindings, total] = await Promise.all([listBindings(db, place, pageOf(query)), countBindings(db, place)]);
    return envelope(bindings.map(wireBinding), total, query);
  }

  const grant = (change: Change, place: Place, { user_id, role }: RoleGrant) =>
    change(async (unit) => {
      await memberOf(unit.db, place, user_id);
      const binding = await insertBinding(unit, place, { id: newId(), user_id, role }, clock());
      unit.record(await entryOf(unit.db, "role_binding.grant", place, binding));
      return wireBinding(binding);
    });

  const replace = (change: Change, place: Place, { user_id, role }: RoleGrant) =>
    change(async (unit) => {
      await memberOf(unit.db, place, user_id);
      const { role: before } = await findBinding(unit.db, place, user_id);
      const binding = await updateBindingRole(unit, place, user_id, role, clock());
      if (!binding) throw notFound("Role binding");
      unit.record({ ...(await entryOf(unit.db, "role_binding.replace", place, binding)), before: { role: before } });
      return wireBinding(binding);
    });

  const revoke = (change: Change, place: Place, bindingId: string) =>
    change(async (unit) => {
      const binding = await deleteBinding(unit, place, bindingId);
      if (!binding) throw notFound("Role binding");
      unit.record(await entryOf(unit.db, "role_binding.revoke", place, binding));
      return null;
    });

  return [
    route(getRoleMatrix, at(orgPlace, "admin"), async ({ org, query }) => {
      const [members, total] = await Promise.all([
        readRoleMatrix(db, org.id, pageOf(query)),
        totalRows(db, "memberships", org.id),
      ]);
      return envelope(members, total, query);
    }),

    route(listClusterRoles, at(clusterPlace, "viewer"), async ({ cluster, query }) => list(ofCluster(cluster), query)),
    route(grantClusterRole, at(clusterPlace, "admin"), async ({ cluster, body, change }) =>
      grant(change, ofCluster(cluster), body),
    ),
    route(replaceClusterRole, at(clusterPlace, "admin"), async ({ cluster, body, change }) =>
      replace(change, ofCluster(cluster), body),
    ),
    route(revokeClusterRole, at(clusterPlace, "admin"), async ({ cluster, query, change }) =>
      revoke(change, ofCluster(cluster), query.binding_id),
    ),

    route(listProjectRoles, at(projectPlace, "viewer"), async ({ project, query }) => list(ofProject(project), query)),
    route(grantProjectRole, at(projectPlace, "admin"), async ({ project, body, change }) =>
      grant(change, ofProject(project), body),
    ),
    route(replaceProjectRole, at(projectPlace, "admin"), async ({ project, body, change }) =>
      replace(change, ofProject(project), body),
    ),
    route(revokeProjectRole, at(projectPlace, "admin"), async ({ project, query, change }) =>
      revoke(change, ofProject(project), query.binding_id),
    ),
  ];
}

/** Locks the organization: a concurrent removal of the member would leave the role behind. */
async function memberOf(tx: Tx, { orgId }: Place, userId: string): Promise<void> {
  await lockOrg(tx, orgId);
  if (!(await findMember(tx, orgId, userId))) throw notAMember();
}

/** The entry names the user and the place, because ids tell a reader of the log nothing. */
async function entryOf(tx: Tx, action: string, { kind, id, orgId, name }: Place, binding: BindingRow) {
  const { id: bindingId, user_id, role } = binding;
  return {
    action,
    resource: { type: "role_binding", id: bindingId, name: await findUsername(tx, user_id) },
    orgId,
    changes: { user_id, role, [`${kind}_id`]: id, [kind]: name },
  };
}

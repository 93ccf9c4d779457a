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
import type { Clock } from "../clock.ts";
import type { Queries, Tx } from "../database/transaction.ts";
import { notFound } from "../fault.ts";
import type { Change } from "../http/change.runner.ts";
import { type Input, inProject, onCluster, orgAdmin } from "../http/guard.ts";
import { type Route, route } from "../http/route.ts";
import { newId } from "../id.adapter.ts";
import { findMember, lockOrg } from "../orgs/org.store.ts";
import {
  type BindingRow,
  deleteBinding,
  findBinding,
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
}
const clusterPlace = ({ id, org_id }: Located): Place => ({ kind: "cluster", id, orgId: org_id });
const projectPlace = ({ id, org_id }: Located): Place => ({ kind: "project", id, orgId: org_id });
const placeId = ({ params }: Input<{ id: string }>) => params.id;

export function bindingRoutes(db: Queries, clock: Clock): Route[] {
  async function list(place: Place) {
    const bindings = await listBindings(db, place);
    return { data: bindings.map(wireBinding), total_count: bindings.length };
  }

  const grant = (change: Change, place: Place, { user_id, role }: RoleGrant) =>
    change(async (unit) => {
      await memberOf(unit.db, place, user_id);
      const binding = await insertBinding(unit, place, { id: newId(), user_id, role }, clock());
      unit.record(entryOf("role_binding.grant", place, binding));
      return wireBinding(binding);
    });

  const replace = (change: Change, place: Place, { user_id, role }: RoleGrant) =>
    change(async (unit) => {
      await memberOf(unit.db, place, user_id);
      const { role: before } = await findBinding(unit.db, place, user_id);
      const binding = await updateBindingRole(unit, place, user_id, role, clock());
      if (!binding) throw notFound("Role binding");
      unit.record({ ...entryOf("role_binding.replace", place, binding), before: { role: before } });
      return wireBinding(binding);
    });

  const revoke = (change: Change, place: Place, bindingId: string) =>
    change(async (unit) => {
      const binding = await deleteBinding(unit, place, bindingId);
      if (!binding) throw notFound("Role binding");
      unit.record(entryOf("role_binding.revoke", place, binding));
      return null;
    });

  return [
    route(getRoleMatrix, orgAdmin(placeId), async ({ org }) => ({ members: await readRoleMatrix(db, org.id) })),

    route(listClusterRoles, onCluster("viewer", placeId), async ({ cluster }) => list(clusterPlace(cluster))),
    route(grantClusterRole, onCluster("admin", placeId), async ({ cluster, body, change }) =>
      grant(change, clusterPlace(cluster), body),
    ),
    route(replaceClusterRole, onCluster("admin", placeId), async ({ cluster, body, change }) =>
      replace(change, clusterPlace(cluster), body),
    ),
    route(revokeClusterRole, onCluster("admin", placeId), async ({ cluster, query, change }) =>
      revoke(change, clusterPlace(cluster), query.binding_id),
    ),

    route(listProjectRoles, inProject("viewer", placeId), async ({ project }) => list(projectPlace(project))),
    route(grantProjectRole, inProject("admin", placeId), async ({ project, body, change }) =>
      grant(change, projectPlace(project), body),
    ),
    route(replaceProjectRole, inProject("admin", placeId), async ({ project, body, change }) =>
      replace(change, projectPlace(project), body),
    ),
    route(revokeProjectRole, inProject("admin", placeId), async ({ project, query, change }) =>
      revoke(change, projectPlace(project), query.binding_id),
    ),
  ];
}

/** Locks the organization: a concurrent removal of the member would leave the role behind. */
async function memberOf(tx: Tx, { orgId }: Place, userId: string): Promise<void> {
  await lockOrg(tx, orgId);
  if (!(await findMember(tx, orgId, userId))) throw notAMember();
}

const entryOf = (action: string, { kind, id, orgId }: Place, { id: bindingId, user_id, role }: BindingRow) => ({
  action,
  resource: { type: "role_binding", id: bindingId, name: null },
  orgId,
  changes: { user_id, role, [`${kind}_id`]: id },
});

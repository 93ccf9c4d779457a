import type { BindingRole, OrgRole } from "@binnacle/contract";
import type { Binding, User } from "../accounts/user.ts";
import { type CallerRow, statement } from "./caller.store.ts";
import type { Caller } from "./caller.ts";

/** The caller's own record. */
export interface Me {
  readonly caller: Caller;
  readonly user: User;
  readonly organizations: readonly { readonly id: string; readonly name: string; readonly role: OrgRole }[];
  readonly bindings: readonly Binding[];
}

/** The caller's memberships and role bindings, with the places that they hold in. */
export interface OwnAccess extends Pick<OwnAccessRow, "orgs" | "clusters" | "projects"> {
  readonly caller: Caller;
}

/** JSON has no dates, so those of the bindings are texts. */
export interface MeRow extends CallerRow, User {
  organizations: Me["organizations"];
  bindings: readonly (Omit<Binding, "created_at" | "updated_at"> & { created_at: string; updated_at: string })[];
}

export interface OwnAccessRow extends CallerRow {
  readonly orgs: { readonly id: string; readonly name: string; readonly slug: string; readonly role: OrgRole }[];
  readonly clusters: { readonly id: string; readonly org_id: string; readonly role: BindingRole }[];
  readonly projects: {
    readonly id: string;
    readonly cluster_id: string;
    readonly org_id: string;
    readonly role: BindingRole;
  }[];
}

/** For a bound CLI token only its organization, or only the role on its project. */
const WITHIN = {
  session: { memberships: "", bindings: "" },
  cli_token: {
    memberships: "and caller_project_id is null and (caller_org_id is null or m.org_id = caller_org_id)",
    bindings: `and (caller_project_id is null or b.project_id = caller_project_id)
      and (caller_org_id is null
        or b.cluster_id in (select id from clusters where org_id = caller_org_id)
        or b.project_id in (select id from projects where org_id = caller_org_id))`,
  },
} as const;

/** A user's own record, with the roles that decide what the user sees. */
export const ME = statement(
  "me",
  (
    kind,
  ) => `select caller.*, u.id, u.name, u.username, u.email, u.email_verified, u.email_vouched_by, u.profile_image_url,
      u.is_superuser, u.disabled, u.tier_name, u.created_at, u.updated_at,
      (select coalesce(json_agg(json_build_object('id', o.id, 'name', o.name, 'role', m.role) order by o.name), '[]')
        from memberships m join orgs o on o.id = m.org_id
        where m.user_id = u.id ${WITHIN[kind].memberships}) as organizations,
      (select coalesce(json_agg(b order by b.id desc), '[]') from role_bindings b
        where b.user_id = u.id ${WITHIN[kind].bindings}) as bindings
    from caller join users u on u.id = caller.caller_id`,
);

export const OWN_ACCESS = statement(
  "own access",
  (kind) => `select caller.*,
      (select coalesce(json_agg(json_build_object('id', o.id, 'name', o.name, 'slug', o.slug, 'role', m.role) order by o.name), '[]')
        from memberships m join orgs o on o.id = m.org_id
        where m.user_id = caller_id ${WITHIN[kind].memberships}) as orgs,
      (select coalesce(json_agg(json_build_object('id', c.id, 'org_id', c.org_id, 'role', b.role) order by c.id desc), '[]')
        from role_bindings b join clusters c on c.id = b.cluster_id
        where b.user_id = caller_id ${WITHIN[kind].bindings}) as clusters,
      (select coalesce(json_agg(
          json_build_object('id', p.id, 'cluster_id', p.cluster_id, 'org_id', p.org_id, 'role', b.role) order by p.id desc
        ), '[]')
        from role_bindings b join projects p on p.id = b.project_id
        where b.user_id = caller_id ${WITHIN[kind].bindings}) as projects
    from caller`,
);

export function recordOf(row: MeRow): Omit<Me, "caller"> {
  const bindings = row.bindings.map((binding) => ({
    ...binding,
    created_at: new Date(binding.created_at),
    updated_at: new Date(binding.updated_at),
  }));
  return { user: row, organizations: row.organizations, bindings };
}

import { type BindingRole, MOST_OWN_ROLES, type OrgRole } from "@binnacle/contract";
import { type CallerFacts, statement } from "../access/caller.store.ts";
import { columnsOf } from "../database/columns.ts";
import { USER_COLUMNS } from "./user.store.ts";
import type { Binding, User } from "./user.ts";

interface Me {
  readonly user: User;
  readonly organizations: readonly { readonly id: string; readonly name: string; readonly role: OrgRole }[];
  readonly bindings: readonly Binding[];
  readonly more_roles: number;
}

const BINDING_COLUMNS = ["id", "user_id", "role", "cluster_id", "project_id", "created_at", "updated_at"];

/** JSON has no dates, so those of the bindings are texts. */
interface MeRow extends User, Pick<Me, "organizations" | "more_roles"> {
  readonly bindings: readonly (Omit<Binding, "created_at" | "updated_at"> & {
    created_at: string;
    updated_at: string;
  })[];
}

/** The caller's memberships and role bindings, with the places that they hold in. */
interface OwnAccess {
  readonly orgs: { readonly id: string; readonly name: string; readonly slug: string; readonly role: OrgRole }[];
  readonly clusters: { readonly id: string; readonly org_id: string; readonly role: BindingRole }[];
  readonly projects: {
    readonly id: string;
    readonly cluster_id: string;
    readonly org_id: string;
    readonly role: BindingRole;
  }[];
  readonly more_roles: number;
}

/** The shared connection has room for the rows of so many memberships and role bindings. */
const FEW_ROLES = 20;

/** A list of what the caller has been granted, with the order of its items. */
interface Granted {
  readonly name: string;
  readonly item: string;
  readonly order: string;
  readonly from: string;
}

/** For a bound CLI token only its organization, or only the role on its project. */
const MEMBERSHIPS = `from memberships m join orgs o on o.id = m.org_id
  where m.user_id = caller_id and caller_project_id is null and (caller_org_id is null or m.org_id = caller_org_id)`;
const WITHIN = `b.user_id = caller_id and (caller_project_id is null or b.project_id = caller_project_id)
  and (caller_org_id is null
    or exists (select from clusters x where x.id = b.cluster_id and x.org_id = caller_org_id)
    or exists (select from projects x where x.id = b.project_id and x.org_id = caller_org_id))`;

const listed = ({ name, item, order, from }: Granted, unless: string) => `cross join lateral (
    select coalesce(json_agg(item order by place) filter (where place <= ${MOST_OWN_ROLES}), '[]') as items,
      greatest(count(*) - ${MOST_OWN_ROLES}, 0) as more
    from (select json_build_object(${item}) as item, row_number() over (order by ${order}) as place ${from}) granted
    ${unless}
  ) ${name}`;

const IS_LONG = `cross join lateral (select count(*) > ${FEW_ROLES} as is_long from (
    (select 1 from memberships where user_id = caller_id limit ${FEW_ROLES + 1})
    union all (select 1 from role_bindings where user_id = caller_id limit ${FEW_ROLES + 1})
  ) roles) long`;

/** The lists of a caller with few roles, or `is_long`; and the statement that reads them whole, as far as an answer has room. */
function granted(name: string, columns: string, from: string, lists: readonly Granted[]) {
  const selected = lists.map((list) => `${list.name}.items as ${list.name}`).join(", ");
  const more = lists.map((list) => `${list.name}.more`).join(" + ");
  const text = (isLong: string, unless: string, joined: string) =>
    `select caller.*, ${columns} ${selected}, ${more} as more_roles, ${isLong} as is_long
    from ${from} ${joined} ${lists.map((list) => listed(list, unless)).join(" ")}`;
  return {
    statement: statement(name, text("long.is_long", "where not long.is_long", IS_LONG)),
    whole: statement(`whole ${name}`, text("false", "", "")),
  };
}

/** A user's own record, with the roles that decide what the user sees. */
export const ME: CallerFacts<Me> = {
  ...granted("me", `${columnsOf("u", USER_COLUMNS)},`, "caller join users u on u.id = caller.caller_id", [
    {
      name: "organizations",
      item: "'id', o.id, 'name', o.name, 'role', m.role",
      order: "o.name, o.id",
      from: MEMBERSHIPS,
    },
    {
      name: "bindings",
      item: BINDING_COLUMNS.map((column) => `'${column}', b.${column}`).join(", "),
      order: "b.id desc",
      from: `from role_bindings b where ${WITHIN}`,
    },
  ]),
  factsOf: (row: MeRow) => ({
    user: row,
    organizations: row.organizations,
    bindings: row.bindings.map((binding) => ({
      ...binding,
      created_at: new Date(binding.created_at),
      updated_at: new Date(binding.updated_at),
    })),
    more_roles: row.more_roles,
  }),
};

export const OWN_ACCESS: CallerFacts<OwnAccess> = {
  ...granted("own access", "", "caller", [
    {
      name: "orgs",
      item: "'id', o.id, 'name', o.name, 'slug', o.slug, 'role', m.role",
      order: "o.name, o.id",
      from: MEMBERSHIPS,
    },
    {
      name: "clusters",
      item: "'id', c.id, 'org_id', c.org_id, 'role', b.role",
      order: "c.id desc",
      from: `from role_bindings b join clusters c on c.id = b.cluster_id where ${WITHIN}`,
    },
    {
      name: "projects",
      item: "'id', p.id, 'cluster_id', p.cluster_id, 'org_id', p.org_id, 'role', b.role",
      order: "p.id desc",
      from: `from role_bindings b join projects p on p.id = b.project_id where ${WITHIN}`,
    },
  ]),
  factsOf: ({ orgs, clusters, projects, more_roles }: OwnAccess) => ({ orgs, clusters, projects, more_roles }),
};

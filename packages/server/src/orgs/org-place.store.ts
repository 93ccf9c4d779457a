import type { OrgRole } from "@binnacle/contract";
import { keptTotal, newest, WINDOW } from "../access/list.store.ts";
import type { ListQuery, QueriedList } from "../access/list.ts";
import type { Place } from "../access/place.ts";
import { MEMBER_ORGS, SEES_ALL } from "../access/visibility.store.ts";
import { columnsOf, longOf, SHORT_ORG_COLUMNS } from "../database/columns.ts";
import type { ListedOrg, Org } from "./org.ts";

/** A caller who is not a member gets 403 under `/orgs/{id}`. */
export const orgPlace: Place<"org", Org, string, OrgRole> = {
  key: "org",
  title: "Organization",
  table: "orgs",
  owners: { org: "id" },
  requirement: (role) => ({ needs: "org_role", role, hidden: false }),
  columns: columnsOf("p", SHORT_ORG_COLUMNS),
  long: longOf("p", ["settings"]),
};

/** Where the organization is named otherwise, such a caller gets 404. */
export const hiddenOrgPlace: typeof orgPlace = {
  ...orgPlace,
  requirement: (role) => ({ needs: "org_role", role, hidden: true }),
};

/** The settings are not listed. */
const COLUMNS = columnsOf("page", SHORT_ORG_COLUMNS);

const OWN: ListQuery = {
  name: "orgs",
  text: () => `, own as (${MEMBER_ORGS})
    select caller.*, (select count(*) from own) as list_total, ${COLUMNS}
    from caller left join lateral (select * from orgs where id in (select id from own) ${WINDOW}) page on true
    order by page.id desc`,
  isShort: true,
};

/** For superusers. For others it has no rows. */
const ALL: ListQuery = {
  name: "all orgs",
  text: (bound) => `select caller.*, ${keptTotal("orgs")} as list_total, ${COLUMNS}
    from caller left join lateral (select * from ${newest("orgs", null, bound)} o ${WINDOW}) page on ${SEES_ALL}
    order by page.id desc`,
};

/** An organization is listed to its members, and to superusers who ask for all. */
export const orgList: QueriedList<ListedOrg, { readonly all: boolean }> = {
  choose: ({ all }) => ({ query: all ? ALL : OWN, values: [] }),
};

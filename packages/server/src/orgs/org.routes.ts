import {
  createOrg,
  deleteOrg,
  getOrg,
  getOrgSettings,
  listOrgs,
  updateOrg,
  updateOrgSettings,
} from "@binnacle/contract";
import type { Bus } from "../bus/bus.ts";
import type { Clock } from "../clock.ts";
import {
  hiddenOrgAdmin,
  hiddenOrgMember,
  orgAdmin,
  orgList,
  orgMember,
  orgSuperuser,
  superuser,
} from "../http/guard.ts";
import { envelope } from "../http/pagination.ts";
import { type Route, route } from "../http/route.ts";
import { ORG_SETTINGS_TOPIC } from "../hub/ports.ts";
import { newId } from "../id.adapter.ts";
import { chooseSlug, deleteOrgRow, insertMember, insertOrg, lockOrg, updateOrgRow } from "./org.store.ts";
import { auditedSettings, knownSettings, mergeSettings, type Org, settingsProblem, wireOrg } from "./org.ts";

const resourceOf = (org: Org) => ({ type: "org", id: org.id, name: org.name });

export function orgRoutes(bus: Bus, clock: Clock): Route[] {
  return [
    route(listOrgs, orgList, async ({ rows, total, query }) => envelope(rows.map(wireOrg), total, query)),

    route(createOrg, superuser, async ({ caller, body, change }) =>
      change(async (unit) => {
        const { db: tx, record } = unit;
        const id = newId();
        const now = clock();
        const { name, description = null } = body;
        const slug = await chooseSlug(tx, name, id);
        const org: Org = { id, name, slug, description, settings: {}, created_at: now, updated_at: now };
        await insertOrg(tx, org);
        await insertMember(unit, { orgId: id, userId: caller.id, role: "admin", now });
        record({ action: "org.create", resource: resourceOf(org), orgId: id, changes: { name, description } });
        return wireOrg(org);
      }),
    ),

    route(
      getOrg,
      orgMember(({ params }) => params.id),
      async ({ org }) => wireOrg(org),
    ),

    route(
      updateOrg,
      orgAdmin(({ params }) => params.id),
      async ({ params, body, change }) =>
        change(async ({ db: tx, record }) => {
          const current = await lockOrg(tx, params.id);
          const { name, description = null } = body;
          const slug = name === current.name ? current.slug : await chooseSlug(tx, name, current.id);
          const org: Org = { ...current, name, slug, description, updated_at: clock() };
          await updateOrgRow(tx, org);
          record({
            action: "org.update",
            resource: resourceOf(org),
            orgId: org.id,
            changes: { name, description },
            before: current,
          });
          return wireOrg(org);
        }),
    ),

    route(
      deleteOrg,
      orgSuperuser(({ params }) => params.id),
      async ({ params, change }) =>
        change(async ({ db: tx, record }) => {
          const org = await lockOrg(tx, params.id);
          await deleteOrgRow(tx, org.id);
          record({ action: "org.delete", resource: resourceOf(org), orgId: org.id });
          return null;
        }),
    ),

    route(
      getOrgSettings,
      hiddenOrgMember(({ query }) => query.org_id),
      async ({ org }) => ({ org_id: org.id, settings: org.settings }),
    ),

    route(
      updateOrgSettings,
      hiddenOrgAdmin(({ query }) => query.org_id),
      async ({ query, body, change }) =>
        change(async ({ db: tx, record, afterCommit }) => {
          const current = await lockOrg(tx, query.org_id);
          const settings = mergeSettings(current.settings, body.settings);
          const problem = settingsProblem(settings);
          if (problem) throw problem;
          await updateOrgRow(tx, { ...current, settings, updated_at: clock() });
          record({
            action: "org.update_settings",
            resource: resourceOf(current),
            orgId: current.id,
            changes: auditedSettings(body.settings),
            before: knownSettings(current.settings),
          });
          afterCommit(() => bus.publish(ORG_SETTINGS_TOPIC, { org_id: current.id }));
          return { org_id: current.id, settings };
        }),
    ),
  ];
}

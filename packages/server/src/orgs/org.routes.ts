import {
  createOrg,
  deleteOrg,
  getOrg,
  getOrgSettings,
  listOrgs,
  updateOrg,
  updateOrgSettings,
} from "@binnacle/contract";
import { prepareGitops } from "../gitops/gitops-settings.runner.ts";
import { findGitopsThatIsOn } from "../gitops/gitops-settings.store.ts";
import { type GitopsSettings, shownSettings } from "../gitops/gitops-settings.ts";
import { at, listOf, requireSuperuser, superuser } from "../http/guard.ts";
import { envelope } from "../http/pagination.ts";
import { type Route, route } from "../http/route.ts";
import { ORG_SETTINGS_TOPIC } from "../hub/ports.ts";
import { newId } from "../id.adapter.ts";
import type { Ports } from "../ports.ts";
import { chooseSlug, deleteOrgRow, insertMember, insertOrg, lockOrg, updateOrgRow } from "./org.store.ts";
import {
  auditedSettings,
  knownSettings,
  mergeSettings,
  type Org,
  settingsProblem,
  storedSettings,
  wireOrg,
} from "./org.ts";
import { hiddenOrgPlace, orgList, orgPlace } from "./org-place.store.ts";

const listed = listOf(orgList);
/** All of them are for superusers only. */
const orgsAskedFor: typeof listed = {
  ...listed,
  async authorize(request, input) {
    const list = await listed.authorize(request, input);
    if (input.query.all) requireSuperuser(list.caller);
    return list;
  },
};

const resourceOf = (org: Org) => ({ type: "org", id: org.id, name: org.name });

export function orgRoutes({ clock }: Ports<"clock">): Route[] {
  return [
    route(listOrgs, orgsAskedFor, async ({ rows, total, query }) => envelope(rows.map(wireOrg), total, query)),

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

    route(getOrg, at(orgPlace, "member"), async ({ org }) => wireOrg(org)),

    route(updateOrg, at(orgPlace, "admin"), async ({ params, body, change }) =>
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

    route(deleteOrg, at(orgPlace, "superuser"), async ({ params, change }) =>
      change(async ({ db: tx, record }) => {
        const org = await lockOrg(tx, params.id);
        await deleteOrgRow(tx, org.id);
        record({ action: "org.delete", resource: resourceOf(org), orgId: org.id });
        return null;
      }),
    ),
  ];
}

export function orgSettingsRoutes({
  db,
  bus,
  clock,
  vault,
  git,
}: Ports<"db" | "bus" | "clock" | "vault" | "git">): Route[] {
  return [
    route(
      getOrgSettings,
      at(hiddenOrgPlace, "member", ({ query }) => query.org_id),
      async ({ org }) => {
        const gitops = await findGitopsThatIsOn(db, org.id);
        return { org_id: org.id, settings: wireSettings(org.settings, gitops) };
      },
    ),

    route(
      updateOrgSettings,
      at(hiddenOrgPlace, "admin", ({ query }) => query.org_id),
      async ({ query, body, caller, change }) => {
        const { gitops: asked, ...changes } = body.settings;
        const gitops = await prepareGitops({ db, vault, git, clock }, query.org_id, caller.id, asked);
        return change(async ({ db: tx, record, afterCommit }) => {
          const current = await lockOrg(tx, query.org_id);
          const stored = storedSettings(current.settings);
          const settings = mergeSettings(stored, changes);
          const problem = settingsProblem(settings);
          if (problem) throw problem;
          await updateOrgRow(tx, { ...current, settings, updated_at: clock() });
          const { before, after, changes: ofGitops } = await gitops.save(tx);
          record({
            action: "org.update_settings",
            resource: resourceOf(current),
            orgId: current.id,
            changes: { ...auditedSettings(changes), ...ofGitops },
            before: { ...knownSettings(current.settings), gitops: before },
          });
          afterCommit(() => bus.publish(ORG_SETTINGS_TOPIC, { org_id: current.id }));
          return { org_id: current.id, settings: wireSettings(settings, after) };
        });
      },
    ),
  ];
}

const wireSettings = (settings: Record<string, unknown>, gitops: GitopsSettings | null) => ({
  ...storedSettings(settings),
  ...(gitops ? { gitops: shownSettings(gitops) } : {}),
});

import { canonicalJson } from "@binnacle/contract";
import { announcementOf, type Instance } from "../addons/addon.ts";
import { deleteAddons, saveReportedAddons } from "../addons/addon-report.store.ts";
import { appEvent } from "../apps/app.ts";
import { deleteApps, saveReportedApps } from "../apps/app-report.store.ts";
import { isInPlace, type ReportedApp, reportedAppEvent } from "../apps/app-report.ts";
import { driftEvent, isSameDrift } from "../apps/drift-report.ts";
import { releaseHosts } from "../apps/ingress-host.store.ts";
import type { Tx } from "../database/transaction.ts";
import type { Announcement } from "../events/event.ts";
import { type Project, projectAnnouncement } from "../projects/project.ts";
import { saveReportedProjects } from "../projects/project-report.store.ts";
import type { Outcome } from "./report-outcome.ts";

/*
 * What outcomes come to in the database, kind by kind, and what subscribers are to hear of it. What has not changed is
 * neither written nor announced.
 */

/** Of something whose record is no more. */
export const deletionOf = (announcement: Announcement): Announcement => ({ ...announcement, deleted: true });

function divided<T>(outcomes: readonly Outcome<T>[]) {
  return {
    gone: outcomes.filter(({ isGone }) => isGone).map(({ before }) => before),
    changed: outcomes.filter(({ before, after }) => after !== before),
  };
}

export async function storeApps(
  tx: Tx,
  outcomes: readonly Outcome<ReportedApp>[],
  now: Date,
): Promise<readonly Announcement[]> {
  const { gone, changed } = divided(outcomes);
  const ended = await saveReportedApps(
    tx,
    changed.map(({ after }) => after),
    now,
  );
  const settled = changed.filter(({ before, after }) => isInPlace(after.app) && !isInPlace(before.app));
  await releaseHosts(
    tx,
    settled.map(({ after: { app } }) => app),
  );
  await deleteApps(
    tx,
    gone.map(({ app }) => app.id),
  );
  return [
    ...changed.flatMap(({ before, after: { app } }) => {
      const event = reportedAppEvent(app, ended.find(({ app_id }) => app_id === app.id) ?? null);
      return [
        ...(canonicalJson(event) === canonicalJson(reportedAppEvent(before.app, null)) ? [] : [event]),
        ...(isSameDrift(before.app, app) ? [] : [driftEvent(app)]),
      ];
    }),
    ...gone.map(({ app }) => deletionOf(appEvent(app))),
  ];
}

export async function storeAddons(
  tx: Tx,
  outcomes: readonly Outcome<Instance>[],
  now: Date,
): Promise<readonly Announcement[]> {
  const { gone, changed } = divided(outcomes);
  const instances = changed.map(({ after }) => after);
  await saveReportedAddons(tx, instances, now);
  await deleteAddons(
    tx,
    gone.map(({ id }) => id),
  );
  return [
    ...instances.map((instance) => ({
      ...announcementOf(instance),
      observed_generation: instance.observed_generation,
      exports: Object.keys(instance.exports).toSorted(),
    })),
    ...gone.map((instance) => deletionOf(announcementOf(instance))),
  ];
}

/** Those that are gone are not deleted here: something that was in them may still be on record. */
export async function storeProjects(
  tx: Tx,
  outcomes: readonly Outcome<Project>[],
  now: Date,
): Promise<readonly Announcement[]> {
  const projects = divided(outcomes).changed.map(({ after }) => after);
  await saveReportedProjects(tx, projects, now);
  return projects.map(projectAnnouncement);
}

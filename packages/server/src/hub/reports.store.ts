import type { DesiredKind } from "@binnacle/contract";
import { lockReportedAddons } from "../addons/addon-report.store.ts";
import { lockReportedApps } from "../apps/app-report.store.ts";
import type { Bus } from "../bus/bus.ts";
import type { Catalog } from "../catalog/catalog.adapter.ts";
import type { Clock } from "../clock.ts";
import { inTransaction, type Queries, type Tx } from "../database/transaction.ts";
import { DESIRED_TOPIC } from "../desired/desired.ts";
import { type Announcement, EVENTS_TOPIC } from "../events/event.ts";
import { newId } from "../id.ts";
import { projectAnnouncement } from "../projects/project.ts";
import { deleteEmptyProjects, lockReportedProjects } from "../projects/project-report.store.ts";
import { kindOfKey } from "./frame-reader.ts";
import { rememberLast } from "./once.ts";
import type { Fence, ReportSink } from "./ports.ts";
import { deletionOf, storeAddons, storeApps, storeProjects } from "./report-effects.store.ts";
import { judgeOf, type Outcome, type StatusFrame } from "./report-outcome.ts";
import { addonSteps, appSteps, projectSteps, registrySecretsSteps } from "./report-steps.ts";
import { fencedRows, forgetRemoved, forgetSecretsOf, setUntold } from "./reported-rows.store.ts";
import { announcementOfBuild } from "./taken-build.store.ts";
import { keepSamples } from "./taken-samples.store.ts";

interface Ports {
  readonly db: Queries;
  readonly bus: Bus;
  readonly clock: Clock;
  readonly catalog: Pick<Catalog, "addons">;
}

const MOST_REMEMBERED_BUILDS = 10_000;

/** What the reports of operators change. Their form has been checked; whether they are true of anything here has not. */
export function createReportSink({ db, bus, clock, catalog }: Ports): ReportSink {
  const definitions = new Map(catalog.addons.map((definition) => [definition.id, definition]));
  const ofAddons = addonSteps((id) => definitions.get(id));
  const isNewsOfBuild = rememberLast(MOST_REMEMBERED_BUILDS);

  function publish(announcements: readonly Announcement[]): void {
    const time = clock().toISOString();
    for (const announcement of announcements) bus.publish(EVENTS_TOPIC, { id: newId(), time, ...announcement });
  }

  return {
    async take(fence, frames) {
      if (frames.length === 0) return;
      const { announcements, isSomethingLost } = await inTransaction(db, (tx) => take(tx, fence, frames, clock()));
      publish(announcements);
      if (isSomethingLost) bus.publish(DESIRED_TOPIC, { cluster_id: fence.clusterId });
    },

    async takeBuild(fence, build) {
      const announcement = await announcementOfBuild(db, fence, build);
      const subject = [fence.clusterId, build.source, build.namespace, build.name].join("/");
      if (announcement && isNewsOfBuild(subject, JSON.stringify(announcement))) publish([announcement]);
    },

    takeSamples: (fence, samples) => keepSamples(db, fence, samples, clock()),
  };

  /** Projects are locked before what is in them, as by everybody who changes both. */
  async function take(tx: Tx, fence: Fence, frames: readonly StatusFrame[], now: Date) {
    const { clusterId } = fence;
    const idsOf = (kind: DesiredKind) => [
      ...new Set(frames.filter(({ key }) => kindOfKey(key) === kind).map(({ resource_id }) => resource_id)),
    ];
    const projects = await lockReportedProjects(tx, clusterId, idsOf("project"));
    const apps = await lockReportedApps(tx, clusterId, idsOf("app"));
    const instances = await lockReportedAddons(tx, clusterId, idsOf("addon_instance"));
    const judge = judgeOf(await fencedRows(tx, fence, frames), frames);

    const ofApps = apps.flatMap((app) => judge("app", app.id, { app, settled: null }, appSteps(now)));
    const ofInstances = instances.flatMap((instance) => judge("addon_instance", instance.id, instance, ofAddons));
    const ofProjects = projects.flatMap((project) => judge("project", project.id, project, projectSteps));
    const ofSecrets = idsOf("registry_secrets").flatMap((id) =>
      judge("registry_secrets", id, null, registrySecretsSteps),
    );

    const announcements = [
      ...(await storeApps(tx, ofApps, now)),
      ...(await storeAddons(tx, ofInstances, now)),
      ...(await storeProjects(tx, ofProjects, now)),
    ];
    const outcomes: readonly Outcome<unknown>[] = [...ofApps, ...ofInstances, ...ofProjects, ...ofSecrets];
    const isSomethingLost = await storeRows(tx, clusterId, outcomes);
    const left = [
      ...goneOf(ofProjects).map(({ id }) => id),
      ...goneOf(ofApps).map(({ app }) => app.project_id),
      ...goneOf(ofInstances).map(({ project_id }) => project_id),
    ];
    const gone = await deleteEmptyProjects(tx, clusterId, [...new Set(left)]);
    await forgetSecretsOf(
      tx,
      clusterId,
      gone.map(({ id }) => id),
    );
    return {
      announcements: [...announcements, ...gone.map((project) => deletionOf(projectAnnouncement(project)))],
      isSomethingLost,
    };
  }
}

const goneOf = <T>(outcomes: readonly Outcome<T>[]): T[] =>
  outcomes.filter(({ isGone }) => isGone).map(({ before }) => before);

/** Whether something is to be told again. */
async function storeRows(tx: Tx, clusterId: string, outcomes: readonly Outcome<unknown>[]): Promise<boolean> {
  const lost = outcomes.flatMap(({ row: { kind, resource_id }, lostGeneration }) =>
    lostGeneration === null ? [] : [{ kind, resource_id, generation: lostGeneration }],
  );
  await forgetRemoved(
    tx,
    clusterId,
    outcomes.filter(({ isGone }) => isGone).map(({ row }) => row),
  );
  await setUntold(tx, clusterId, lost);
  return lost.length > 0;
}

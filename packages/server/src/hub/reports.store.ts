import type { DesiredKind } from "@binnacle/contract";
import type { Bus } from "../bus/bus.ts";
import type { Clock } from "../clock.ts";
import { inTransaction, type Queries, type Tx } from "../database/transaction.ts";
import { DISPATCH_TOPIC } from "../dispatch/dispatch.ts";
import { type DispatchedKind, type Outcome, outcomeOf, type ReportedRow, type StatusFrame } from "../dispatch/kind.ts";
import { type Announcement, EVENTS_TOPIC } from "../events/event.ts";
import { newId } from "../id.ts";
import { kindOfKey } from "./frame-reader.ts";
import { rememberLast } from "./once.ts";
import type { Fence, ReportSink } from "./ports.ts";
import { fencedRows, forgetRemoved, setPending } from "./reported-rows.store.ts";
import { announcementOfBuild } from "./taken-build.store.ts";
import { keepSamples } from "./taken-samples.store.ts";

interface Ports {
  readonly db: Queries;
  readonly bus: Bus;
  readonly clock: Clock;
  readonly kinds: readonly DispatchedKind[];
}

const MOST_REMEMBERED_BUILDS = 10_000;

/** Stores what operators report. The form of a report has been checked; whether it is true of a record here has not. */
export function createReportSink({ db, bus, clock, kinds }: Ports): ReportSink {
  const isNewsOfBuild = rememberLast(MOST_REMEMBERED_BUILDS);

  function publish(announcements: readonly Announcement[]): void {
    const time = clock().toISOString();
    for (const announcement of announcements) bus.publish(EVENTS_TOPIC, { id: newId(), time, ...announcement });
  }

  return {
    async take(fence, frames) {
      if (frames.length === 0) return;
      const { announcements, isSomethingLost } = await inTransaction(db, (tx) =>
        takeReports(tx, kinds, fence, frames, clock()),
      );
      publish(announcements);
      if (isSomethingLost) bus.publish(DISPATCH_TOPIC, { cluster_id: fence.clusterId });
    },

    async takeBuild(fence, build) {
      const announcement = await announcementOfBuild(db, fence, build);
      const subject = [fence.clusterId, build.source, build.namespace, build.name].join("/");
      if (announcement && isNewsOfBuild(subject, JSON.stringify(announcement))) publish([announcement]);
    },

    takeSamples: (fence, samples) => keepSamples(db, fence, samples, clock()),
  };
}

async function takeReports(
  tx: Tx,
  kinds: readonly DispatchedKind[],
  fence: Fence,
  frames: readonly StatusFrame[],
  now: Date,
) {
  const { clusterId } = fence;
  const idsOf = (kind: DesiredKind) => [
    ...new Set(frames.filter(({ key }) => kindOfKey(key) === kind).map(({ resource_id }) => resource_id)),
  ];
  const locked: (readonly [DispatchedKind, ReadonlyMap<string, unknown>])[] = [];
  for (const kind of kinds) {
    const ids = idsOf(kind.kind);
    if (ids.length > 0) locked.push([kind, await kind.lock(tx, clusterId, ids)]);
  }
  const reportsOn = matchReports(await fencedRows(tx, fence, frames), frames);
  const settled = locked.map(([kind, records]) => ({
    kind,
    outcomes: [...records].flatMap(([id, before]): Outcome<unknown>[] => {
      const reported = reportsOn(kind.kind, id);
      return reported ? [outcomeOf(kind, reported.row, before, reported.frames, now)] : [];
    }),
  }));

  const announcements: Announcement[] = [];
  for (const { kind, outcomes } of settled) announcements.push(...(await kind.store(tx, outcomes, now)));
  const isSomethingLost = await storeRows(
    tx,
    clusterId,
    settled.flatMap(({ outcomes }) => outcomes),
  );
  for (const { kind, outcomes } of settled) {
    const gone = outcomes.filter(({ isGone }) => isGone).map(({ before }) => before);
    if (gone.length > 0) announcements.push(...((await kind.afterRemoval?.(tx, clusterId, gone)) ?? []));
  }
  return { announcements, isSomethingLost };
}

/**
 * Matches frames with the rows that they are about. A frame whose key is not that of the row is about something else,
 * and a resource without a row does not belong to this cluster: neither is believed.
 */
export function matchReports(rows: readonly ReportedRow[], frames: readonly StatusFrame[]) {
  const nameOf = (key: string, id: string) => `${key} ${id}`;
  const rowsByName = new Map(rows.map((row) => [nameOf(row.kind, row.resource_id), row]));
  const framesByName = Map.groupBy(frames, ({ key, resource_id }) => nameOf(key, resource_id));
  return (kind: DesiredKind, id: string) => {
    const row = rowsByName.get(nameOf(kind, id));
    const about = row && framesByName.get(nameOf(row.key, id));
    return about ? { row, frames: about } : null;
  };
}

/** Returns whether something must be sent again. */
async function storeRows(tx: Tx, clusterId: string, outcomes: readonly Outcome<unknown>[]): Promise<boolean> {
  const lost = outcomes.flatMap(({ row: { kind, resource_id }, lostGeneration }) =>
    lostGeneration === null ? [] : [{ kind, resource_id, generation: lostGeneration }],
  );
  await forgetRemoved(
    tx,
    clusterId,
    outcomes.filter(({ isGone }) => isGone).map(({ row }) => row),
  );
  await setPending(tx, clusterId, lost);
  return lost.length > 0;
}

import { type DesiredKind, type OperatorFrames, safeText } from "@binnacle/contract";
import type { Span, Tracer } from "@binnacle/tracing";
import { sql } from "kysely";
import type { Bus } from "../bus/bus.ts";
import type { Clock } from "../clock.ts";
import { inTransaction, type Queries, type Tx } from "../database/transaction.ts";
import { DISPATCH_TOPIC } from "../dispatch/dispatch.ts";
import { type DispatchedKind, type Outcome, outcomeOf, type ReportedRow, type StatusFrame } from "../dispatch/kind.ts";
import { type Announcement, publishEvents } from "../events/event.ts";
import { logAnnouncements } from "../events/event-log.store.ts";
import { dedupe } from "./dedupe.ts";
import { deleteTombstones, findReported, setPending } from "./desired-rows.store.ts";
import { kindOfKey } from "./frame-reader.ts";
import type { Fence, ReportSink } from "./ports.ts";

interface Ports {
  readonly db: Queries;
  readonly bus: Bus;
  readonly clock: Clock;
  readonly kinds: readonly DispatchedKind[];
  readonly tracer?: Tracer | null;
  /** Called for each announcement once its report is stored. */
  readonly onAnnounced?: (announcement: Announcement) => void;
}

const MAX_REMEMBERED_BUILDS = 10_000;

/** Stores what operators report. The form of a report has been checked; whether it is true of a record here has not. */
export function createReportSink({ db, bus, clock, kinds, tracer = null, onAnnounced }: Ports): ReportSink {
  const isNewBuild = dedupe(MAX_REMEMBERED_BUILDS);

  return {
    async storeStatuses(fence, frames) {
      if (frames.length === 0) return;
      const spans = tracer ? storingSpans(tracer, fence, frames) : [];
      const { events, isSomethingLost } = await inTransaction(db, (tx) =>
        storeReports(tx, kinds, fence, frames, clock()),
      ).catch((error: unknown) => {
        for (const span of spans) span.end("The report could not be stored.");
        throw error;
      });
      for (const span of spans) span.end();
      publishEvents(bus, events);
      if (onAnnounced) events.forEach(onAnnounced);
      if (isSomethingLost) bus.publish(DISPATCH_TOPIC, { cluster_id: fence.clusterId });
    },

    async announceBuild(fence, build) {
      const announcement = await buildEvent(db, fence, build);
      const subject = [fence.clusterId, build.source, build.namespace, build.name].join("/");
      if (announcement && isNewBuild(subject, JSON.stringify(announcement)))
        publishEvents(bus, await logAnnouncements(db, [announcement], clock()));
    },

    storeSamples: (fence, samples) => storeSamples(db, fence, samples, clock()),
  };
}

/** A span for each report that belongs to a trace. */
function storingSpans(tracer: Tracer, { clusterId }: Fence, frames: readonly StatusFrame[]): Span[] {
  return frames.flatMap(({ traceparent, resource_id, generation }) => {
    if (!traceparent) return [];
    const attributes = {
      "binnacle.cluster_id": clusterId,
      "binnacle.resource_id": resource_id,
      "binnacle.generation": generation,
    };
    return [tracer.start("store report", { parent: traceparent, attributes })];
  });
}

async function storeReports(
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
  const reportsOn = matchReports(await findReported(tx, fence, frames), frames);
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
    if (gone.length > 0) announcements.push(...((await kind.afterRemoval?.(tx, clusterId, gone, now)) ?? []));
  }
  return { events: await logAnnouncements(tx, announcements, now), isSomethingLost };
}

/**
 * Matches frames with the rows that they are about. A frame whose key is not that of the row is about something else,
 * and a resource without a row does not belong to this cluster: both are ignored.
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
  await deleteTombstones(
    tx,
    clusterId,
    outcomes.filter(({ isGone }) => isGone).map(({ row }) => row),
  );
  await setPending(tx, clusterId, lost);
  return lost.length > 0;
}

/**
 * The event of a build, or null where the session is not the registered one any more. It belongs to the project of its
 * namespace, and to the cluster alone where no project has the namespace.
 */
async function buildEvent(
  db: Queries,
  { clusterId, hubId, epoch }: Fence,
  build: OperatorFrames["build"],
): Promise<Announcement | null> {
  const { type, session: _, namespace, name, image, ...facts } = build;
  const { rows } = await sql<{ org_id: string; project_id: string | null }>`
    select c.org_id, p.id as project_id from clusters c
    join cluster_sessions s on s.cluster_id = c.id
    left join projects p on p.cluster_id = c.id and p.namespace = ${namespace}
    where c.id = ${clusterId} and s.hub_id = ${hubId} and s.epoch = ${epoch}
  `.execute(db);
  const [place] = rows;
  if (!place) return null;
  return {
    type,
    org_id: place.org_id,
    cluster_id: clusterId,
    ...(place.project_id === null ? {} : { project_id: place.project_id }),
    resource: { type: "build", id: null, name: safeText(name), namespace: safeText(namespace) },
    ...facts,
    image: image === null ? null : safeText(image),
  };
}

/** Stores the newest sample of each minute, because an operator that starts again may see more than before. */
async function storeSamples(
  db: Queries,
  { clusterId, hubId, epoch }: Fence,
  { at, used, capacity, components }: OperatorFrames["samples"],
  now: Date,
): Promise<void> {
  const minute = sampleMinute(at, now);
  if (minute === null) return;
  await sql`
    insert into metric_samples (cluster_id, at, sample)
    select cluster_id, ${minute}::timestamptz, ${JSON.stringify({ used, capacity, components })}::jsonb
    from cluster_sessions where cluster_id = ${clusterId} and hub_id = ${hubId} and epoch = ${epoch}
    on conflict (cluster_id, at) do update set sample = excluded.sample
  `.execute(db);
}

const MINUTE_MS = 60_000;
const LONGEST_AGO_MS = 24 * 60 * MINUTE_MS;
/** How far a cluster's clock may be ahead. */
const LONGEST_AHEAD_MS = 5 * MINUTE_MS;

/** The minute of a sample, or null where the clock of the cluster is so wrong that it would mix with other minutes. */
export function sampleMinute(at: string, now: Date): Date | null {
  const minuteMs = Math.floor(Date.parse(at) / MINUTE_MS) * MINUTE_MS;
  const ageMs = now.getTime() - minuteMs;
  return ageMs <= LONGEST_AGO_MS && ageMs >= -LONGEST_AHEAD_MS ? new Date(minuteMs) : null;
}

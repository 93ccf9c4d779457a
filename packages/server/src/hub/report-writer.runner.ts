import { CLOSE } from "@binnacle/contract";
import { isOutage } from "../database/transaction.ts";
import { type Log, pauseMsAfter, watchOutage } from "../outage.ts";
import { retryReason } from "./pacing.ts";
import type { ReportSink } from "./ports.ts";
import type { OperatorReport, QueuedReport } from "./report-queue.ts";
import type { Session } from "./session.ts";

/** The number of reports in one batch. */
const BATCH_REPORTS = 50;

export interface ReportWriter {
  /** `refs` are the frames that are answered once the report is stored. */
  enqueue(session: Session, report: OperatorReport, bytes: number, refs: readonly string[]): void;
  stop(): Promise<void>;
}

/**
 * Stores what operators report. Sessions take turns, with one batch at a time each and as many at once as are allowed. While the database is unreachable
 * the newest report on each subject is kept and retried, and the sessions stay.
 */
export function startReportWriter(sink: ReportSink, log: Log, atOnce: () => number): ReportWriter {
  const outage = watchOutage(log, "storing the reports of clusters");
  const waiting = new Set<Session>();
  const busy = new Set<Session>();
  const writers = new Set<Promise<void>>();
  let failures = 0;
  let isStopped = false;
  let pause: NodeJS.Timeout | null = null;

  function startWriters(): void {
    if (isStopped || pause !== null) return;
    const most = atOnce();
    for (const session of waiting) {
      if (writers.size >= most) return;
      if (busy.has(session)) continue;
      waiting.delete(session);
      if (session.state === "ended") continue;
      busy.add(session);
      const writer = write(session).finally(() => {
        writers.delete(writer);
        busy.delete(session);
        if (session.hasReports) waiting.add(session);
        startWriters();
      });
      writers.add(writer);
    }
  }

  async function write(session: Session): Promise<void> {
    const batch = session.reports.take(BATCH_REPORTS);
    let stored: readonly QueuedReport[] = [];
    try {
      stored = await storeTogether(session, batch).catch((error: unknown) => {
        if (isOutage(error)) throw error;
        return storeOneByOne(session, batch);
      });
      failures = 0;
      outage.recovered();
    } catch (error) {
      session.reports.putBack(batch);
      failures += 1;
      outage.failed(error);
      pause ??= setTimeout(resume, pauseMsAfter(failures));
    }
    const refs = stored.flatMap((queued) => queued.refs);
    if (refs.length > 0) session.send({ type: "noted", session: session.sessionId, refs });
  }

  function resume(): void {
    pause = null;
    startWriters();
  }

  async function storeTogether({ fence }: Session, batch: readonly QueuedReport[]): Promise<readonly QueuedReport[]> {
    const statuses = batch.flatMap(({ report }) => (report.type === "status" ? [report] : []));
    if (statuses.length > 0) await sink.storeStatuses(fence, statuses);
    for (const { report } of batch) {
      if (report.type === "build") await sink.announceBuild(fence, report);
      if (report.type === "samples") await sink.storeSamples(fence, report);
    }
    return batch;
  }

  /** A report that can never be stored must not hold up the others. Its operator sends it again after a reconnect. */
  async function storeOneByOne(session: Session, batch: readonly QueuedReport[]): Promise<readonly QueuedReport[]> {
    const stored: QueuedReport[] = [];
    for (const queued of batch) {
      try {
        stored.push(...(await storeTogether(session, [queued])));
      } catch (error) {
        if (isOutage(error)) throw error;
        log.error({ err: error, cluster_id: session.clusterId }, "a report of a cluster cannot be stored");
      }
    }
    return stored;
  }

  return {
    enqueue(session, report, bytes, refs) {
      if (!session.reports.put(report, bytes, refs)) return session.end(CLOSE.busy, retryReason(Math.random()));
      waiting.add(session);
      startWriters();
    },
    async stop() {
      isStopped = true;
      if (pause !== null) clearTimeout(pause);
      await Promise.all(writers);
    },
  };
}

import type { OperatorFrames } from "@binnacle/contract";

/** A frame that an operator sends on its own, without a request. */
export type OperatorReport = OperatorFrames["status" | "build" | "samples"];

export interface QueuedReport {
  readonly report: OperatorReport;
  readonly bytes: number;
  /** Frames that are answered with `noted` once the report is stored. */
  readonly refs: readonly string[];
}

const MAX_REPORTS = 10_000;
const MAX_BYTES = 8 * 1024 * 1024;
/** An operator waits for the newest report of each key. Earlier ones are answered while there are not too many. */
const MAX_REFS = 20;

/** Reports that are not stored yet: the newest on each subject, within bounds while the database is unreachable. */
export class ReportQueue {
  readonly #reports = new Map<string, QueuedReport>();
  #bytes = 0;

  get isEmpty(): boolean {
    return this.#reports.size === 0;
  }

  /** False when the queue is full. Then the report was not queued. */
  put(report: OperatorReport, bytes: number, refs: readonly string[]): boolean {
    const subject = subjectOf(report);
    const before = this.#reports.get(subject);
    const total = this.#bytes - (before?.bytes ?? 0) + bytes;
    if (total > MAX_BYTES || (!before && this.#reports.size >= MAX_REPORTS)) return false;
    this.#reports.delete(subject);
    this.#reports.set(subject, { report, bytes, refs: [...(before?.refs ?? []), ...refs].slice(-MAX_REFS) });
    this.#bytes = total;
    return true;
  }

  /** Removes the oldest reports and returns them. */
  take(most: number): QueuedReport[] {
    const batch = [...this.#reports.entries()].slice(0, most);
    for (const [subject, { bytes }] of batch) {
      this.#reports.delete(subject);
      this.#bytes -= bytes;
    }
    return batch.map(([, report]) => report);
  }

  /** Returns reports that could not be stored, except those of which a newer one has been queued meanwhile. */
  putBack(reports: readonly QueuedReport[]): void {
    for (const queued of reports) {
      const subject = subjectOf(queued.report);
      if (this.#reports.has(subject)) continue;
      this.#reports.set(subject, queued);
      this.#bytes += queued.bytes;
    }
  }
}

function subjectOf(report: OperatorReport): string {
  switch (report.type) {
    case "status":
      return `status ${report.key} ${report.resource_id}`;
    case "build":
      return `build ${report.source} ${report.namespace}/${report.name}`;
    case "samples":
      return "samples";
  }
}

import type { DesiredKind, HubFrames, Reports } from "@binnacle/contract";
import type { Span, Tracer } from "@binnacle/tracing";
import type { StatusSink, Subject } from "../link/ports.ts";

/** Changes that are followed at a time. The oldest is dropped for a new one. */
const MOST_CHANGES = 1_000;
/** A resource that never becomes ready is reconciled for days: only the first runs belong to the trace of its change. */
const MOST_RUNS = 20;

interface Change {
  readonly generation: number;
  /** The hub's span of the delivery. */
  readonly parent: string;
  readonly receivedAtMs: number;
  runs: number;
}

/**
 * Continues the traces of changes that the hub delivers, from their arrival until the cluster is first reported to have
 * reached the new state or to have failed. They are kept in memory: after a restart the rest of a trace is missing.
 */
export interface ChangeTraces {
  /** Call before the change is stored, because storing it starts its first run. */
  received(frame: Pick<HubFrames["remove"], "key" | "generation" | "traceparent">): void;
  /** The span of one run. Null where the generation has no trace, or has been followed long enough. */
  reconciling(kind: DesiredKind, subject: Subject): Span | null;
  /** Passes reports on, with the trace that each belongs to. */
  readonly sink: StatusSink;
}

interface Ports {
  /** Null where this operator does not trace. Reports then carry the trace of the hub. */
  readonly tracer: Tracer | null;
  readonly sink: StatusSink;
  readonly nowMs: () => number;
}

export function createChangeTraces({ tracer, sink, nowMs }: Ports): ChangeTraces {
  const changes = new Map<string, Change>();

  function changeOf({ key, generation }: Pick<Subject, "key" | "generation">): Change | null {
    const change = changes.get(key);
    return change?.generation === generation ? change : null;
  }

  /** The first report of an outcome ends the trace. Its span lasts as long as the cluster has taken. */
  function settle(change: Change, { key, generation }: Subject, state: string): string {
    changes.delete(key);
    const span = tracer?.start("ready", {
      parent: change.parent,
      startedAtMs: change.receivedAtMs,
      attributes: { "binnacle.key": key, "binnacle.generation": generation, "binnacle.state": state },
    });
    span?.end(REACHED.has(state) ? null : "The cluster has not reached the desired state.");
    return span?.traceparent ?? change.parent;
  }

  return {
    received({ key, generation, traceparent }) {
      // A frame that is sent again does not begin anew.
      if (changes.get(key)?.generation === generation) return;
      changes.delete(key);
      if (traceparent === undefined) return;
      changes.set(key, { generation, parent: traceparent, receivedAtMs: nowMs(), runs: 0 });
      const [oldest] = changes.keys();
      if (changes.size > MOST_CHANGES && oldest !== undefined) changes.delete(oldest);
    },

    reconciling(kind, subject) {
      const change = changeOf(subject);
      if (!tracer || !change || change.runs >= MOST_RUNS) return null;
      change.runs += 1;
      const attributes = { "binnacle.kind": kind, "binnacle.key": subject.key, "binnacle.run": change.runs };
      return tracer.start("reconcile", { parent: change.parent, attributes });
    },

    sink: {
      report(kind, subject, report) {
        const change = changeOf(subject);
        if (!change) return sink.report(kind, subject, report);
        const traceparent = isOutcome(report) ? settle(change, subject, stateOf(report)) : change.parent;
        sink.report(kind, { ...subject, traceparent }, report);
      },
    },
  };
}

const PENDING: ReadonlySet<string> = new Set(["deploying", "installing", "upgrading", "deleting", "cleaning"]);
const REACHED: ReadonlySet<string> = new Set(["running", "ready", "paused", "gone"]);

const stateOf = (report: Reports[DesiredKind]): string => ("state" in report ? report.state : report.phase);

/** An app whose state cannot be read at the moment has neither reached its state nor failed. */
function isOutcome(report: Reports[DesiredKind]): boolean {
  return !PENDING.has(stateOf(report)) && !("reason" in report && report.reason === "StateUnknown");
}

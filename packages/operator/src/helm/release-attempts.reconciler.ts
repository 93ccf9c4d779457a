import type { InformerLog } from "../kube/informer.adapter.ts";
import { isPermanent, KubeError } from "../kube/kube-error.ts";
import type { LeaseNote, Leases } from "../kube/lease.store.ts";
import { type Attempts, afterAttempt, attemptsIn, duringAttempt, noteOf, type Problem, waitMs } from "./attempts.ts";
import type { ChartAccounts } from "./chart-account.store.ts";
import { FORBIDDEN, HelmFailure } from "./failure.ts";
import type { HelmRelease, ReleaseId } from "./revision.ts";
import type { Rights } from "./rights.ts";

/** A task for Helm: an install or upgrade with a chart and values, or a removal. */
export interface Task {
  readonly id: ReleaseId;
  readonly wanted: HelmRelease | null;
  readonly rights: Rights;
  readonly goal: string;
}

interface AttemptPorts {
  readonly leases: Leases;
  readonly accounts: Pick<ChartAccounts, "ready" | "doubt">;
  readonly nowMs: () => number;
  readonly log: InformerLog;
}

/** Any other error comes from the cluster, and the next reconcile reports it. */
function problemOf(error: unknown): Problem {
  if (error instanceof HelmFailure) return { message: error.message, reason: error.reason };
  if (error instanceof KubeError && isPermanent(error)) return { message: error.message, reason: null };
  return { message: "The cluster did not answer as it should.", reason: null };
}

/** Attempts at releases, each under the Lease of its release and noted there. `work` fails where Helm does. */
export function createReleaseAttempts(
  { leases, accounts, nowMs, log }: AttemptPorts,
  work: (task: Task, signal: AbortSignal) => Promise<void>,
) {
  const attempts = new Map<string, Attempts>();
  const keyOf = ({ namespace, name }: ReleaseId) => `${namespace}/${name}`;

  async function attempt(task: Task, signal: AbortSignal): Promise<Attempts> {
    const { id, goal } = task;
    const before = attempts.get(keyOf(id));
    let result: Attempts | null = null;
    try {
      await accounts.ready(id.namespace);
      await leases.under(id, signal, async (working, note) => {
        result = await attemptOnce(task, before ?? attemptsIn(note.text, goal, nowMs()), working, note);
      });
      return result ?? afterAttempt(before, goal, { failure: null, isBusy: true }, nowMs());
    } catch (err) {
      return result ?? afterAttempt(before, goal, { failure: failed(task, err) }, nowMs());
    }
  }

  /** What is noted on the Lease outlives this process, so that a release that has it killed is not tried at once by the next one. */
  async function attemptOnce(
    task: Task,
    before: Attempts | undefined,
    signal: AbortSignal,
    note: LeaseNote,
  ): Promise<Attempts> {
    const { goal } = task;
    if (before && waitMs(before, goal, nowMs()) > 0) return before;
    await note.write(noteOf(duringAttempt(before, goal, nowMs())));
    const failure = await work(task, signal).then(
      () => null,
      (err: unknown) => failed(task, err),
    );
    const after = afterAttempt(before, goal, { failure }, nowMs());
    // Work that was broken off has not failed.
    const kept = signal.aborted ? before : failure && after;
    await note.write(kept ? noteOf(kept) : null).catch(() => undefined);
    return after;
  }

  function failed({ id: { namespace, name: release } }: Task, err: unknown): Problem {
    const failure = problemOf(err);
    const isForbidden = failure.reason === FORBIDDEN || (err instanceof KubeError && err.status === 403);
    if (isForbidden) accounts.doubt(namespace);
    log.warn({ err, namespace, release }, "Helm could not install or upgrade a release");
    return failure;
  }

  return {
    of: (id: ReleaseId): Attempts | undefined => attempts.get(keyOf(id)),
    async make(task: Task, signal: AbortSignal): Promise<void> {
      attempts.set(keyOf(task.id), await attempt(task, signal));
    },
    /** Nothing of a release that is gone is left. */
    async forget(id: ReleaseId): Promise<void> {
      await leases.drop(id);
      attempts.delete(keyOf(id));
    },
  };
}

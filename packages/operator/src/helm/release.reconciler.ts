import type { InformerLog } from "../kube/informer.adapter.ts";
import { isPermanent, KubeError } from "../kube/kube-error.ts";
import { type Attempts, afterAttempt, createSlots, failureFor, type Problem, waitMs } from "./attempts.ts";
import type { ChartAccounts } from "./chart-account.store.ts";
import { FORBIDDEN, HelmFailure, UNREADABLE } from "./failure.ts";
import type { Helm } from "./helm.adapter.ts";
import type { Inspect } from "./inspection.adapter.ts";
import type { Leases } from "./lease.store.ts";
import type { ReleaseStore } from "./release.store.ts";
import { hasRun, isFailedInstall, nextStep, nextVersion, type Step } from "./release.ts";
import { digestOf, type HelmRelease, type ReleaseId, type Revision, revisionLabels } from "./revision.ts";
import type { ChartName, Rights } from "./rights.ts";

export interface ReleasePorts {
  readonly helm: Helm;
  readonly store: ReleaseStore;
  readonly leases: Leases;
  readonly accounts: Pick<ChartAccounts, "ready" | "doubt">;
  readonly rightsOf: (id: ReleaseId, chart: ChartName | null) => Rights;
  /** Refuses the objects of a release before anything is made of them. */
  readonly inspect: Inspect;
  /** The objects of a revision that still exist, as text. */
  readonly left: (id: ReleaseId, revision: Revision, rights: Rights) => Promise<readonly string[]>;
  readonly nowMs: () => number;
  readonly log: InformerLog;
  readonly clusterId: string;
  /** Told when work on a release has ended. */
  readonly onEnd: (id: ReleaseId) => void;
}

/** A release as it is now, and what is being done about it. */
export interface ReleaseObservation {
  readonly doing: "installing" | "upgrading" | "removing" | null;
  readonly revision: Revision | null;
  readonly isForeign: boolean;
  /** It is what is wanted, as far as Helm is concerned. */
  readonly isCurrent: boolean;
  readonly hasRun: boolean;
  /** Why it is not what is wanted, although that was tried. */
  readonly failure: Problem | null;
}

export interface ReconcileOptions {
  /** Nothing is done about what is seen. */
  readonly isReadOnly?: boolean;
}

export interface ReleaseRemoval {
  readonly isGone: boolean;
  /** Objects that are still there although Helm is done, in words. */
  readonly left: readonly string[];
  readonly failure: string | null;
}

/** A task for Helm: an install or upgrade with a chart and values, or a removal. */
interface Task {
  readonly id: ReleaseId;
  readonly wanted: HelmRelease | null;
  readonly rights: Rights;
}

interface Work {
  readonly goal: string;
  readonly doing: NonNullable<ReleaseObservation["doing"]>;
  readonly ended: Promise<void>;
  /** Aborts work whose goal has changed, because it might take minutes. */
  breakOff(): void;
}

/** Each Helm takes up to a hundred megabytes. */
const MOST_AT_ONCE = 2;
/** A repair takes two; more means that somebody works against us. */
const MOST_STEPS = 4;
const ENDS: ReadonlySet<Step["step"]> = new Set(["nothing", "leave", "purge"]);
const REMOVAL = "removal";

/** Any other error comes from the cluster, and the next reconcile reports it. */
function problemOf(error: unknown): Problem {
  if (error instanceof HelmFailure) return { message: error.message, reason: error.reason };
  if (error instanceof KubeError && isPermanent(error)) return { message: error.message, reason: null };
  return { message: "The cluster did not answer as it should.", reason: null };
}

/**
 * Installs, upgrades and removes releases, one task per release at a time. Callers do not wait; they get the present
 * state. No process is started where nothing has to be done.
 */
export function createReleaseReconciler(ports: ReleasePorts) {
  const { helm, store, leases, accounts, rightsOf, inspect, left, nowMs, log, clusterId, onEnd } = ports;
  const works = new Map<string, Work>();
  const attempts = new Map<string, Attempts>();
  const slots = createSlots(MOST_AT_ONCE);
  const stopping = new AbortController();

  const keyOf = ({ namespace, name }: ReleaseId) => `${namespace}/${name}`;
  /** With other rights it is worth trying at once. */
  const goalOf = (what: string, { user }: Rights) => `${what} as ${user}`;

  async function reconcile(
    wanted: HelmRelease,
    { isReadOnly = false }: ReconcileOptions = {},
  ): Promise<ReleaseObservation> {
    const key = keyOf(wanted);
    const rights = rightsOf(wanted, wanted.chart);
    const goal = goalOf(digestOf(wanted), rights);
    const revisions = await store.revisions(wanted);
    const { step } = nextStep(revisions, { digest: digestOf(wanted) });
    if (!isReadOnly) turnTo(key, goal);
    const isDue = waitMs(attempts.get(key), goal, nowMs()) === 0;
    if (isDue && !isReadOnly && step !== "nothing" && step !== "leave") {
      begin(goal, step === "install" ? "installing" : "upgrading", { id: wanted, wanted, rights });
    }
    return {
      doing: works.get(key)?.doing ?? null,
      revision: revisions.at(-1) ?? null,
      isForeign: step === "leave",
      isCurrent: step === "nothing",
      hasRun: hasRun(revisions),
      failure: step === "nothing" ? null : failureFor(attempts.get(key), goal),
    };
  }

  /** A release of somebody else is none of ours. */
  async function remove(id: ReleaseId, chart: ChartName | null): Promise<ReleaseRemoval> {
    const key = keyOf(id);
    const rights = rightsOf(id, chart);
    const goal = goalOf(REMOVAL, rights);
    const failure = failureFor(attempts.get(key), goal)?.message ?? null;
    turnTo(key, goal);
    if (works.has(key)) return { isGone: false, left: [], failure };
    const revisions = await store.revisions(id);
    const { step } = nextStep(revisions, null);
    const last = revisions.at(-1);
    if (step === "uninstall") {
      const task = { id, wanted: null, rights };
      if (waitMs(attempts.get(key), goal, nowMs()) === 0) begin(goal, "removing", task);
      return { isGone: false, left: [], failure };
    }
    const isOver = step === "purge" && last;
    const names = isOver ? await left(id, last, rights) : [];
    if (names.length > 0) return { isGone: false, left: names, failure: null };
    if (isOver) await store.forget(id, revisions);
    attempts.delete(key);
    return { isGone: true, left: [], failure: null };
  }

  function turnTo(key: string, goal: string): void {
    const work = works.get(key);
    if (work && work.goal !== goal) work.breakOff();
  }

  function begin(goal: string, doing: Work["doing"], task: Task): void {
    const { id } = task;
    const key = keyOf(id);
    if (works.has(key) || stopping.signal.aborted) return;
    const breaking = new AbortController();
    const signal = AbortSignal.any([stopping.signal, breaking.signal]);
    const ended = slots
      .within(() => attempt(task, signal))
      .then((result) => {
        attempts.set(key, afterAttempt(attempts.get(key), goal, result, nowMs()));
      })
      .finally(() => {
        works.delete(key);
        if (!stopping.signal.aborted) onEnd(id);
      });
    works.set(key, { goal, doing, ended, breakOff: () => breaking.abort() });
  }

  async function attempt(task: Task, signal: AbortSignal) {
    const { namespace, name: release } = task.id;
    try {
      await accounts.ready(namespace);
      const isOurs = await leases.under(task.id, signal, (working) => steps(task, working));
      return { failure: null, isBusy: !isOurs };
    } catch (err) {
      const failure = problemOf(err);
      const isForbidden = failure.reason === FORBIDDEN || (err instanceof KubeError && err.status === 403);
      if (isForbidden) accounts.doubt(namespace);
      log.warn({ err, namespace, release }, "Helm could not install or upgrade a release");
      return { failure };
    }
  }

  async function steps(task: Task, signal: AbortSignal): Promise<void> {
    const { id, wanted } = task;
    const digest = wanted && digestOf(wanted);
    for (let count = 0; count < MOST_STEPS; count += 1) {
      const revisions = await store.revisions(id);
      const isLeftover = await isRefusedInstall(id, revisions);
      const next = nextStep(revisions, digest === null ? null : { digest }, { isLeftover });
      if (ENDS.has(next.step)) return;
      log.info({ namespace: id.namespace, release: id.name, step: next.step }, "Helm starts a step");
      await act(next, task, revisions, signal);
    }
  }

  /** A first installation that the cluster has refused halfway. One whose hook failed has all its objects, and keeps them. */
  async function isRefusedInstall(id: ReleaseId, revisions: readonly Revision[]): Promise<boolean> {
    const last = revisions.at(-1);
    return isFailedInstall(revisions) && !!last && !(await store.content(id, last)).isHookFailure;
  }

  async function act(next: Step, task: Task, revisions: readonly Revision[], signal: AbortSignal): Promise<void> {
    const { id, wanted, rights } = task;
    if (next.step === "rollback") await rollBack(task, next.to, revisions, signal);
    else if (next.step === "uninstall") await helm.uninstall(id, rights, signal);
    else if (wanted) {
      const version = nextVersion(await startingFrom(next, task, revisions));
      const labels = revisionLabels(id, clusterId, { digest: digestOf(wanted), version });
      const upgrade = { labels, rights, isUpgrade: next.step === "upgrade" };
      const seen = (manifest: string) => inspect(manifest, rights);
      await helm.upgrade(wanted, { ...upgrade, inspect: seen }, signal).catch(async (error: unknown) => {
        if (next.step === "install") await cleanUp(task, signal);
        throw error;
      });
    }
  }

  /** Helm would keep what was uninstalled as a revision that has run. It is forgotten once nothing of it is left. */
  async function startingFrom({ step }: Step, { id, rights }: Task, revisions: readonly Revision[]) {
    const last = revisions.at(-1);
    if (step !== "install" || !last || (await left(id, last, rights)).length > 0) return revisions;
    await store.forget(id, revisions);
    return [];
  }

  /** Whoever dies before this finds the failed revision at the next attempt, and uninstalls it then. */
  async function cleanUp({ id, rights }: Task, signal: AbortSignal): Promise<void> {
    try {
      if (await isRefusedInstall(id, await store.revisions(id))) await helm.uninstall(id, rights, signal);
    } catch (err) {
      log.warn(
        { err, namespace: id.namespace, release: id.name },
        "a refused installation could not be cleaned up yet",
      );
    }
  }

  /**
   * The manifest of a revision is stored in the namespace of the project, where its charts can write. Where it is refused,
   * the unfinished revision is forgotten instead: Helm goes on from the one before, and the upgrade is inspected.
   */
  async function rollBack(
    { id, rights }: Task,
    to: number,
    revisions: readonly Revision[],
    signal: AbortSignal,
  ): Promise<void> {
    const target = revisions.find(({ version }) => version === to);
    try {
      if (!rights.isClusterWide) await inspect(await manifestOf(id, target), rights);
    } catch (err) {
      if (!(err instanceof HelmFailure)) throw err;
      log.warn({ err, namespace: id.namespace, release: id.name, to }, "a rollback was refused");
      await store.forget(id, revisions.slice(-1));
      return;
    }
    await helm.rollback(id, to, rights, signal);
  }

  async function manifestOf(id: ReleaseId, revision: Revision | undefined): Promise<string> {
    const manifest = revision ? await store.manifest(id, revision) : null;
    if (manifest === null) throw new HelmFailure("The record of the release cannot be read.", UNREADABLE);
    return manifest;
  }

  return {
    reconcile,
    remove,
    /** Breaks off what is under way, and waits for it. */
    async stop(): Promise<void> {
      stopping.abort();
      await Promise.all([...works.values()].map(({ ended }) => ended));
    },
  };
}

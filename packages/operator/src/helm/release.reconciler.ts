import { fairQueue } from "@binnacle/process";
import type { InformerLog } from "../kube/informer.adapter.ts";
import type { Leases } from "../kube/lease.store.ts";
import { failureFor, type Problem, waitMs } from "./attempts.ts";
import type { ChartAccounts } from "./chart-account.store.ts";
import { HelmFailure, UNREADABLE } from "./failure.ts";
import type { Helm } from "./helm.adapter.ts";
import type { Inspect } from "./inspection.adapter.ts";
import type { ReleaseStore } from "./release.store.ts";
import { hasRun, isFailedInstall, nextStep, nextVersion, type Step } from "./release.ts";
import { createReleaseAttempts, type Task } from "./release-attempts.reconciler.ts";
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
  /** How many Helms run at once. */
  readonly slots: number;
  /** Told when work on a release has ended. */
  readonly onEnd: (id: ReleaseId) => void;
}

/** A release as it is now, and what is being done about it. */
export interface ReleaseObservation {
  readonly doing: "installing" | "upgrading" | "removing" | null;
  readonly revision: Revision | null;
  readonly isForeign: boolean;
  /** Helm has nothing to do for the release. */
  readonly isCurrent: boolean;
  readonly hasRun: boolean;
  /** Why it is not what is wanted, although that was tried. */
  readonly failure: Problem | null;
}

export interface ReconcileOptions {
  /** The result is reported, and the release is not changed. */
  readonly isReadOnly?: boolean;
}

export interface ReleaseRemoval {
  readonly isGone: boolean;
  /** Objects that are still there although Helm is done, in words. */
  readonly left: readonly string[];
  readonly failure: string | null;
}

interface Work {
  readonly goal: string;
  readonly doing: NonNullable<ReleaseObservation["doing"]>;
  readonly ended: Promise<void>;
  /** Aborts work whose goal has changed, because it might take minutes. */
  breakOff(): void;
}

/** Releases that Helm works on, and those that wait for it. */
export interface HelmLoad {
  readonly running: number;
  readonly waiting: number;
}

/** A repair takes two; more means that somebody works against us. */
const MOST_STEPS = 4;
const ENDS: ReadonlySet<Step["step"]> = new Set(["nothing", "leave", "purge"]);
const REMOVAL = "removal";

/** With other rights it is worth trying at once. */
const goalOf = (what: string, { user }: Rights) => `${what} as ${user}`;

function createCount() {
  let count = 0;
  return {
    now: () => count,
    async during<T>(work: Promise<T>): Promise<T> {
      count += 1;
      return work.finally(() => {
        count -= 1;
      });
    },
  };
}

/**
 * Installs, upgrades and removes releases, one task per release at a time. Callers do not wait; they get the present
 * state. No process is started where nothing has to be done.
 */
export function createReleaseReconciler(ports: ReleasePorts) {
  const { helm, store, rightsOf, inspect, left, nowMs, log, clusterId, slots, onEnd } = ports;
  const works = new Map<string, Work>();
  const attempts = createReleaseAttempts(ports, steps);
  /** Hooks may hold a slot for many minutes, so the charts of one project never occupy all of them. */
  const inTurn = fairQueue({
    atOnce: slots,
    atOncePerCaller: Math.max(1, slots - 1),
    waitingPerCaller: Number.POSITIVE_INFINITY,
  });
  const underWay = createCount();
  const stopping = new AbortController();
  let isFinishing = false;
  /** Releases of which no further step begins. One that is under way is finished: half of it would be worse. */
  const held = new Set<string>();

  const keyOf = ({ namespace, name }: ReleaseId) => `${namespace}/${name}`;

  async function reconcile(
    wanted: HelmRelease,
    { isReadOnly = false }: ReconcileOptions = {},
  ): Promise<ReleaseObservation> {
    const key = keyOf(wanted);
    const rights = rightsOf(wanted, wanted.chart);
    const goal = goalOf(digestOf(wanted), rights);
    const revisions = await store.revisions(wanted);
    const { step } = nextStep(revisions, { digest: digestOf(wanted) });
    if (!isReadOnly) {
      held.delete(key);
      turnTo(key, goal);
    }
    const isDue = waitMs(attempts.of(wanted), goal, nowMs()) === 0;
    if (isDue && !isReadOnly && step !== "nothing" && step !== "leave") {
      begin(step === "install" ? "installing" : "upgrading", { id: wanted, wanted, rights, goal });
    }
    return {
      doing: works.get(key)?.doing ?? null,
      revision: revisions.at(-1) ?? null,
      isForeign: step === "leave",
      isCurrent: step === "nothing",
      hasRun: hasRun(revisions),
      failure: step === "nothing" ? null : failureFor(attempts.of(wanted), goal),
    };
  }

  /** A release of somebody else is none of ours. */
  async function remove(id: ReleaseId, chart: ChartName | null): Promise<ReleaseRemoval> {
    const key = keyOf(id);
    const rights = rightsOf(id, chart);
    const goal = goalOf(REMOVAL, rights);
    held.delete(key);
    const failure = failureFor(attempts.of(id), goal)?.message ?? null;
    turnTo(key, goal);
    if (works.has(key)) return { isGone: false, left: [], failure };
    const revisions = await store.revisions(id);
    const { step } = nextStep(revisions, null);
    const last = revisions.at(-1);
    if (step === "uninstall") {
      const task = { id, wanted: null, rights, goal };
      if (waitMs(attempts.of(id), goal, nowMs()) === 0) begin("removing", task);
      return { isGone: false, left: [], failure };
    }
    const isOver = step === "purge" && last;
    const names = isOver ? await left(id, last, rights) : [];
    if (names.length > 0) return { isGone: false, left: names, failure: null };
    if (isOver) await store.forget(id, revisions);
    await attempts.forget(id);
    return { isGone: true, left: [], failure: null };
  }

  function turnTo(key: string, goal: string): void {
    const work = works.get(key);
    if (work && work.goal !== goal) work.breakOff();
  }

  function begin(doing: Work["doing"], task: Task): void {
    const { id, goal } = task;
    const key = keyOf(id);
    if (works.has(key) || stopping.signal.aborted || isFinishing) return;
    const breaking = new AbortController();
    const signal = AbortSignal.any([stopping.signal, breaking.signal]);
    const isRetry = attempts.of(id)?.goal === goal;
    const ended = inTurn(id.namespace, () => underWay.during(attempts.make(task, signal)), { isRetry }).finally(() => {
      works.delete(key);
      if (!stopping.signal.aborted) onEnd(id);
    });
    works.set(key, { goal, doing, ended, breakOff: () => breaking.abort() });
  }

  async function steps(task: Task, signal: AbortSignal): Promise<void> {
    const { id, wanted } = task;
    const digest = wanted && digestOf(wanted);
    for (let count = 0; count < MOST_STEPS; count += 1) {
      if (held.has(keyOf(id)) || isFinishing) return;
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

  /** If the operator dies before this, the next attempt finds the failed revision and uninstalls it. */
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
      await inspect(await manifestOf(id, target), rights);
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

  async function allEnded(): Promise<void> {
    await Promise.all([...works.values()].map(({ ended }) => ended));
  }

  return {
    reconcile,
    remove,
    hold: (id: ReleaseId): void => void held.add(keyOf(id)),
    load: (): HelmLoad => ({ running: underWay.now(), waiting: works.size - underWay.now() }),
    /** Begins nothing more, and waits for the steps under way: nobody would repair a release whose step was broken off. */
    async finish(): Promise<void> {
      isFinishing = true;
      await allEnded();
    },
    /** Breaks off what is under way, and waits for it. */
    async stop(): Promise<void> {
      stopping.abort();
      await allEnded();
    },
  };
}

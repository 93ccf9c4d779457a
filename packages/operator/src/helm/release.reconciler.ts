import type { InformerLog } from "../kube/informer.adapter.ts";
import { type Attempts, afterAttempt, failureFor, waitMs } from "./attempts.ts";
import { HelmFailure } from "./failure.ts";
import type { Helm } from "./helm.adapter.ts";
import type { Leases } from "./lease.store.ts";
import type { ReleaseStore } from "./release.store.ts";
import { type Goal, hasRun, nextStep, nextVersion, type Step } from "./release.ts";
import { digestOf, type HelmRelease, type ReleaseId, type Revision, revisionLabels } from "./revision.ts";
import { createSlots } from "./slots.ts";

export interface ReleasePorts {
  readonly helm: Helm;
  readonly store: ReleaseStore;
  readonly leases: Leases;
  /** What is left of what a revision was made of, in words. */
  readonly left: (id: ReleaseId, revision: Revision) => Promise<readonly string[]>;
  readonly nowMs: () => number;
  readonly log: InformerLog;
  readonly clusterId: string;
  /** Told when work on a release has ended. */
  readonly onEnd: (id: ReleaseId) => void;
}

/** A release as it is now, and what is being done about it. */
export interface ReleaseLook {
  readonly doing: "installing" | "upgrading" | "removing" | null;
  readonly revision: Revision | null;
  readonly isForeign: boolean;
  /** It is what is wanted, as far as Helm is concerned. */
  readonly isCurrent: boolean;
  readonly hasRun: boolean;
  /** Why it is not what is wanted, although that was tried. */
  readonly failure: string | null;
}

export interface LookOptions {
  /** Upgrade even where nothing has changed: at once, or not before a failed attempt may be repeated. */
  readonly force?: "now" | "due";
  /** Nothing is done about what is seen. */
  readonly isObserver?: boolean;
}

export interface ReleaseRemoval {
  readonly isGone: boolean;
  /** Objects that are still there although Helm is done, in words. */
  readonly left: readonly string[];
  readonly failure: string | null;
}

interface Work {
  readonly goal: string;
  readonly doing: NonNullable<ReleaseLook["doing"]>;
  readonly ended: Promise<void>;
  /** What it works for is not wanted any more, and might take minutes. */
  breakOff(): void;
}

/** Each Helm takes up to a hundred megabytes. */
const MOST_AT_ONCE = 2;
/** A repair takes two; more means that somebody works against us. */
const MOST_STEPS = 4;
const ENDS: ReadonlySet<Step["step"]> = new Set(["nothing", "leave", "purge"]);
const REMOVAL = "removal";

/**
 * Brings releases to what is wanted, one piece of work per release at a time. Nobody waits for it: who asks is told what
 * is to be seen now. Where nothing has to be done, no process is started.
 */
export function createReleaseReconciler(ports: ReleasePorts) {
  const { helm, store, leases, left, nowMs, log, clusterId, onEnd } = ports;
  const works = new Map<string, Work>();
  const attempts = new Map<string, Attempts>();
  const slots = createSlots(MOST_AT_ONCE);
  const stopping = new AbortController();

  const keyOf = ({ namespace, name }: ReleaseId) => `${namespace}/${name}`;

  async function look(wanted: HelmRelease, { force, isObserver = false }: LookOptions = {}): Promise<ReleaseLook> {
    const key = keyOf(wanted);
    const isForced = force !== undefined;
    const goal: Goal = { digest: digestOf(wanted), isForced };
    const revisions = await store.revisions(wanted);
    const { step } = nextStep(revisions, goal);
    if (!isObserver) turnTo(key, goal.digest);
    const isDue = force === "now" || waitMs(attempts.get(key), goal.digest, nowMs()) === 0;
    if (isDue && !isObserver && step !== "nothing" && step !== "leave") {
      begin(wanted, goal.digest, step === "install" ? "installing" : "upgrading", wanted, isForced);
    }
    return {
      doing: works.get(key)?.doing ?? null,
      revision: revisions.at(-1) ?? null,
      isForeign: step === "leave",
      isCurrent: step === "nothing",
      hasRun: hasRun(revisions),
      failure: step === "nothing" ? null : failureFor(attempts.get(key), goal.digest),
    };
  }

  /** A release of somebody else is none of ours. */
  async function remove(id: ReleaseId): Promise<ReleaseRemoval> {
    const key = keyOf(id);
    const failure = failureFor(attempts.get(key), REMOVAL);
    turnTo(key, REMOVAL);
    if (works.has(key)) return { isGone: false, left: [], failure };
    const revisions = await store.revisions(id);
    const { step } = nextStep(revisions, null);
    const last = revisions.at(-1);
    if (step === "uninstall") {
      if (waitMs(attempts.get(key), REMOVAL, nowMs()) === 0) begin(id, REMOVAL, "removing", null, false);
      return { isGone: false, left: [], failure };
    }
    const isOver = step === "purge" && last;
    const names = isOver ? await left(id, last) : [];
    if (names.length > 0) return { isGone: false, left: names, failure: null };
    if (isOver) await store.forget(id, revisions);
    attempts.delete(key);
    return { isGone: true, left: [], failure: null };
  }

  function turnTo(key: string, goal: string): void {
    const work = works.get(key);
    if (work && work.goal !== goal) work.breakOff();
  }

  function begin(id: ReleaseId, goal: string, doing: Work["doing"], wanted: HelmRelease | null, isForced: boolean) {
    const key = keyOf(id);
    if (works.has(key) || stopping.signal.aborted) return;
    const breaking = new AbortController();
    const signal = AbortSignal.any([stopping.signal, breaking.signal]);
    const ended = slots
      .within(() => attempt(id, wanted, isForced, signal))
      .then((result) => {
        attempts.set(key, afterAttempt(attempts.get(key), goal, result, nowMs()));
      })
      .finally(() => {
        works.delete(key);
        if (!stopping.signal.aborted) onEnd(id);
      });
    works.set(key, { goal, doing, ended, breakOff: () => breaking.abort() });
  }

  async function attempt(id: ReleaseId, wanted: HelmRelease | null, isForced: boolean, signal: AbortSignal) {
    const place = { namespace: id.namespace, release: id.name };
    try {
      const isOurs = await leases.under(id, signal, (working) => steps(id, wanted, isForced, working));
      return { failure: null, isBusy: !isOurs };
    } catch (err) {
      log.warn({ err, ...place }, "a release could not be brought to what is wanted");
      // What else can fail is the cluster, which is spoken of by whoever looks at it next.
      return { failure: err instanceof HelmFailure ? err.message : "The cluster did not answer as it should." };
    }
  }

  async function steps(id: ReleaseId, wanted: HelmRelease | null, isForced: boolean, signal: AbortSignal) {
    const digest = wanted && digestOf(wanted);
    let isStillForced = isForced;
    for (let count = 0; count < MOST_STEPS; count += 1) {
      const revisions = await store.revisions(id);
      const next = nextStep(revisions, digest === null ? null : { digest, isForced: isStillForced });
      if (ENDS.has(next.step)) return;
      log.info({ namespace: id.namespace, release: id.name, step: next.step }, "Helm is at work");
      await act(id, next, wanted, revisions, signal);
      if (next.step === "upgrade") isStillForced = false;
    }
  }

  async function act(
    id: ReleaseId,
    next: Step,
    wanted: HelmRelease | null,
    revisions: readonly Revision[],
    signal: AbortSignal,
  ): Promise<void> {
    if (next.step === "rollback") await helm.rollback(id, next.to, signal);
    else if (next.step === "uninstall") await helm.uninstall(id, signal);
    else if (wanted) {
      const made = { digest: digestOf(wanted), version: nextVersion(revisions) };
      await helm.upgrade(wanted, revisionLabels(id, clusterId, made), signal);
    }
  }

  return {
    look,
    remove,
    /** Breaks off what is under way, and waits for it. */
    async stop(): Promise<void> {
      stopping.abort();
      await Promise.all([...works.values()].map(({ ended }) => ended));
    },
  };
}

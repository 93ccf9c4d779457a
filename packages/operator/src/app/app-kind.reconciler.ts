import {
  canonicalJson,
  type DriftField,
  type DriftReport,
  LABELS,
  type LinkSettings,
  type PodSecurity,
} from "@binnacle/contract";
import type { StoredResource } from "../desired/desired-state.ts";
import { isDeleting, isOurs, ownSelector } from "../desired/ownership.ts";
import type { HostClaims } from "../hosts/host-claims.reconciler.ts";
import { createApplySet, type Settled } from "../kube/apply-set.adapter.ts";
import type { KubeObject } from "../kube/kube-client.ts";
import { statusOf } from "../kube/object-fields.ts";
import type { PodView } from "../kube/pod-view.ts";
import { type Unchanged, unchangedSince } from "../kube/recheck.ts";
import { ADDON_INSTANCES, APPS, OWNED_KINDS } from "../kube/resource-types.ts";
import { podSecurityOf } from "../project/namespace-policy.ts";
import { isSuspended } from "../project/suspended.ts";
import { pullSecretNames } from "../pull-secrets/pull-secrets.ts";
import {
  afterPass,
  type HealedPass,
  type Healing,
  mayHeal,
  NOT_HEALING,
  nextHealMs,
} from "../reconcile/heal-backoff.ts";
import type { DispatchedKind, Found, KindReconciler, Pass, ReconcilerPorts, Watch, Work } from "../reconcile/kind.ts";
import { phaseSince } from "../reconcile/last-phase.ts";
import {
  type AppPass,
  awaitingReport,
  driftOf,
  isRolledOut,
  nameTakenReport,
  obsolete,
  obsoleteReleases,
  phaseOf,
  refusedReport,
  rendersNothing,
  requeueMs,
  seenSuspended,
  suspendedDeletion,
  withObserved,
  withPlanned,
} from "./app-pass.ts";
import { createAppRemoval, madeFor } from "./app-removal.reconciler.ts";
import { type AppMemory, chartOf, memoryIn, statusFields } from "./app-status.ts";
import { type AppContext, createComponentReconciler } from "./component.reconciler.ts";
import { emptied, type Outcome } from "./component-outcome.ts";
import type { PhaseReport } from "./phase.ts";
import type { Instance, Releases } from "./releases.ts";
import { deletedInstance } from "./render/problems.ts";
import { renderApp } from "./render/render-app.ts";
import { type Exports, type Invalid, isInvalid } from "./render/rendering.ts";
import { createRollouts } from "./rollouts.ts";
import { mayStillCome, type SyncProgress } from "./sync-progress.ts";
import type { Settlements } from "./unchanged-component.ts";

type App = StoredResource<"app">;

export interface AppPorts extends ReconcilerPorts {
  readonly releases: Releases;
  readonly pods: PodView;
  readonly hosts: Pick<HostClaims, "takenByOthers" | "onChange">;
  readonly syncProgress: Pick<SyncProgress, "isCompleteSince">;
  readonly settings: LinkSettings;
  /** The highest level of Pod Security that a project may have on the cluster. */
  readonly podSecurityLimit: PodSecurity;
  /** How many apps may be replaced at once because this version of the operator renders them otherwise. */
  readonly appsAtOnce: number;
  /** The version of this operator. */
  readonly version: string;
}

/** State that need not survive a restart: without it, every object is compared once more. */
interface Notes {
  readonly settled: Settled;
  readonly settlements: Settlements;
  healing: Healing;
  verdict?: Unchanged;
}

/** The end of a run. */
interface Finding {
  readonly verdict: PhaseReport;
  readonly drift: DriftReport;
  /** The app or its project is suspended. */
  readonly isHeld: boolean;
}

/** A rollout changes many objects in a moment; one run is enough. */
const GATHER_MS = 300;
/** Changes to its objects and pods are seen at once, whatever this says. */
const SUSPENDED_MS = 30_000;

export const appKind: DispatchedKind<"app", AppPorts> = {
  kind: "app",
  holder: APPS,
  companionPrefix: "binnacle-app-",
  emptySecret: { secrets: {}, values: {} },
  nameTaken: nameTakenReport,
  reconciler: createAppReconciler,
};

/** Applies the objects of an app, prunes what is obsolete, and reports phase and drift. */
function createAppReconciler(ports: AppPorts, work: Work): KindReconciler<"app"> {
  const { kube, view, releases, pods, hosts, nowMs, clusterId, podSecurityLimit } = ports;
  const applySet = createApplySet(kube);
  const rollouts = createRollouts({ ...ports, most: ports.appsAtOnce });
  const components = createComponentReconciler({ ...ports, applySet, rollouts, seen: work.seen });
  const removal = createAppRemoval({ kube, applySet, releases, clusterId, stored: appKind });
  const notes = new Map<string, Notes>();
  let { drift_policy: policy } = ports.settings;

  /** Compares everything with what is stored, reports that and changes nothing but the status. */
  async function observe({ resource: app, holder }: Found<"app">): Promise<Pass<"app">> {
    const known = memoryIn(holder);
    if (app.isDeleting) return { report: suspendedDeletion(known), requeueAfterMs: null };
    const instances = await releases.instances(app.spec.namespace);
    const pass = await reconcileComponents(app, known, { instances, mayHeal: () => false, isSuspended: true });
    const { memory, verdict, drift } = seenSuspended(app, known, pass, { nowMs: nowMs(), version: ports.version });
    noteOf(app.key).healing = NOT_HEALING;
    return { ...finished(app, memory, { verdict, drift, isHeld: true }), requeueAfterMs: SUSPENDED_MS };
  }

  async function apply({ resource: app, holder }: Found<"app">): Promise<Pass<"app">> {
    const note = noteOf(app.key);
    const known = memoryIn(holder);
    const now = nowMs();
    const mayHealNow = (drift: readonly DriftField[]) => policy === "heal" && mayHeal(note.healing, drift, now);
    const instances = await releases.instances(app.spec.namespace);
    const pass = await reconcileComponents(app, known, { instances, mayHeal: mayHealNow, isSuspended: false });
    if ("invalid" in pass) {
      const judged = await withoutAwaited(ports, { app, holder }, pass);
      const verdict =
        "invalid" in judged ? phaseOf(app, known, [], judged, nowMs()) : awaitingReport(known, judged.awaits);
      const pending = { healInMs: null, isPruning: false, unchangedMs: unchangedFor(note, app, verdict, nowMs()) };
      const requeueAfterMs = requeueMs(verdict, [], pending);
      return { ...finished(app, known, { verdict, drift: driftOf(known, [], ""), isHeld: false }), requeueAfterMs };
    }
    const found = withObserved(withPlanned(known, app, pass.rendered), app, pass, ports.version);
    const memory = await prune(app, found, pass);
    const verdict = phaseOf(app, memory, pass.outcomes, null, nowMs());
    const drift = driftOf(memory, pass.outcomes, new Date(nowMs()).toISOString());
    note.healing = policy === "heal" ? afterPass(note.healing, healedIn(pass.outcomes), nowMs()) : NOT_HEALING;
    const dueMs = nextHealMs(note.healing);
    const isPruning = obsoleteReleases(memory, app).length > 0;
    const healInMs = dueMs === null ? null : dueMs - nowMs();
    const unchangedMs = unchangedFor(note, app, verdict, nowMs());
    const requeueAfterMs = requeueMs(verdict, pass.outcomes, { healInMs, isPruning, unchangedMs });
    const onReported = () => {
      if (isRolledOut(verdict, pass)) rollouts.ended(app.key);
      for (const key of rollouts.next()) work.enqueue(key);
    };
    return { ...finished(app, memory, { verdict, drift, isHeld: false }), requeueAfterMs, onReported };
  }

  /** Wave after wave; what a release exports may complete what comes after it. */
  async function reconcileComponents(
    app: App,
    known: AppMemory,
    options: Pick<AppContext, "mayHeal" | "isSuspended"> & { readonly instances: ReadonlyMap<string, Instance> },
  ): Promise<AppPass | Invalid> {
    const exports = new Map<string, Exports>();
    const outcomes: Outcome[] = [];
    let rendered = render(app, options.instances, exports);
    if (isInvalid(rendered)) return rendered;
    if (rendersNothing(app, rendered)) return { rendered, outcomes: rendered.components.map(emptied) };
    let memory = known;
    for (let at = 0; at < rendered.components.length; at += 1) {
      const component = rendered.components[at];
      if (!component) break;
      if (!options.isSuspended) memory = await recordPlan(app, memory, withPlanned(memory, app, rendered));
      const context: AppContext = { ...options, ...noteOf(app.key), app, memory, isOurs: madeFor(app, clusterId) };
      const outcome = await components.reconcile(component, context, outcomes);
      outcomes.push(outcome);
      if (!outcome.exports) continue;
      exports.set(component.name, outcome.exports);
      rendered = render(app, options.instances, exports);
      if (isInvalid(rendered)) return rendered;
    }
    return { rendered, outcomes };
  }

  function render(app: App, instances: ReadonlyMap<string, Instance>, exports: ReadonlyMap<string, Exports>) {
    const pullSecrets = pullSecretNames(view.get("registry_secrets", `registry_secrets/${app.spec.namespace}`));
    const project = view.get("project", `project/${app.spec.namespace}`);
    const podSecurity = podSecurityOf(project, podSecurityLimit);
    return renderApp(app, { clusterId, pullSecrets, podSecurity, instances, releases: exports });
  }

  /** On record before it is made: an operator that dies in between finds it again. */
  async function recordPlan(app: App, before: AppMemory, after: AppMemory): Promise<AppMemory> {
    const { inventory, releases: names, charts } = after;
    if (inventory.length === before.inventory.length && names.length === before.releases.length) return before;
    await writeStatus(app, { inventory, releases: names, charts });
    return after;
  }

  async function prune(app: App, memory: AppMemory, pass: AppPass): Promise<AppMemory> {
    const scope = { namespace: app.spec.namespace, isOurs: madeFor(app, clusterId), isLast: false };
    const items = obsolete(memory, pass);
    const left = await applySet.prune(items, scope);
    const gone = new Set<string>();
    for (const name of obsoleteReleases(memory, app)) {
      const leaving = { namespace: app.spec.namespace, name, app: app.spec.name, chart: chartOf(memory, name) };
      if ((await releases.remove(leaving)) === "gone") gone.add(name);
    }
    return {
      ...memory,
      inventory: memory.inventory.filter((item) => !items.includes(item) || left.includes(item)),
      releases: memory.releases.filter((name) => !gone.has(name)),
      charts: memory.charts.filter(({ release }) => !gone.has(release)),
    };
  }

  function finished(app: App, memory: AppMemory, { verdict, drift, isHeld }: Finding) {
    const ranGeneration = verdict.phase === "running" && !isHeld ? app.generation : memory.ranGeneration;
    const phase_since = phaseSince(memory.lastPhase, verdict.phase, nowMs());
    const report = { ...verdict, phase_since, drift, ...(isHeld ? { suspended: true } : {}) };
    const fields = statusFields({ ...memory, ranGeneration, drift }, app.generation);
    return { report, status: { ...fields, suspended: isHeld ? true : null } };
  }

  async function writeStatus({ key, spec }: App, status: Readonly<Record<string, unknown>>): Promise<void> {
    work.wrote(key, await kube.patchStatus(APPS, spec.name, spec.namespace, status));
  }

  function noteOf(key: string): Notes {
    const known = notes.get(key) ?? { settled: new Map(), settlements: new Map(), healing: NOT_HEALING };
    notes.set(key, known);
    return known;
  }

  /** Pull secrets and the level of pod security are rendered into the pods of every app in the namespace. */
  const enqueueNeighbours = (key: string) => work.enqueueIn(key.slice(key.indexOf("/") + 1));

  return {
    firstRetryMs: 1_000,
    concurrency: 4,
    readsStatus: true,
    watches: watchesOf(clusterId),
    subscribe: () => [
      pods.onChange((pod) => {
        const key = appKeyOf(pod);
        if (key !== null) work.enqueue(key, GATHER_MS);
      }),
      view.onChange("registry_secrets", enqueueNeighbours),
      view.onChange("project", enqueueNeighbours),
      hosts.onChange(work.enqueueIn),
      releases.onChange((namespace, app) =>
        app === null ? work.enqueueIn(namespace) : work.enqueue(`app/${namespace}/${app}`, GATHER_MS),
      ),
    ],
    apply,
    observe,
    remove: ({ resource, holder }) => removal.remove(resource, holder),
    rejected: ({ resource, holder }, error, reason) =>
      refusedReport(resource, memoryIn(holder), error, { reason, isHeld: isSuspended(view, resource) }),
    forget(key) {
      notes.delete(key);
      rollouts.ended(key);
    },
    settings({ drift_policy }) {
      const isOther = drift_policy !== policy;
      policy = drift_policy;
      return isOther;
    },
  };
}

/** The problem, or the addon instance that is missing and may still come. */
async function withoutAwaited(
  { kube, clusterId, syncProgress }: Pick<AppPorts, "kube" | "clusterId" | "syncProgress">,
  { app, holder }: { readonly app: App; readonly holder: KubeObject },
  problem: Invalid,
): Promise<Invalid | { awaits: string }> {
  const { awaits } = problem;
  if (awaits === undefined) return problem;
  const found = await kube.get(ADDON_INSTANCES, awaits, app.spec.namespace);
  const instance = found !== null && isOurs(found, clusterId) ? found : null;
  const { phase, generation: judged } = statusOf(holder);
  const isDeleted = memoryIn(holder).instances.includes(awaits) || (instance !== null && isDeleting(instance));
  const unseen = {
    isHeld: instance !== null && !isDeleting(instance),
    isSyncComplete: syncProgress.isCompleteSince(app.key),
    wasMissing: phase === "invalid" && judged === app.generation,
    isDeleted,
  };
  if (mayStillCome(unseen)) return { awaits };
  return isDeleted ? deletedInstance(app.spec, awaits) : problem;
}

/** For how long the same has been reported. Pods and objects that change reconcile the app at once, whatever this says. */
function unchangedFor(note: Notes, { generation }: App, verdict: PhaseReport, nowMs: number): number {
  const { phase, reason, message, components } = verdict;
  note.verdict = unchangedSince(note.verdict, canonicalJson([generation, phase, reason, message, components]), nowMs);
  return nowMs - note.verdict.sinceMs;
}

const watchesOf = (clusterId: string): Watch[] =>
  OWNED_KINDS.map((type) => ({
    type,
    labelSelector: `${ownSelector(clusterId)},${LABELS.app}`,
    labels: [LABELS.app],
    afterMs: GATHER_MS,
    keyOf: (_name, object, before) => appKeyOf(object ?? before),
  }));

function appKeyOf(object: KubeObject | undefined): string | null {
  const { namespace, labels } = object?.metadata ?? {};
  return namespace && labels?.[LABELS.app] ? `app/${namespace}/${labels[LABELS.app]}` : null;
}

const healedIn = (outcomes: readonly Outcome[]): HealedPass => ({
  drifted: outcomes.flatMap(({ drifted }) => drifted),
  healed: outcomes.flatMap(({ healed }) => healed),
});

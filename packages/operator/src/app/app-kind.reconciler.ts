import { DEFAULT_POLICY, type DriftField, type DriftReport, LABELS, type LinkSettings } from "@binnacle/contract";
import type { StoredResource } from "../desired/desired-state.ts";
import { isDeleting, isOurs, ownSelector } from "../desired/ownership.ts";
import type { HostClaims } from "../hosts/host-claims.reconciler.ts";
import { createApplySet, type Settled } from "../kube/apply-set.adapter.ts";
import type { KubeObject } from "../kube/kube-client.ts";
import { statusOf } from "../kube/object-fields.ts";
import type { PodView } from "../kube/pod-view.ts";
import { ADDON_INSTANCES, APPS, OWNED_KINDS } from "../kube/resource-types.ts";
import { policyOf } from "../project/namespace-policy.ts";
import {
  afterPass,
  type HealedPass,
  type Healing,
  mayHeal,
  NOT_HEALING,
  nextHealMs,
} from "../reconcile/heal-backoff.ts";
import type { DispatchedKind, Found, KindReconciler, Pass, ReconcilerPorts, Work } from "../reconcile/kind.ts";
import { phaseSince } from "../reconcile/last-phase.ts";
import { pullSecretNames } from "../registry/pull-secrets.ts";
import {
  type AppPass,
  awaitingReport,
  driftOf,
  obsolete,
  obsoleteReleases,
  phaseOf,
  refusedReport,
  rendersNothing,
  requeueMs,
  withObserved,
  withPlanned,
} from "./app-pass.ts";
import { createAppRemoval, madeFor } from "./app-removal.reconciler.ts";
import { type AppMemory, chartOf, isSameStatus, memoryIn, statusFields } from "./app-status.ts";
import { type AppContext, createComponentReconciler } from "./component.reconciler.ts";
import { emptied, type Outcome } from "./component-outcome.ts";
import type { PhaseReport } from "./phase.ts";
import type { Instance, Releases } from "./releases.ts";
import { deletedInstance } from "./render/problems.ts";
import { renderApp } from "./render/render-app.ts";
import { type Exports, type Invalid, isInvalid } from "./render/rendering.ts";
import { mayStillCome, type SyncProgress } from "./sync-progress.ts";

type App = StoredResource<"app">;

export interface AppPorts extends ReconcilerPorts {
  readonly releases: Releases;
  readonly pods: PodView;
  readonly hosts: Pick<HostClaims, "taken" | "onChange">;
  readonly syncProgress: Pick<SyncProgress, "isCompleteSince">;
  readonly settings: LinkSettings;
  /** Wall-clock time in milliseconds. */
  readonly nowMs: () => number;
}

/** State that need not survive a restart: without it, every object is compared once more. */
interface Notes {
  readonly settled: Settled;
  healing: Healing;
}

/** A rollout changes many objects in a moment; one run is enough. */
const GATHER_MS = 300;

export const appKind: DispatchedKind<"app", AppPorts> = {
  kind: "app",
  holder: APPS,
  companionPrefix: "binnacle-app-",
  emptySecret: { secrets: {}, values: {} },
  reconciler: createAppReconciler,
};

/** Applies the objects of an app, prunes what is obsolete, and reports phase and drift. */
function createAppReconciler(ports: AppPorts, work: Work): KindReconciler<"app"> {
  const { kube, view, releases, pods, hosts, syncProgress, nowMs, clusterId } = ports;
  const applySet = createApplySet(kube);
  const components = createComponentReconciler({ kube, applySet, releases, pods, hosts, nowMs, clusterId });
  const removal = createAppRemoval({ kube, applySet, releases, clusterId, stored: appKind });
  const notes = new Map<string, Notes>();
  let { drift_policy: policy } = ports.settings;

  async function apply({ resource: app, holder }: Found<"app">): Promise<Pass<"app">> {
    const note = noteOf(app.key);
    const known = memoryIn(holder);
    const now = nowMs();
    const mayHealNow = (drift: readonly DriftField[]) => policy === "heal" && mayHeal(note.healing, drift, now);
    const instances = await releases.instances(app.spec.namespace);
    const pass = await reconcileComponents(app, known, { instances, mayHeal: mayHealNow });
    if ("invalid" in pass) {
      const judged = await withoutAwaited(app, holder, pass);
      const verdict =
        "invalid" in judged ? phaseOf(app, known, [], judged, nowMs()) : awaitingReport(known, judged.awaits);
      const report = await finish(app, holder, known, verdict, driftOf(known, [], ""));
      return { report, requeueAfterMs: requeueMs(verdict, [], { healInMs: null, isPruning: false }) };
    }
    const found = withObserved(withPlanned(known, app, pass.rendered), app, pass);
    const memory = await prune(app, found, pass);
    const verdict = phaseOf(app, memory, pass.outcomes, null, nowMs());
    const drift = driftOf(memory, pass.outcomes, new Date(nowMs()).toISOString());
    note.healing = policy === "heal" ? afterPass(note.healing, healedIn(pass.outcomes), nowMs()) : NOT_HEALING;
    const report = await finish(app, holder, memory, verdict, drift);
    const dueMs = nextHealMs(note.healing);
    const isPruning = obsoleteReleases(memory, app).length > 0;
    const healInMs = dueMs === null ? null : dueMs - nowMs();
    return { report, requeueAfterMs: requeueMs(verdict, pass.outcomes, { healInMs, isPruning }) };
  }

  /** The problem, or the addon instance that is missing and may still come. */
  async function withoutAwaited(app: App, holder: KubeObject, problem: Invalid): Promise<Invalid | { awaits: string }> {
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

  /** Wave after wave; what a release exports may complete what comes after it. */
  async function reconcileComponents(
    app: App,
    known: AppMemory,
    options: Pick<AppContext, "mayHeal"> & { readonly instances: ReadonlyMap<string, Instance> },
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
      memory = await recordPlan(app, memory, withPlanned(memory, app, rendered));
      const context: AppContext = {
        ...options,
        app,
        memory,
        settled: noteOf(app.key).settled,
        isOurs: madeFor(app, clusterId),
      };
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
    const { pod_security: podSecurity } = project ? policyOf(project) : DEFAULT_POLICY;
    return renderApp(app, { clusterId, pullSecrets, podSecurity, instances, releases: exports });
  }

  /** On record before it is made: an operator that dies in between finds it again. */
  async function recordPlan(app: App, before: AppMemory, after: AppMemory): Promise<AppMemory> {
    const { inventory, releases: names, charts } = after;
    if (inventory.length === before.inventory.length && names.length === before.releases.length) return before;
    await kube.patchStatus(APPS, app.spec.name, app.spec.namespace, { inventory, releases: names, charts });
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

  async function finish(app: App, holder: KubeObject, memory: AppMemory, verdict: PhaseReport, drift: DriftReport) {
    const ranGeneration = verdict.phase === "running" ? app.generation : memory.ranGeneration;
    const phase_since = phaseSince(memory.lastPhase, verdict.phase, nowMs());
    const said = { ...verdict, phase_since };
    const status = statusFields({ ...memory, ranGeneration, drift }, app.generation, said);
    if (!isSameStatus(holder["status"], status)) {
      await kube.patchStatus(APPS, app.spec.name, app.spec.namespace, status);
    }
    return { ...said, drift };
  }

  function noteOf(key: string): Notes {
    const known = notes.get(key) ?? { settled: new Map(), healing: NOT_HEALING };
    notes.set(key, known);
    return known;
  }

  /** Pull secrets and the level of pod security are rendered into the pods of every app in the namespace. */
  const enqueueNeighbours = (key: string) => work.enqueueIn(key.slice(key.indexOf("/") + 1));

  return {
    firstRetryMs: 1_000,
    concurrency: 4,
    readsStatus: true,
    watches: OWNED_KINDS.map((type) => ({
      type,
      labelSelector: `${ownSelector(clusterId)},${LABELS.app}`,
      trim: identityOf,
      afterMs: GATHER_MS,
      keyOf: (_name, object, before) => appKeyOf(object ?? before),
    })),
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
    remove: ({ resource, holder }) => removal.remove(resource, holder),
    rejected: ({ resource, holder }, error) => refusedReport(resource, memoryIn(holder), error),
    forget: (key) => notes.delete(key),
    settings({ drift_policy }) {
      const isOther = drift_policy !== policy;
      policy = drift_policy;
      return isOther;
    },
  };
}

/** Keeps the name of an object and its app. The rest is read when it is needed. */
function identityOf({ apiVersion, kind, metadata }: KubeObject): KubeObject {
  const { name, namespace = "", uid = "", resourceVersion = "", labels } = metadata;
  const app = labels?.[LABELS.app] ?? "";
  return { apiVersion, kind, metadata: { name, namespace, uid, resourceVersion, labels: { [LABELS.app]: app } } };
}

function appKeyOf(object: KubeObject | undefined): string | null {
  const { namespace, labels } = object?.metadata ?? {};
  return namespace && labels?.[LABELS.app] ? `app/${namespace}/${labels[LABELS.app]}` : null;
}

const healedIn = (outcomes: readonly Outcome[]): HealedPass => ({
  drifted: outcomes.flatMap(({ drifted }) => drifted),
  healed: outcomes.flatMap(({ healed }) => healed),
});

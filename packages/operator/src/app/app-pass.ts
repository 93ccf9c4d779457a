import { type AppReport, type DriftReport, type Reasoned, safeText, UNKNOWN_DRIFT } from "@binnacle/contract";
import type { StoredResource } from "../desired/desired-state.ts";
import { type InventoryItem, itemOf, union, without } from "../kube/inventory.ts";
import type { KubeObject } from "../kube/kube-client.ts";
import { conditionOf } from "../kube/object-fields.ts";
import { recheckMs } from "../kube/recheck.ts";
import { driftReport } from "../reconcile/drift-report.ts";
import type { AppMemory, ComponentStatus, ReleaseChart } from "./app-status.ts";
import type { Outcome } from "./component-outcome.ts";
import { componentNames } from "./names.ts";
import { type PhaseReport, phaseReport } from "./phase.ts";
import type { Invalid, RenderedApp } from "./render/rendering.ts";

type App = StoredResource<"app">;

/** The result of reconciling all components of an app once. */
export interface AppPass {
  readonly rendered: RenderedApp;
  readonly outcomes: readonly Outcome[];
}

/**
 * Releases and objects that are about to be made are on record before they are. An app is rendered only if the addon instances
 * that it uses are there.
 */
export function withPlanned(memory: AppMemory, { spec }: App, { components }: RenderedApp): AppMemory {
  const items = components.flatMap(({ objects }) => objects.map(itemOf));
  const charts = spec.components.flatMap(({ name, release }): ReleaseChart[] =>
    release
      ? [{ release: componentNames(spec.name, name).base, repo: release.chart.repo, name: release.chart.name }]
      : [],
  );
  const releases = charts.map(({ release }) => release);
  const instances = spec.components.flatMap(({ addon_instance }) => addon_instance ?? []);
  return {
    ...memory,
    instances: [...new Set(instances)].sort(),
    inventory: union(memory.inventory, items),
    releases: [...new Set([...memory.releases, ...releases])].sort(),
    charts: [...memory.charts.filter(({ release }) => !releases.includes(release)), ...charts].sort(byRelease),
  };
}

const byRelease = (one: ReleaseChart, other: ReleaseChart): number => (one.release < other.release ? -1 : 1);

/** With what was found on the cluster. */
export function withObserved(
  memory: AppMemory,
  { generation }: App,
  { outcomes }: AppPass,
  version: string,
): AppMemory {
  const objects = outcomes.flatMap((outcome) => outcome.objects.filter((object) => isKnown(object, memory)));
  return {
    ...memory,
    inventory: union(memory.inventory, objects.map(itemOf)),
    components: outcomes.map(({ state, isApplied, waitsForTurn, objects }): ComponentStatus => {
      const { name, readyReplicas } = state;
      const known = memory.components.find((component) => component.name === name);
      const appliedGeneration = isApplied ? generation : (known?.appliedGeneration ?? 0);
      return {
        name,
        readyReplicas,
        appliedGeneration,
        finishedJob: finishedAmong(objects) ?? known?.finishedJob ?? "",
        rendering: isApplied && !waitsForTurn ? version : (known?.rendering ?? ""),
      };
    }),
  };
}

/** Null where there is no Job, or it has been deleted. */
function finishedAmong(objects: readonly KubeObject[]): string | null {
  const job = objects.find(({ kind }) => kind === "Job");
  if (!job) return null;
  return conditionOf(job, "Complete")?.status === "True" ? job.metadata.name : "";
}

const isKnown = (object: KubeObject, { inventory }: AppMemory): boolean =>
  without([itemOf(object)], inventory).length === 0;

/**
 * Objects to prune: those of components that are applied, and those of components that were removed from the app unless
 * another component is blocked. A component that still waits keeps its objects.
 */
export function obsolete({ inventory }: AppMemory, { rendered, outcomes }: AppPass): InventoryItem[] {
  const desired = rendered.components.flatMap(({ objects }) => objects.map(itemOf));
  const isReplaced = ({ isApplied, isStopped, waitsForTurn }: Outcome) => isApplied && !isStopped && !waitsForTurn;
  const applied = new Set(outcomes.filter(isReplaced).map(nameOf));
  const present = new Set(outcomes.map(nameOf));
  const isStopped = outcomes.some((outcome) => outcome.isStopped);
  return without(inventory, desired).filter(({ component }) =>
    present.has(component) ? applied.has(component) : !isStopped,
  );
}

const nameOf = ({ state }: Outcome): string => state.name;

/** Releases of components that were removed from the app or no longer are charts. */
export function obsoleteReleases({ releases }: AppMemory, { spec }: App): string[] {
  const desired = new Set(
    spec.components.filter(({ release }) => release).map(({ name }) => componentNames(spec.name, name).base),
  );
  return releases.filter((name) => !desired.has(name));
}

/** All of it runs as this version renders it. */
export const isRolledOut = ({ phase }: Pick<PhaseReport, "phase">, { outcomes }: Pick<AppPass, "outcomes">): boolean =>
  (phase === "running" || phase === "paused") && !outcomes.some(({ waitsForTurn }) => waitsForTurn);

export function phaseOf(
  app: App,
  memory: AppMemory,
  outcomes: readonly Outcome[],
  invalid: Invalid | null,
  nowMs: number,
): PhaseReport {
  return phaseReport({
    isPaused: app.spec.paused,
    isDeleting: app.isDeleting,
    generation: app.generation,
    ranGeneration: memory.ranGeneration,
    invalid,
    nowMs,
    components: outcomes.map(({ state }) => state),
  });
}

const HELD = "It is suspended: nothing is applied or corrected.";
const HELD_BACK = "It is suspended: what is stored is not applied, and nothing is corrected.";

/**
 * What is to be seen of an app that is suspended. An app runs only if what is stored runs, so it reads as `deploying` while that is held
 * back. What is wrong with it keeps its reason.
 */
export function seenSuspended(
  app: App,
  known: AppMemory,
  pass: AppPass | Invalid,
  { nowMs, version }: { readonly nowMs: number; readonly version: string },
) {
  if ("invalid" in pass) {
    return { memory: known, verdict: phaseOf(app, known, [], pass, nowMs), drift: driftOf(known, [], "") };
  }
  const { outcomes } = pass;
  const memory = withObserved(known, app, pass, version);
  const isLeft = obsolete(memory, pass).length + obsoleteReleases(memory, app).length > 0;
  const isHeldBack = isLeft || outcomes.some((outcome) => outcome.isHeldBack);
  // Nothing is on its way to what was applied as it is stored: replicas that it lacks are lost.
  const ranGeneration = !isHeldBack && memory.ranGeneration !== null ? app.generation : memory.ranGeneration;
  const seen = phaseOf(app, { ...memory, ranGeneration }, outcomes, null, nowMs);
  const isTrouble = seen.phase === "failed" || seen.phase === "degraded";
  const phase = isHeldBack ? "deploying" : seen.phase;
  const verdict = { ...seen, phase, reason: "Suspended", message: isHeldBack ? HELD_BACK : HELD } as const;
  const drift = driftOf(memory, outcomes, new Date(nowMs).toISOString(), { isAsStored: !isLeft });
  return { memory, verdict: isTrouble ? seen : verdict, drift };
}

export function driftOf(
  memory: AppMemory,
  outcomes: readonly Outcome[],
  now: string,
  { isAsStored = true } = {},
): DriftReport {
  return driftReport(
    {
      blocked: outcomes.flatMap(({ blocked }) => blocked),
      drifted: outcomes.flatMap(({ drifted }) => drifted),
      healed: outcomes.flatMap(({ healed }) => healed),
      isWhole:
        isAsStored && outcomes.length > 0 && outcomes.every(({ isApplied, isCertain }) => isApplied && isCertain),
    },
    memory.drift,
    now,
  );
}

/** A component that should run has no objects. This is a bug of the rendering and not a mistake in the app. */
export function rendersNothing({ spec }: App, { components }: RenderedApp): boolean {
  const isEmpty = components.some(
    ({ type, objects, waitingFor }) => type === "workload" && objects.length === 0 && waitingFor.length === 0,
  );
  return isEmpty || components.length < spec.components.length;
}

/** The report of an app that names an addon instance which does not exist yet. Its objects stay as they are until then. */
export const awaitingReport = ({ components }: AppMemory, instance: string): PhaseReport => ({
  phase: "deploying",
  reason: "WaitingForAddonInstance",
  message: safeText(`It waits for the addon instance ${instance}.`),
  components: componentsKnown(components),
});

const componentsKnown = (components: AppMemory["components"]): PhaseReport["components"] =>
  components.map(({ name, readyReplicas }) => ({ name, ready_replicas: readyReplicas }));

/** The report of an app whose objects could not be read: the request was refused, or the cluster did not answer. */
export function refusedReport(
  app: App,
  { components, ranGeneration }: AppMemory,
  { message }: Error,
  { reason, isHeld }: { readonly reason: "RefusedByCluster" | "ClusterError"; readonly isHeld: boolean },
): AppReport & Reasoned {
  return {
    phase: app.isDeleting ? "deleting" : ranGeneration === null ? "failed" : "degraded",
    reason,
    message: safeText(message),
    components: componentsKnown(components),
    drift: UNKNOWN_DRIFT,
    ...(isHeld && !app.isDeleting ? { suspended: true } : {}),
  };
}

/** The report of an app whose project was suspended while it was being deleted. */
export const suspendedDeletion = ({ components }: AppMemory): AppReport & Reasoned => ({
  phase: "deleting",
  reason: "Suspended",
  message: "Its project is suspended: it is deleted when that ends.",
  components: componentsKnown(components),
  drift: UNKNOWN_DRIFT,
});

/** The report of an app that is not stored, because an object of its name is somebody else's. */
export const nameTakenReport = (message: string): AppReport & Reasoned => ({
  phase: "failed",
  reason: "NameTaken",
  message: safeText(message),
  components: [],
  drift: UNKNOWN_DRIFT,
});

const SETTLED_MS = 180_000;
const STOPPED_MS = 30_000;

export interface Pending {
  /** Until what somebody has changed is to be put right; null where there is nothing of the kind. */
  readonly healInMs: number | null;
  /** Something that is not desired any more is still going. */
  readonly isPruning: boolean;
  /** For how long the same has been reported. */
  readonly unchangedMs: number;
}

/** The time until the next reconcile. Events, which alone show why some pods are not made, are not watched. */
export function requeueMs({ phase }: PhaseReport, outcomes: readonly Outcome[], pending: Pending): number {
  const isSettled = (phase === "running" || phase === "paused" || phase === "invalid") && !pending.isPruning;
  const usualMs = isSettled ? SETTLED_MS : recheckMs(pending.unchangedMs);
  const requeueAfterMs = outcomes.some(({ isStopped }) => isStopped)
    ? Math.max(STOPPED_MS, recheckMs(pending.unchangedMs))
    : usualMs;
  return Math.max(0, Math.min(pending.healInMs ?? requeueAfterMs, requeueAfterMs));
}

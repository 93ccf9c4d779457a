import type { DesiredComponent } from "@binnacle/contract";
import type { StoredResource } from "../desired/desired-state.ts";
import type { HostClaims } from "../hosts/host-claims.reconciler.ts";
import { HOST_TAKEN, takenSentence } from "../hosts/host-claims.ts";
import { hostsOf } from "../hosts/route-hosts.ts";
import type { ApplySet, Planned, Settled } from "../kube/apply-set.adapter.ts";
import type { KubeClient, KubeObject } from "../kube/kube-client.ts";
import type { PodView } from "../kube/pod-view.ts";
import { type Refusal, refusalFor } from "../kube/refusal.ts";
import { NO_COUNTS, type WorkloadCounts } from "../kube/workload-counts.ts";
import type { AppMemory } from "./app-status.ts";
import { createComponentObservation } from "./component-observation.reconciler.ts";
import {
  type Outcome,
  objectsUntilTurn,
  outcome,
  stoppedState,
  unmetNeeds,
  waitsForOthers,
} from "./component-outcome.ts";
import { type Circumstances, type ComponentPlan, planComponent } from "./component-plan.ts";
import { componentNames } from "./names.ts";
import type { Instance, Releases } from "./releases.ts";
import type { RenderedComponent } from "./render/rendering.ts";
import type { Rollouts } from "./rollouts.ts";
import { type Settlements, settlementOf, standingOf, stillSettled } from "./unchanged-component.ts";

export interface ComponentPorts {
  readonly kube: Pick<KubeClient, "list">;
  readonly applySet: ApplySet;
  readonly releases: Releases;
  readonly pods: Pick<PodView, "in">;
  readonly hosts: Pick<HostClaims, "takenByOthers">;
  readonly nowMs: () => number;
  readonly clusterId: string;
  /** An object as it was last seen by name and version; null where it is not there, or is not watched. */
  readonly seen: (object: KubeObject) => KubeObject | null;
  readonly rollouts: Pick<Rollouts, "mayBegin">;
  /** The version of this operator. */
  readonly version: string;
}

/** The inputs that all components of an app share in one pass. */
export interface AppContext {
  readonly app: StoredResource<"app">;
  readonly memory: AppMemory;
  readonly instances: ReadonlyMap<string, Instance>;
  readonly settled: Settled;
  readonly settlements: Settlements;
  readonly isOurs: (object: KubeObject) => boolean;
  readonly mayHeal: Circumstances["mayHeal"];
  /** Everything is compared and nothing is changed. */
  readonly isSuspended: boolean;
}

/** Applies one component as far as that is possible now, and returns its observed state. */
export function createComponentReconciler(ports: ComponentPorts) {
  const { applySet, releases, hosts, rollouts, clusterId, version } = ports;
  const { podsOf, stateOf, observe } = createComponentObservation(ports);

  async function reconcile(
    component: RenderedComponent,
    context: AppContext,
    earlier: readonly Outcome[],
  ): Promise<Outcome> {
    const { app, memory } = context;
    const desired = app.spec.components.find(({ name }) => name === component.name);
    const known = memory.components.find(({ name }) => name === component.name);
    const isNew = known?.appliedGeneration !== app.generation;
    const readyReplicas = known?.readyReplicas ?? 0;
    if (component.waitingFor.length > 0) {
      const { waitingFor } = component;
      const state = { state: "progressing", message: null, readyReplicas, desiredReplicas: 0, waitingFor } as const;
      return outcome(component, { ...state, pods: podsOf(component, app) });
    }
    const unmet = isNew && !context.isSuspended ? unmetNeeds(component, earlier) : [];
    if (unmet.length > 0) return waitsForOthers(component, unmet, { readyReplicas, pods: podsOf(component, app) });
    const applied = await (context.isSuspended ? observe(component, context) : apply(component, context, isNew));
    const isNext = applied.isApplied || context.isSuspended;
    if (!isNext || component.type === "workload" || !desired) return applied;
    if (!desired.release) return { ...applied, state: { ...applied.state, ...instanceState(desired, context) } };
    const { exports, drifted, healed, blocked, isCertain, counts, ...seen } = await ensured(desired, context, isNew);
    const state = { ...seen, ...replicasIn(counts) };
    const isStopped = isNew && blocked.length > 0 && !context.isSuspended;
    const isAsStored = isCertain && drifted.length === 0;
    return {
      ...applied,
      exports,
      state: { ...applied.state, ...state },
      isApplied: context.isSuspended ? applied.isApplied && isAsStored : !isStopped,
      isHeldBack: applied.isHeldBack || (context.isSuspended && !isCertain),
      isStopped,
      drifted: [...applied.drifted, ...drifted],
      healed: [...applied.healed, ...healed],
      blocked: [...applied.blocked, ...blocked],
      isCertain: applied.isCertain && isCertain,
    };
  }

  async function apply(component: RenderedComponent, context: AppContext, isNew: boolean): Promise<Outcome> {
    const { app, memory, settled, settlements, isOurs, mayHeal } = context;
    const own = podsOf(component, app);
    const finishedJobs = new Set(memory.components.map(({ finishedJob }) => finishedJob));
    const wanted = { objects: component.objects, finishedJobs };
    const options = {
      inventory: memory.inventory,
      finishedJobs,
      isOurs,
      settled,
      takeOver: isNew && app.spec.take_over,
    };
    const lost = lostHosts(component, app);
    // Nothing has drifted where no version has moved, so nothing is read.
    const { inventory } = memory;
    const unchanged =
      isNew || lost ? null : stillSettled(settlements.get(component.name), wanted, { inventory, seen: ports.seen });
    if (unchanged) {
      const state = { ...(await stateOf(unchanged, own)), ...unchanged.runs, pods: own };
      return outcome(component, state, { isApplied: true, isCertain: true });
    }
    settlements.delete(component.name);
    const served = lost ? component.objects.filter((object) => hostsOf(object).length === 0) : component.objects;
    const planned = await Promise.all(served.map((object) => applySet.plan(object, options)));
    const known = memory.components.find(({ name }) => name === component.name);
    // What else changes in the surroundings of an app, such as an export, reaches its pods at once.
    const mayRestart = () => known?.rendering === version || rollouts.mayBegin(app.key);
    const plan = planComponent(planned, { isSyncing: isNew, mayHeal, mayRestart });
    const { objects, refused } = await carryOut(applySet, planned, lost && isNew ? [] : plan.toDo);
    const refusal = lost ?? plan.refusal ?? refused;
    const isStopped = refusal !== null || plan.blocked.length > 0;
    const standing = standingOf(
      objects,
      plan.waitsForTurn ? objectsUntilTurn(wanted, known?.finishedJob ?? "") : wanted,
    );
    const settlement = settlementOf(planned, wanted, standing);
    if (settlement) settlements.set(component.name, settlement);
    const readiness = await stateOf(standing, own);
    const isWhole = plan.waitsFor === null && !isStopped;
    const state = stateAfter({ ...plan, refusal }, isStopped && (isNew || refusal !== null));
    return outcome(
      component,
      { ...readiness, ...standing.runs, pods: own, ...state },
      {
        isApplied: isWhole || !isNew,
        isStopped,
        waitsForTurn: plan.waitsForTurn,
        objects,
        blocked: plan.blocked,
        drifted: plan.drifted,
        healed: plan.healed,
        isCertain: plan.isCertain && isWhole,
      },
    );
  }

  /** A host that a chart of another project serves already. The control plane keeps the hosts of apps apart. */
  function lostHosts({ objects }: RenderedComponent, { spec }: AppContext["app"]): Refusal | null {
    const taken = hosts.takenByOthers(spec.namespace, objects.flatMap(hostsOf), { isGranted: true });
    if (taken.length === 0) return null;
    return { refused: "host_taken", reason: HOST_TAKEN, message: takenSentence("The app", taken) };
  }

  /** The state of a component that runs as a Helm release of its own. */
  async function ensured(
    { name, release }: DesiredComponent,
    { app, mayHeal, isSuspended }: AppContext,
    isNew: boolean,
  ) {
    const { spec, secret } = app;
    if (!release) throw new Error(`The component ${name} is not a release.`);
    const wanted = {
      clusterId,
      projectId: spec.project_id,
      namespace: spec.namespace,
      app: spec.name,
      component: name,
      name: componentNames(spec.name, name).base,
      chart: release.chart,
      exportSchema: release.export_schema,
      hookTimeoutSeconds: release.hook_timeout_seconds,
      values: Object.hasOwn(secret.values, name) ? (secret.values[name] ?? {}) : {},
    };
    if (isSuspended) return releases.hold(wanted);
    return releases.ensure(wanted, { mayHeal, isSyncing: isNew, takeOver: isNew && spec.take_over });
  }

  return { reconcile };
}

function stateAfter(plan: ComponentPlan, isStopped: boolean) {
  if (isStopped) return stoppedState(plan);
  return plan.waitsFor === null ? {} : ({ state: "progressing", reason: null, message: plan.waitsFor } as const);
}

/** One after the other: a workload finds its configuration there when it comes. */
async function carryOut(applySet: ApplySet, planned: readonly Planned[], toDo: readonly Planned[]) {
  const objects: KubeObject[] = [];
  for (const one of planned) {
    try {
      // Objects of others say nothing about the component.
      const object = toDo.includes(one) ? await applySet.carryOut(one) : one.isOwn ? one.live : null;
      if (object) objects.push(object);
    } catch (error) {
      const refused = refusalFor(error, one.desired);
      if (!refused) throw error;
      return { objects, refused };
    }
  }
  return { objects, refused: null };
}

function instanceState({ addon_instance }: DesiredComponent, { instances }: AppContext) {
  const instance = instances.get(addon_instance ?? "");
  const { state = "unknown", reason = null, message = null } = instance ?? {};
  return { state, reason, message, ...replicasIn(instance?.counts ?? NO_COUNTS) } as const;
}

const replicasIn = ({ desired, least, ready, updated, image }: WorkloadCounts) => ({
  desiredReplicas: desired,
  leastReplicas: least,
  readyReplicas: ready,
  updatedReplicas: updated,
  image,
});

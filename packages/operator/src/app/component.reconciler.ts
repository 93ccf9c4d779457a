import { type DesiredComponent, LABELS } from "@binnacle/contract";
import type { StoredResource } from "../desired/desired-state.ts";
import type { HostClaims } from "../hosts/host-claims.reconciler.ts";
import { HOST_TAKEN, takenSentence } from "../hosts/host-claims.ts";
import { hostsOf } from "../hosts/route-hosts.ts";
import type { ApplySet, Planned, Settled } from "../kube/apply-set.adapter.ts";
import type { KubeClient, KubeObject } from "../kube/kube-client.ts";
import { titleOf } from "../kube/object-fields.ts";
import { withRejection } from "../kube/pod-rejection.store.ts";
import { steadied, troubleOf } from "../kube/pod-trouble.ts";
import type { PodView } from "../kube/pod-view.ts";
import { type Refusal, refusalOf } from "../kube/refusal.ts";
import { NO_COUNTS, type WorkloadCounts } from "../kube/workload-counts.ts";
import type { AppMemory } from "./app-status.ts";
import {
  componentReadiness,
  explained,
  type Outcome,
  outcome,
  runsOf,
  stoppedState,
  unmetNeeds,
  type WantedObjects,
  WORKLOADS,
  waitsForOthers,
} from "./component-outcome.ts";
import { type Circumstances, planComponent } from "./component-plan.ts";
import { componentNames } from "./names.ts";
import type { Instance, Releases } from "./releases.ts";
import type { RenderedComponent } from "./render/rendering.ts";

export interface ComponentPorts {
  readonly kube: Pick<KubeClient, "list">;
  readonly applySet: ApplySet;
  readonly releases: Releases;
  readonly pods: Pick<PodView, "in">;
  readonly hosts: Pick<HostClaims, "taken">;
  readonly nowMs: () => number;
  readonly clusterId: string;
}

/** The inputs that all components of an app share in one pass. */
export interface AppContext {
  readonly app: StoredResource<"app">;
  readonly memory: AppMemory;
  readonly instances: ReadonlyMap<string, Instance>;
  readonly settled: Settled;
  readonly isOurs: (object: KubeObject) => boolean;
  readonly mayHeal: Circumstances["mayHeal"];
}

/** Applies one component as far as that is possible now, and returns its observed state. */
export function createComponentReconciler(ports: ComponentPorts) {
  const { kube, applySet, releases, pods, hosts, nowMs, clusterId } = ports;

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
    const unmet = isNew ? unmetNeeds(component, earlier) : [];
    if (unmet.length > 0) return waitsForOthers(component, unmet, { readyReplicas, pods: podsOf(component, app) });
    const applied = await apply(component, context, isNew);
    if (!applied.isApplied || component.type === "workload" || !desired) return applied;
    if (!desired.release) return { ...applied, state: { ...applied.state, ...instanceState(desired, context) } };
    const { exports, drifted, healed, blocked, isCertain, counts, ...seen } = await ensured(desired, context, isNew);
    const state = { ...seen, ...replicasIn(counts) };
    const isStopped = isNew && blocked.length > 0;
    return {
      ...applied,
      exports,
      state: { ...applied.state, ...state },
      isApplied: !isStopped,
      isStopped,
      drifted: [...applied.drifted, ...drifted],
      healed: [...applied.healed, ...healed],
      blocked: [...applied.blocked, ...blocked],
      isCertain: applied.isCertain && isCertain,
    };
  }

  async function apply(component: RenderedComponent, context: AppContext, isNew: boolean): Promise<Outcome> {
    const { app, memory, settled, isOurs, mayHeal } = context;
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
    const served = lost ? component.objects.filter((object) => hostsOf(object).length === 0) : component.objects;
    const planned = await Promise.all(served.map((object) => applySet.plan(object, options)));
    const plan = planComponent(planned, { isSyncing: isNew, mayHeal });
    const { objects, refused } = await carryOut(planned, lost && isNew ? [] : plan.toDo);
    const refusal = lost ?? plan.refusal ?? refused;
    const isStopped = refusal !== null || plan.blocked.length > 0;
    const own = podsOf(component, app);
    const readiness = await seen(objects, wanted, own);
    const isWhole = plan.waitsFor === null && !isStopped;
    const state =
      isStopped && (isNew || refusal)
        ? stoppedState({ ...plan, refusal })
        : plan.waitsFor === null
          ? {}
          : ({ state: "progressing", reason: null, message: plan.waitsFor } as const);
    return outcome(
      component,
      { ...readiness, ...runsOf(objects, wanted), pods: own, ...state },
      {
        isApplied: isWhole || !isNew,
        isStopped,
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
    const taken = hosts.taken(spec.namespace, objects.flatMap(hostsOf), { isGranted: true });
    if (taken.length === 0) return null;
    return { refused: "host_taken", reason: HOST_TAKEN, message: takenSentence("The app", taken) };
  }

  /** One after the other: a workload finds its configuration there when it comes. */
  async function carryOut(planned: readonly Planned[], toDo: readonly Planned[]) {
    const objects: KubeObject[] = [];
    for (const one of planned) {
      try {
        // Objects of others say nothing about the component.
        const object = toDo.includes(one) ? await applySet.carryOut(one) : one.isOwn ? one.live : null;
        if (object) objects.push(object);
      } catch (error) {
        const refused = refusalOf(error, titleOf(one.desired));
        if (!refused) throw error;
        return { objects, refused };
      }
    }
    return { objects, refused: null };
  }

  async function seen(objects: readonly KubeObject[], wanted: WantedObjects, own: readonly KubeObject[]) {
    const found = steadied(componentReadiness(objects, wanted), own, nowMs());
    const main = objects.find(({ kind }) => WORKLOADS.has(kind));
    if (found.state === "ready" || !main) return explained(found, null);
    const readiness = await withRejection(kube, main, found);
    if (readiness.reason !== undefined) return explained(readiness, null);
    return explained(readiness, troubleOf(own, nowMs()));
  }

  const podsOf = ({ name }: RenderedComponent, { spec }: AppContext["app"]): KubeObject[] =>
    pods
      .in(spec.namespace)
      .filter(({ metadata: { labels } }) => labels?.[LABELS.app] === spec.name && labels[LABELS.component] === name);

  /** The state of a component that runs as a Helm release of its own. */
  async function ensured({ name, release }: DesiredComponent, { app, mayHeal }: AppContext, isNew: boolean) {
    const { spec, secret } = app;
    if (!release) throw new Error(`The component ${name} is no release.`);
    const wanted = {
      clusterId,
      projectId: spec.project_id,
      namespace: spec.namespace,
      app: spec.name,
      component: name,
      name: componentNames(spec.name, name).base,
      chart: release.chart,
      exportSchema: release.export_schema,
      values: Object.hasOwn(secret.values, name) ? (secret.values[name] ?? {}) : {},
    };
    return releases.ensure(wanted, { mayHeal, isSyncing: isNew, takeOver: isNew && spec.take_over });
  }

  return { reconcile };
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

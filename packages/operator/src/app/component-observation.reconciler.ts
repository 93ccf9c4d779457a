import { LABELS } from "@binnacle/contract";
import type { ApplySet, Planned } from "../kube/apply-set.adapter.ts";
import { hashIn } from "../kube/drift.ts";
import type { KubeClient, KubeObject } from "../kube/kube-client.ts";
import { createRejections } from "../kube/pod-rejection.store.ts";
import { troubleOf, withoutRestartedPods } from "../kube/pod-trouble.ts";
import type { PodView } from "../kube/pod-view.ts";
import type { AppContext } from "./component.reconciler.ts";
import { explained, type Outcome, outcome } from "./component-outcome.ts";
import { planComponent } from "./component-plan.ts";
import type { RenderedComponent } from "./render/rendering.ts";
import { type Standing, standingOf } from "./unchanged-component.ts";

export interface ObservationPorts {
  readonly kube: Pick<KubeClient, "list">;
  readonly applySet: Pick<ApplySet, "plan">;
  readonly pods: Pick<PodView, "in">;
  readonly nowMs: () => number;
}

/** What is to be seen of a component in the cluster. Nothing is changed by it. */
export function createComponentObservation({ kube, applySet, pods, nowMs }: ObservationPorts) {
  const rejections = createRejections(nowMs);

  const podsOf = ({ name }: RenderedComponent, { spec }: AppContext["app"]): KubeObject[] =>
    pods
      .in(spec.namespace)
      .filter(({ metadata: { labels } }) => labels?.[LABELS.app] === spec.name && labels[LABELS.component] === name);

  async function stateOf({ readiness: byObjects, main }: Standing, own: readonly KubeObject[]) {
    const found = withoutRestartedPods(byObjects, own, nowMs());
    const readiness = main ? await rejections.explain(kube, main, found) : found;
    if (readiness.state === "ready" || !main) return explained(readiness, null);
    if (readiness.reason !== undefined) return explained(readiness, null);
    return explained(readiness, troubleOf(own, nowMs()));
  }

  /** How a suspended component stands, whatever is stored. It counts as applied where all its objects are as desired already. */
  async function observe(component: RenderedComponent, context: AppContext): Promise<Outcome> {
    const { app, memory, settled, isOurs } = context;
    const own = podsOf(component, app);
    const finishedJobs = new Set(memory.components.map(({ finishedJob }) => finishedJob));
    const options = { inventory: memory.inventory, finishedJobs, isOurs, settled, takeOver: false };
    const planned = await Promise.all(component.objects.map((object) => applySet.plan(object, options)));
    const { drifted, blocked, isCertain } = planComponent(planned, { isSyncing: false, mayHeal: () => false });
    const objects = planned.flatMap(({ live, isOwn }) => (live && isOwn ? [live] : []));
    const standing = standingOf(objects, { objects: component.objects, finishedJobs });
    const state = { ...(await stateOf(standing, own)), ...standing.runs, pods: own };
    const isApplied = planned.every(({ step }) => step.action === "keep");
    const isHeldBack = planned.some(isUnapplied);
    return outcome(component, state, { isApplied, isHeldBack, objects, blocked, drifted, isCertain });
  }

  return { podsOf, stateOf, observe };
}

/** It was never applied as it is desired now. One that somebody has deleted was. */
const isUnapplied = ({ desired, live, step }: Planned): boolean =>
  step.action !== "keep" &&
  (live ? hashIn(live) !== hashIn(desired) : step.action !== "apply" || step.drift.length === 0);

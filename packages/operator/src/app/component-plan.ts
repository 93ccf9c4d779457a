import type { DriftField } from "@binnacle/contract";
import type { Planned } from "../kube/apply-set.adapter.ts";
import type { Step } from "../kube/apply-set.ts";
import type { Refusal } from "../kube/refusal.ts";

type Blocked = Extract<Step, { readonly action: "blocked" }>;

/** The steps for the objects of a component, and the drift that was found. */
export interface ComponentPlan {
  readonly toDo: readonly Planned[];
  /** Fields that somebody has changed and that are not healed in this pass. */
  readonly drifted: readonly DriftField[];
  /** Fields that are healed in this pass. */
  readonly healed: readonly DriftField[];
  readonly blocked: readonly Blocked[];
  readonly refusal: Refusal | null;
  /** An object that must be deleted before the next can be made. */
  readonly waitsFor: string | null;
  readonly isCertain: boolean;
  /** Pods would be replaced, and it is not the turn of the app yet. What is there stays as it is. */
  readonly waitsForTurn: boolean;
}

export interface Circumstances {
  /** The objects are to become those of another generation, so what somebody did to them meanwhile does not matter. */
  readonly isSyncing: boolean;
  /** Whether an object with these changed fields may be healed in this pass. */
  readonly mayHeal: (drift: readonly DriftField[]) => boolean;
  /** Whether pods may be replaced that nobody has asked to be; they may where nothing is said. It is asked only where some would be. */
  readonly mayRestart?: () => boolean;
}

/** A new generation is applied as a whole or not at all. */
export function planComponent(
  planned: readonly Planned[],
  { isSyncing, mayHeal, mayRestart = () => true }: Circumstances,
): ComponentPlan {
  const steps = planned.map(({ step }) => step);
  const blocked = steps.filter((step) => step.action === "blocked");
  const refusal = steps.find((step) => step.action === "refused")?.refusal ?? null;
  const waiting = steps.map(waitOf).find((message) => message !== null);
  const waitsForTurn = !isSyncing && planned.some(isUnasked) && !mayRestart();
  const drifts = isSyncing ? [] : steps.flatMap((step) => (step.action === "apply" ? [step.drift] : []));
  const isStopped = isSyncing && (blocked.length > 0 || refusal !== null);
  return {
    toDo: isStopped
      ? []
      : planned.filter(
          ({ step }) => isDone(step, (drift) => isSyncing || mayHeal(drift)) && (!waitsForTurn || isDrifted(step)),
        ),
    drifted: drifts.filter((drift) => !mayHeal(drift)).flat(),
    healed: drifts.filter(mayHeal).flat(),
    blocked,
    refusal,
    waitsFor: waitsForTurn ? null : (waiting ?? null),
    isCertain: steps.every((step) => step.action !== "keep" || step.isCertain),
    waitsForTurn,
  };
}

const isDrifted = (step: Step): boolean => step.action === "apply" && step.drift.length > 0;

/** Another rendering replaces pods. What somebody has changed is healed whatever it takes, and the rendering comes with it. */
const isUnasked = ({ step, isRestart = false }: Planned): boolean => isRestart && !isDrifted(step);

function waitOf(step: Step): string | null {
  if (step.action === "wait") return step.message;
  if (step.action === "regrow") return "Its volumes grow, and the StatefulSet is made again around its replicas.";
  return step.action === "recreate" ? "The Job is made again." : null;
}

function isDone(step: Step, mayHeal: Circumstances["mayHeal"]): boolean {
  return (
    step.action === "recreate" ||
    step.action === "regrow" ||
    (step.action === "apply" && (step.drift.length === 0 || mayHeal(step.drift)))
  );
}

import { canonicalJson } from "@binnacle/contract";
import { type InventoryItem, itemsIn } from "../kube/inventory.ts";
import type { KubeObject } from "../kube/kube-client.ts";
import { countIn, listIn, statusOf, textIn } from "../kube/object-fields.ts";
import { driftStatus, type EarlierDrift, earlierDriftIn } from "../reconcile/drift-report.ts";
import { type LastPhase, lastPhaseIn } from "../reconcile/last-phase.ts";
import type { PhaseReport } from "./phase.ts";

export interface ComponentStatus {
  readonly name: string;
  readonly readyReplicas: number;
  /** The generation whose objects were applied last; 0 before the first. */
  readonly appliedGeneration: number;
  /** The Job that has done the component's work; empty where none has. */
  readonly finishedJob: string;
}

/** The chart that a release was made of last: whoever takes the release away asks whose rights it had. */
export interface ReleaseChart {
  readonly release: string;
  readonly repo: string;
  readonly name: string;
}

/** The operator's record of an app. It is in the app's own status, which charts cannot write. */
export interface AppMemory {
  readonly inventory: readonly InventoryItem[];
  /** Names of Helm releases that were made for it. */
  readonly releases: readonly string[];
  readonly charts: readonly ReleaseChart[];
  readonly components: readonly ComponentStatus[];
  /** Names of the addon instances that it uses and that were there. One that is missing now was deleted. */
  readonly instances: readonly string[];
  /** The last generation that was seen to run whole. */
  readonly ranGeneration: number | null;
  readonly drift: EarlierDrift;
  /** The phase that was last reported, and since when. */
  readonly lastPhase: LastPhase | null;
}

export function memoryIn(holder: KubeObject): AppMemory {
  const status = statusOf(holder);
  const { releases, instances, ranGeneration, drift } = status;
  return {
    inventory: itemsIn(status["inventory"]),
    releases: namesIn(releases),
    instances: namesIn(instances),
    charts: listIn(status["charts"]).map(({ release, repo, name }) => ({
      release: textIn(release),
      repo: textIn(repo),
      name: textIn(name),
    })),
    components: listIn(status["components"]).map((component) => ({
      name: textIn(component["name"]),
      readyReplicas: countIn(component["readyReplicas"]),
      appliedGeneration: countIn(component["appliedGeneration"]),
      finishedJob: textIn(component["finishedJob"]),
    })),
    ranGeneration: typeof ranGeneration === "number" ? ranGeneration : null,
    drift: earlierDriftIn(drift),
    lastPhase: lastPhaseIn(holder),
  };
}

const namesIn = (names: unknown): string[] =>
  Array.isArray(names) ? names.map(textIn).filter((name) => name !== "") : [];

export const chartOf = ({ charts }: AppMemory, release: string): ReleaseChart | null =>
  charts.find((chart) => chart.release === release) ?? null;

type Said = Pick<PhaseReport, "phase" | "reason" | "message"> & { readonly phase_since: string };

/** The status as it is written, for people as well: `kubectl get` shows the phase. */
export function statusFields(memory: AppMemory, generation: number, said: Said) {
  const { drift, lastPhase: _, ...rest } = memory;
  const { phase, phase_since: phaseSince, reason, message } = said;
  return {
    generation,
    phase,
    phaseSince,
    reason,
    message,
    ...rest,
    drift: driftStatus(drift),
  };
}

/** Null and absent are the same in a status. */
export function isSameStatus(before: unknown, after: unknown): boolean {
  return canonicalJson(withoutNulls(before)) === canonicalJson(withoutNulls(after));
}

function withoutNulls(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value ?? {}, (_, inner: unknown) => (inner === null ? undefined : inner)));
}

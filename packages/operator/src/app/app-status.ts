import { type InventoryItem, itemsIn } from "../kube/inventory.ts";
import type { KubeObject } from "../kube/kube-client.ts";
import { countIn, listIn, statusOf, textIn } from "../kube/object-fields.ts";
import { driftStatus, type EarlierDrift, earlierDriftIn } from "../reconcile/drift-report.ts";
import { type LastPhase, lastPhaseIn } from "../reconcile/last-phase.ts";

export interface ComponentStatus {
  readonly name: string;
  readonly readyReplicas: number;
  /** The generation whose objects were applied last; 0 before the first. */
  readonly appliedGeneration: number;
  /** The Job that has done the component's work; empty where none has. */
  readonly finishedJob: string;
  /** The version of the operator that rendered what runs; empty where it is older than this record. */
  readonly rendering: string;
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
      rendering: textIn(component["rendering"]),
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

/** The operator's memory of the app as the status keeps it. */
export function statusFields(memory: AppMemory, generation: number) {
  const { drift, lastPhase: _, ...rest } = memory;
  return { generation, ...rest, drift: driftStatus(drift) };
}

/** An app as the API returns it. */
export interface ReportedApp {
  readonly clusterId: string;
  /** Namespace and name. */
  readonly key: string;
  readonly generation: number;
  readonly observedGeneration: number | null;
  readonly phase: string;
  readonly image: string | null;
}

/** An app as a cluster holds it. */
export interface HeldApp {
  readonly clusterId: string;
  readonly key: string;
  readonly generation: number;
  /** Of the workload that was made of it, once all its pods are ready. */
  readonly readyImage: string | null;
}

/** A change that was answered with a success. */
export interface AcceptedChange {
  readonly clusterId: string;
  readonly key: string;
  readonly generation: number;
  readonly image: string;
}

/** Everything that is not as it was accepted, in sentences; empty when nothing was lost. */
export function differences(
  accepted: readonly AcceptedChange[],
  reported: readonly ReportedApp[],
  held: readonly HeldApp[],
): string[] {
  const reportedByPlace = new Map(reported.map((app) => [placeOf(app), app]));
  const heldByPlace = new Map(held.map((app) => [placeOf(app), app]));
  return [
    ...accepted.flatMap((change) => sentence(change, lostIn(change, reportedByPlace.get(placeOf(change))))),
    ...reported.flatMap((app) => sentence(app, unlikeIn(app, heldByPlace.get(placeOf(app))))),
    ...held.filter((app) => !reportedByPlace.has(placeOf(app))).flatMap((app) => sentence(app, "is not in the API")),
  ];
}

/** Whether the cluster has reported the app's newest generation as running. */
export const isRunning = ({ phase, generation, observedGeneration }: ReportedApp): boolean =>
  phase === "running" && observedGeneration === generation;

const placeOf = ({ clusterId, key }: { readonly clusterId: string; readonly key: string }) => `${clusterId}/${key}`;

function sentence(app: { readonly clusterId: string; readonly key: string }, problem: string | null): string[] {
  return problem === null ? [] : [`${app.key} on ${app.clusterId} ${problem}.`];
}

function lostIn(change: AcceptedChange, app: ReportedApp | undefined): string | null {
  if (!app) return "was accepted and is not in the API";
  if (app.generation < change.generation) {
    return `was accepted as generation ${change.generation} and is ${app.generation} in the API`;
  }
  return app.image === change.image ? null : `was accepted with ${change.image} and has ${app.image} in the API`;
}

function unlikeIn(app: ReportedApp, held: HeldApp | undefined): string | null {
  if (!isRunning(app)) return `is ${app.phase}, seen at generation ${app.observedGeneration} of ${app.generation}`;
  if (!held) return "is not on its cluster";
  if (held.generation !== app.generation)
    return `is generation ${held.generation} on its cluster and ${app.generation} in the API`;
  return held.readyImage === app.image
    ? null
    : `has ${app.image} in the API, and ${held.readyImage} is ready on its cluster`;
}

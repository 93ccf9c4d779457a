import { setTimeout as pause } from "node:timers/promises";
import type { App } from "../../packages/contract/src/index.ts";
import { waitMs } from "./figures.ts";
import type { FleetApi } from "./fleet-api.adapter.ts";

/** An app with the change that was accepted last, and when the answer came. */
export interface Committed {
  readonly app: App;
  readonly image: string;
  readonly atMs: number;
}

type Changes = readonly (() => Promise<Committed>)[];

/** One round of changes at a steady pace, whether or not the answers keep up. */
export async function makeAll(
  changes: Changes,
  perSecond: number,
  onMade: (count: number) => void = () => undefined,
): Promise<Committed[]> {
  const startedAt = performance.now();
  const made: Promise<Committed>[] = [];
  let hasFailed = false;
  for (const [number, change] of changes.entries()) {
    const dueMs = waitMs(number, perSecond, performance.now() - startedAt);
    if (dueMs > 1) await pause(dueMs);
    if (hasFailed) break;
    const one = change();
    // The caller that waits for all of them gets the error.
    one.catch(() => {
      hasFailed = true;
    });
    made.push(one);
    onMade(made.length);
  }
  return Promise.all(made);
}

const committed = (app: App, image: string): Committed => ({ app, image, atMs: performance.now() });

/** A project and its apps on each cluster. The first app waits for its project, as a person would. */
export function creations(fleet: FleetApi, clusterIds: readonly string[], apps: number, image: string): Changes {
  return clusterIds.flatMap((clusterId) => {
    let project: ReturnType<FleetApi["createProject"]> | null = null;
    return Array.from({ length: apps }, (_, number) => async () => {
      project ??= fleet.createProject(clusterId);
      return committed(await fleet.createApp(await project, `app-${number}`, image), image);
    });
  });
}

export const updates = (fleet: FleetApi, made: readonly Committed[], image: string): Changes =>
  made.map(
    ({ app }) =>
      async () =>
        committed(await fleet.changeImage(app, image), image),
  );

import type { FleetOptions } from "./arguments.ts";
import { type Committed, creations, makeAll, updates } from "./changes.adapter.ts";
import { differences, isRunning } from "./comparison.ts";
import type { ControlPlane } from "./control-plane.adapter.ts";
import type { Crew } from "./crew.adapter.ts";
import { commonWarnings, type Figure, megabytes, seconds, share } from "./figures.ts";
import type { FleetApi } from "./fleet-api.adapter.ts";
import type { FleetCluster } from "./messages.ts";
import type { ReadyTimes } from "./ready-times.adapter.ts";
import { until } from "./waiting.adapter.ts";

const FIRST_IMAGE = "registry.example.com/web:1";
const SECOND_IMAGE = "registry.example.com/web:2";
/** For each step, with more for each cluster. */
const PATIENCE_MS = 120_000;
const PATIENCE_PER_CLUSTER_MS = 600;

export interface RehearsalPorts {
  readonly controlPlane: ControlPlane;
  readonly crew: Crew;
  readonly fleet: FleetApi;
  readonly readyTimes: ReadyTimes;
  readonly print: (line: string) => void;
}

export interface Outcome {
  readonly figures: readonly Figure[];
  /** In sentences; empty when nothing was lost. */
  readonly differences: readonly string[];
}

/** Registers a fleet, connects it, deploys to all of it, kills the control plane in between, and checks for losses. */
export async function rehearse(options: FleetOptions, ports: RehearsalPorts): Promise<Outcome> {
  const { controlPlane, crew, fleet, readyTimes, print } = ports;
  const { clusters: count, pace } = options;
  const patience = { withinMs: PATIENCE_MS + count * options.apps * PATIENCE_PER_CLUSTER_MS, print };
  const figures: Figure[] = [["clusters, with as many operators", String(count)]];

  print(`registering ${count} clusters`);
  const clusters = await fleet.register(count);
  await connectAll(clusters);

  const made = await round("a project and apps on each", creations(fleet, idsOf(clusters), options.apps, FIRST_IMAGE));
  await measureMemory("with apps");
  const killed = controlPlane.kill === null ? null : killInTheMiddle(Math.ceil(made.length / 2));
  const changed = await round("a change of each app", updates(fleet, made, SECOND_IMAGE), killed?.onMade);
  if (killed) {
    const { atMs, date, servedAfterMs } = await killed.done();
    figures.push(["control plane killed, serving again after", seconds(servedAfterMs)]);
    await until(() => missingConnections(date), patience);
    figures.push(["all operators back, after the kill", seconds(performance.now() - atMs)]);
  }
  const accepted = changed.map(({ app, image }) => ({ ...placeOf(app), generation: app.generation, image }));
  const found = differences(accepted, await fleet.apps(), await crew.held());
  figures.push(["accepted changes that were lost or differ", String(found.length)]);
  await measureMemory("at the end");
  figures.push(...commonWarnings((await crew.states()).map(({ warnings }) => warnings)));
  return { figures, differences: found };

  async function connectAll(registered: readonly FleetCluster[]): Promise<void> {
    const idle = await residentOfCrew();
    crew.launch(hubUrlOf(controlPlane.url), registered);
    const tookMs = await until(() => missingConnections(new Date(0)), patience);
    figures.push(["all connected after", seconds(tookMs)]);
    figures.push(["connects a second", (count / (tookMs / 1_000)).toFixed(1)]);
    const grown = (await residentOfCrew()) - idle;
    figures.push(["memory of an idle cluster, beyond empty processes", megabytes(grown / count)]);
  }

  /** Makes all changes and waits until the clusters have reported all of them as running. */
  async function round(what: string, changes: Parameters<typeof makeAll>[0], onMade?: (made: number) => void) {
    print(`${what}: ${changes.length} changes, ${pace} a second`);
    const startedAt = performance.now();
    const committed = await makeAll(changes, pace, onMade);
    const committedMs = performance.now() - startedAt;
    await until(() => missingApps(committed), patience);
    const tookMs = performance.now() - startedAt;
    const latencies = await readyTimes.since(
      committed.map(({ app: { id, generation }, atMs }) => ({ id, generation, atMs })),
    );
    figures.push([`${what}: accepted after`, seconds(committedMs)]);
    figures.push([`${what}: all running after`, seconds(tookMs)]);
    figures.push([`${what}: commit → ready, p50 / p99`, `${share(latencies, 0.5)} / ${share(latencies, 0.99)}`]);
    figures.push([`${what}: seen by the stream of events`, `${latencies.length} of ${committed.length}`]);
    return committed;
  }

  function killInTheMiddle(middle: number) {
    let under: Promise<{ atMs: number; date: Date; servedAfterMs: number }> | null = null;
    const killNow = async () => {
      const [atMs, date] = [performance.now(), new Date()];
      print("killing the control plane");
      await controlPlane.kill?.();
      await controlPlane.restart();
      return { atMs, date, servedAfterMs: performance.now() - atMs };
    };
    return {
      onMade(number: number) {
        if (number !== middle) return;
        under = killNow();
        under.catch(() => undefined);
      },
      done: () => under ?? Promise.reject(new Error("There was no change to kill the control plane at.")),
    };
  }

  async function missingConnections(since: Date): Promise<string | null> {
    const [seen, states] = [await fleet.clusters(), await crew.states()];
    const [failure] = states.flatMap(({ failures }) => failures);
    if (failure) throw new Error(`An operator did not start: ${failure}`);
    const connected = seen.filter(
      ({ status, last_heartbeat }) =>
        status === "connected" && last_heartbeat !== null && new Date(last_heartbeat) >= since,
    );
    return connected.length === count ? null : `${connected.length} of ${count} clusters are connected`;
  }

  async function missingApps(committed: readonly Committed[]): Promise<string | null> {
    const wanted = new Map(
      committed.map(({ app }) => [`${app.cluster_id}/${app.namespace}/${app.name}`, app.generation]),
    );
    const running = (await fleet.apps()).filter((app) => {
      const generation = wanted.get(`${app.clusterId}/${app.key}`);
      return generation !== undefined && app.generation >= generation && isRunning(app);
    });
    return running.length === wanted.size ? null : `${running.length} of ${wanted.size} apps run`;
  }

  async function residentOfCrew(): Promise<number> {
    return (await crew.states()).reduce((sum, { residentBytes }) => sum + residentBytes, 0);
  }

  async function measureMemory(when: string): Promise<void> {
    const states = await crew.states();
    const ofClusters = states.reduce((sum, { residentBytes }) => sum + residentBytes, 0);
    figures.push([`memory of all clusters ${when}`, `${megabytes(ofClusters)}, ${megabytes(ofClusters / count)} each`]);
    const memory = await controlPlane.memory();
    if (memory !== null) {
      const { serverBytes, databaseBytes } = memory;
      figures.push([`memory of the control plane ${when}`, megabytes(serverBytes)]);
      figures.push([`memory of its database ${when}`, megabytes(databaseBytes)]);
      figures.push([`memory of all of it ${when}`, megabytes(ofClusters + serverBytes + databaseBytes)]);
    }
    const cpuSeconds = states.reduce((sum, state) => sum + state.cpuSeconds, 0);
    figures.push([`processor time of all clusters ${when}`, seconds(cpuSeconds * 1_000)]);
  }
}

const idsOf = (clusters: readonly FleetCluster[]) => clusters.map(({ id }) => id);

const placeOf = (app: Committed["app"]) => ({ clusterId: app.cluster_id, key: `${app.namespace}/${app.name}` });

const hubUrlOf = (url: string) => `${url.replace(/^http/, "ws")}/hub/v1`;

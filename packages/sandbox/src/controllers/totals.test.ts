import fc from "fast-check";
import { expect, test } from "vitest";
import { deployment, job, statefulSet, template } from "./objects.fixture.ts";
import { controllerOf, isActive, isReady, type Pod } from "./pod.ts";
import { World } from "./world.fixture.ts";

type Act = (world: World) => void;

const patch =
  (resource: string, name: string, spec: object): Act =>
  ({ store }) => {
    store.patch(resource, name, "default", { spec });
  };
const labels = { app: "db" };
const dbTemplate = (image: string) => ({ ...template({ image }), metadata: { labels } });

const act: fc.Arbitrary<Act> = fc.oneof(
  fc.integer({ min: 0, max: 4 }).map((replicas) => patch("deployments.apps", "web", { replicas })),
  fc.integer({ min: 0, max: 3 }).map((replicas) => patch("statefulsets.apps", "db", { replicas })),
  fc
    .integer({ min: 1, max: 3 })
    .map((version) => patch("deployments.apps", "web", { template: template({ image: `web:${version}` }) })),
  fc
    .integer({ min: 1, max: 3 })
    .map((version) => patch("statefulsets.apps", "db", { template: dbTemplate(`db:${version}`) })),
  fc.nat().map(
    (number): Act =>
      (world) => {
        const owned = world.pods().filter((pod) => controllerOf(pod)?.kind !== "Job");
        const chosen = owned[number % Math.max(owned.length, 1)];
        if (chosen) world.store.delete("pods", chosen.metadata.name, "default", { gracePeriodSeconds: number % 2 });
      },
  ),
  fc.constant<Act>((world) => world.restart()),
);

test("[SC17] after any events the cluster has what is wanted, and the counts are those of the existing objects", async () => {
  const story = fc.array(fc.tuple(act, fc.integer({ min: 0, max: 3 })), { maxLength: 12 });
  await fc.assert(
    fc.asyncProperty(story, async (acts) => {
      const world = new World({ normalEvents: false });
      world.create("deployments.apps", deployment("web", { replicas: 2 }));
      world.create(
        "statefulsets.apps",
        statefulSet("db", { replicas: 2, selector: { matchLabels: labels }, template: dbTemplate("db:1") }),
      );
      world.create("jobs.batch", job("once", { completions: 3, parallelism: 2 }));
      for (const [happen, seconds] of acts) {
        happen(world);
        await world.pass(seconds);
      }
      await world.pass(120);
      const own = (kind: string) =>
        world.pods().filter((pod: Pod) => controllerOf(pod)?.kind === kind && isActive(pod));
      for (const [resource, name, kind] of [
        ["deployments.apps", "web", "ReplicaSet"],
        ["statefulsets.apps", "db", "StatefulSet"],
      ] as const) {
        const { spec, status } = world.get(resource, name) as unknown as Record<string, Record<string, number>>;
        const pods = own(kind);
        expect(pods.length).toBe(spec?.["replicas"]);
        expect(status?.["replicas"] ?? 0).toBe(pods.length);
        expect(status?.["updatedReplicas"] ?? 0).toBe(pods.length);
        expect(status?.["readyReplicas"] ?? 0).toBe(pods.filter(isReady).length);
        expect(status?.["availableReplicas"] ?? 0).toBe(pods.length);
      }
      expect(world.get("jobs.batch", "once")["status"]).toMatchObject({ succeeded: 3 });
      expect(world.pods().every(({ metadata }) => metadata.deletionTimestamp === undefined)).toBe(true);
      expect(world.time.alarms).toBe(0);
      expect(world.errors).toEqual([]);
      world.stop();
    }),
    { numRuns: 25 },
  );
}, 60_000);

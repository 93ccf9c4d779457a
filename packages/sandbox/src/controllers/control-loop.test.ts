import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { barePod, cronJob, deployment, job, statefulSet, template } from "./objects.fixture.ts";
import { TimerQueue } from "./timer-queue.ts";
import { START_MS, VirtualTime } from "./virtual-time.fixture.ts";
import { World } from "./world.fixture.ts";

describe("the loop of a cluster", () => {
  let world: World;
  beforeEach(() => {
    world = new World();
  });
  afterEach(() => world.stop());

  function fill(): void {
    world.create("deployments.apps", deployment("web", { replicas: 3 }));
    world.create("statefulsets.apps", statefulSet("db", { replicas: 2, selector: { matchLabels: { app: "web" } } }));
    world.create("jobs.batch", job("once"));
    world.create("pods", barePod("broken", { annotations: { "sandbox.binnacle.dev/fate": "image" } }));
  }

  test("[SC1] the control loop does nothing and sets no timer when there is nothing to do", async () => {
    fill();
    await world.pass(60);
    const changes = world.changes();
    expect(world.time.alarms).toBeLessThanOrEqual(1);
    await world.pass(3_600);
    expect(world.time.alarms).toBe(0);
    expect(changes).toEqual([]);
    expect(world.errors).toEqual([]);
  });

  test("[SC2] the control loop has one timer, however many objects wait for their time", async () => {
    for (let index = 0; index < 20; index++) {
      const annotations = { "sandbox.binnacle.dev/ready-after": `${60 + index}s` };
      world.create("pods", barePod(`slow-${index}`, { annotations }));
      world.create("cronjobs.batch", cronJob(`tick-${index}`, { schedule: `${index} 3 * * *` }));
    }
    await world.pass(5);
    expect(world.time.alarms).toBe(1);
    await world.pass(120);
    expect(world.pods().every(({ status }) => status?.phase === "Running")).toBe(true);
  });

  test("[SC3] the control loop goes on after a restart as if there had been none", async () => {
    const ends: unknown[] = [];
    for (const restartsAt of [[], [0], [1, 2], [1, 3, 5, 8]]) {
      world.stop();
      world = new World();
      fill();
      for (let second = 0; second < 12; second++) {
        if (second === 3) {
          world.store.patch("deployments.apps", "web", "default", { spec: { template: template({ image: "web:2" }) } });
        }
        await world.pass(restartsAt.includes(second) ? 0 : 1);
        if (restartsAt.includes(second)) world.restart();
      }
      await world.pass(60);
      expect(world.errors).toEqual([]);
      ends.push({
        images: world
          .pods()
          .map(({ spec }) => spec.containers[0]?.image)
          .sort(),
        phases: world
          .pods()
          .map(({ status }) => status?.phase)
          .sort(),
        web: (world.get("deployments.apps", "web")["status"] as { availableReplicas: number }).availableReplicas,
        jobs: (world.get("jobs.batch", "once")["status"] as { succeeded: number }).succeeded,
      });
    }
    for (const end of ends) expect(end).toEqual(ends[0]);
  });

  test("[SC4] the control loop retries a refused write after pauses that grow", async () => {
    const { create } = world.store;
    let isRefusing = true;
    const refusals: number[] = [];
    Object.assign(world.store, {
      create: (...given: Parameters<typeof create>) => {
        if (isRefusing && given[0] === "pods") {
          refusals.push((world.time.nowMs() - START_MS) / 1_000);
          throw new Error("no room");
        }
        return create(...given);
      },
    });
    world.create("deployments.apps", deployment("web"));
    await world.pass(8);
    expect([...new Set(refusals)]).toEqual([0, 2, 6]);
    expect(world.errors[0]).toContain("no room");
    isRefusing = false;
    await world.pass(30);
    expect(world.get("deployments.apps", "web")["status"]).toMatchObject({ availableReplicas: 1 });
  });

  test("[SC5] repeated events are counted, their number is limited, and old ones are dropped for new ones", async () => {
    world.stop();
    world = new World({ mostEvents: 10 });
    world.create("pods", barePod("broken", { annotations: { "sandbox.binnacle.dev/fate": "crash" } }));
    await world.pass(120);
    const backOff = world.list("events").find(({ reason }) => reason === "BackOff");
    expect(backOff).toMatchObject({
      type: "Warning",
      involvedObject: { kind: "Pod", name: "broken", namespace: "default" },
      source: { component: "kubelet" },
    });
    expect(backOff?.["count"]).toBeGreaterThan(1);
    world.create("deployments.apps", deployment("web", { replicas: 10 }));
    await world.pass(10);
    expect(world.list("events")).toHaveLength(10);
    world.store.delete("deployments.apps", "web", "default");
    world.store.delete("pods", "broken", "default");
    await world.pass(7_200);
    world.create("pods", barePod("new"));
    await world.pass(5);
    const names = world.list("events").map(({ involvedObject }) => (involvedObject as { name: string }).name);
    expect(new Set(names)).toEqual(new Set(["new"]));
  });
});

test("[SC5] events that others write are limited like those of the sandbox, and go after an hour", async () => {
  const world = new World({ mostEvents: 10 });
  const write = (name: string) =>
    world.store.create("events", {
      metadata: { name, namespace: "default" },
      involvedObject: { kind: "App", name: "web", namespace: "default" },
      reason: "RolloutComplete",
    });
  await world.settle();
  for (let index = 0; index < 30; index += 1) write(`web.${index}`);
  await world.settle();
  const names = () => world.list("events").map(({ metadata }) => metadata.name);
  expect(names()).toHaveLength(10);
  expect(names()).toContain("web.29");
  expect(names()).not.toContain("web.19");
  await world.pass(3_600);
  write("web.new");
  await world.settle();
  expect(names()).toEqual(["web.new"]);
  world.stop();
});

describe("the timer queue", () => {
  test("[SC2] the timer queue rings each key once at the time that was set last, in order", () => {
    const settings = fc.array(fc.tuple(fc.integer({ min: 0, max: 9 }), fc.option(fc.integer({ min: 1, max: 100 }))));
    fc.assert(
      fc.property(settings, (given) => {
        const time = new VirtualTime(0);
        const rung: [string, number][] = [];
        const queue = new TimerQueue(time, (key) => rung.push([key, time.nowMs()]));
        const wanted = new Map<string, number>();
        for (const [key, atMs] of given) {
          queue.set(String(key), atMs);
          if (atMs === null) wanted.delete(String(key));
          else wanted.set(String(key), atMs);
          expect(time.alarms).toBeLessThanOrEqual(1);
        }
        while (time.ringUntil(200));
        expect(rung.map(([, atMs]) => atMs)).toEqual(rung.map(([, atMs]) => atMs).toSorted((a, b) => a - b));
        expect(new Map(rung)).toEqual(wanted);
        expect(rung).toHaveLength(wanted.size);
        expect(queue.size).toBe(0);
      }),
    );
  });
});

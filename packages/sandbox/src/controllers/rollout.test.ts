import fc from "fast-check";
import { expect, test } from "vitest";
import type { Deployment } from "./deployment.ts";
import { amountOf, rolloutLimits } from "./deployment-rollout.ts";
import { deployment, template } from "./objects.fixture.ts";
import { isActive, isReady } from "./pod.ts";
import { World } from "./world.fixture.ts";

const amount = fc.oneof(
  fc.integer({ min: 0, max: 4 }),
  fc.integer({ min: 0, max: 100 }).map((percent) => `${percent}%`),
);

test("[SC11] a rollout never has too few available pods or too many pods, and ends with what is wanted", async () => {
  const plan = fc.record({
    replicas: fc.integer({ min: 1, max: 7 }),
    maxSurge: amount,
    maxUnavailable: amount,
    delays: fc.array(fc.integer({ min: 0, max: 6 }), { minLength: 1, maxLength: 3 }),
    pauses: fc.array(fc.integer({ min: 0, max: 4 }), { minLength: 3, maxLength: 3 }),
  });
  await fc.assert(
    fc.asyncProperty(plan, async ({ replicas, maxSurge, maxUnavailable, delays, pauses }) => {
      const isStuck = amountOf(maxSurge, 100, Math.ceil) === 0 && amountOf(maxUnavailable, 100, Math.ceil) === 0;
      fc.pre(!isStuck);
      const world = new World({ normalEvents: false });
      const strategy = { type: "RollingUpdate", rollingUpdate: { maxSurge, maxUnavailable } };
      world.create("deployments.apps", deployment("web", { replicas, strategy }));
      await world.pass(10);
      const wanted = world.get<Deployment>("deployments.apps", "web");
      const { surge, unavailable } = rolloutLimits(wanted);
      const within = () => {
        const active = world.pods().filter(isActive);
        expect(active.filter(isReady).length).toBeGreaterThanOrEqual(replicas - unavailable);
        expect(active.length).toBeLessThanOrEqual(replicas + surge);
      };
      for (const [index, seconds] of delays.entries()) {
        const annotations = { "sandbox.binnacle.dev/ready-after": `${seconds}s` };
        const next = template({ image: `web:${index + 2}`, annotations });
        world.store.patch("deployments.apps", "web", "default", { spec: { template: next } });
        await world.pass(pauses[index] ?? 0, within);
      }
      await world.pass(replicas * 20, within);
      const images = world.pods().map(({ spec }) => spec.containers[0]?.image);
      expect(images).toEqual(Array.from({ length: replicas }, () => `web:${delays.length + 1}`));
      expect(world.get("deployments.apps", "web")["status"]).toMatchObject({
        replicas,
        updatedReplicas: replicas,
        readyReplicas: replicas,
        availableReplicas: replicas,
      });
      expect(world.errors).toEqual([]);
      world.stop();
    }),
    { numRuns: 25 },
  );
}, 60_000);

test.each([
  [10, "25%", "25%", 3, 2],
  [4, "25%", "25%", 1, 1],
  [1, "25%", "25%", 1, 0],
  [3, 0, 1, 0, 1],
  [2, 0, "10%", 0, 1],
])(
  "[SC11] a rollout of %i pods with a surge of %s and %s unavailable goes %i over and %i under",
  (replicas, maxSurge, maxUnavailable, over, under) => {
    const draft = deployment("web", { replicas, strategy: { rollingUpdate: { maxSurge, maxUnavailable } } });
    expect(rolloutLimits(draft as unknown as Deployment)).toEqual({ surge: over, unavailable: under });
  },
);
